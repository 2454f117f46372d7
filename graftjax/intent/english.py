"""Closed-class words and a little morphology of English, for the lexical extractor. General language only."""

from __future__ import annotations

import re


def words(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


DETERMINERS = words(
    "a an the all any some each every both no this that these those its their his her our your my such "
    "other another either neither many much several few most more less least fewer fewest enough none"
)
PREPOSITIONS = words(
    "of in on at by for from to with without within into onto over under above below after before since "
    "until during between among across through via per about around against near inside outside along "
    "toward towards beyond than as except excluding including despite throughout upon behind"
)
PRONOUNS = words(
    "i me we us you he him she it they them who whom whose which what when where why how there here "
    "someone anyone everyone nobody something anything everything nothing one ones themselves itself "
    "each"
)
AUXILIARIES = words(
    "is are was were be been being am do does did done has have had having can could may might must "
    "shall should will would not n't cannot don't doesn't didn't isn't aren't wasn't weren't hasn't "
    "haven't hadn't let"
)
CONJUNCTIONS = words(
    "and or but nor if then while because so either both only also too just yet still ever never"
)
ADVERBS = words(
    "respectively together exactly currently recently approximately overall altogether alphabetically "
    "lexicographically ever always often again please kindly instead else out up down off away apart "
    "alike very least most"
)
SUPERLATIVES = words(
    "largest smallest biggest highest lowest greatest longest shortest best worst maximum minimum max "
    "min average avg mean total overall sum top bottom first last latest earliest newest oldest "
    "youngest tallest heaviest lightest cheapest fastest slowest richest poorest distinct different "
    "unique various corresponding same following combined larger smaller bigger higher lower greater "
    "longer shorter better worse equal ascending descending increasing decreasing reverse alphabetical "
    "chronological lexicographic lexicographical specific given certain entire whole common popular "
    "single available"
)
COUNTS = words(
    "number count amount quantity total sum percentage share proportion average mean maximum minimum"
)
"""Heads that measure what follows their `of` and name nothing of their own."""
VAGUE = words(
    "list table information info data record records order way kind kinds sort case cases database result"
)
REQUESTS = words(
    "list show find give return display get tell select count report provide name identify compute "
    "calculate determine retrieve print describe present enumerate state search fetch output want need "
    "know like sort order compare analyze summarize explain check plot"
)
VERBS = words(
    "use uses live lives work works play plays speak speaks own owns belong belongs contain contains "
    "include includes make makes take takes get gets go goes come comes buy buys sell sells teach "
    "teaches study studies serve serves produce produces offer offers attend attends win wins lose "
    "loses run runs hold holds write writes give gives receive receives start starts end ends begin "
    "begins depart departs arrive arrives fly flies join joins earn earns pay pays spend spends know "
    "knows provide provides treat treats lead leads manage manages visit visits exist exists occur "
    "occurs happen happens participate participates own won lost made took got went came bought sold "
    "taught wrote gave began flew paid spent knew led held ran met built written taken given driven "
    "known shown spoken born found sent used weigh weighs reside resides stay stays appear appears "
    "accept accepts support supports supply supplies order orders publish publishes refer refers"
)
PROPERTIES = words(
    "name id identifier number code type kind category title description detail date time day month "
    "year age gender sex height weight length width depth size price cost amount fee salary income wage "
    "revenue profit budget rank ranking rating score grade level status address street phone telephone "
    "email city town state province county country region district continent location place language "
    "color colour nationality position role capacity population area duration speed temperature "
    "distance percentage rate value quantity surname initial zip zipcode postcode latitude longitude "
    "url version format theme topic subject label note comment text content brand unit currency balance "
    "payment gdp birthday birthdate occupation profession job religion ethnicity origin destination "
    "source reason purpose result outcome earnings points goals wins losses enrollment attendance "
    "expectancy abbreviation symbol nickname credit credits hometown capital founder director winner "
    "loser venue period term"
)
"""Nouns that mostly name a property of something else. Only a prior: position in the sentence weighs more."""
ADJECTIVE_PROPERTY = {
    "old": "age", "older": "age", "oldest": "age", "young": "age", "younger": "age", "youngest": "age",
    "tall": "height", "taller": "height", "tallest": "height", "heavy": "weight", "heavier": "weight",
    "heaviest": "weight", "lighter": "weight", "lightest": "weight", "expensive": "price",
    "cheap": "price", "cheaper": "price", "cheapest": "price", "fast": "speed", "faster": "speed",
    "fastest": "speed", "slowest": "speed", "long": "length", "longer": "length", "longest": "length",
    "recent": "date", "recently": "date", "latest": "date", "earliest": "date", "newest": "date",
    "rich": "wealth",
}  # fmt: skip
GENDERS = words("male female")
"""Adjectives that are values of a property of their noun."""
NOMINAL_ING = words(
    "rating ranking building meeting training painting recording wedding string king ring spring wing "
    "morning evening thing housing clothing engineering booking listing shipping spending earning "
    "setting feeling parking banking swimming running accounting marketing hearing reading writing "
    "ceiling pricing billing"
)
NOMINAL_ED = words("bed seed feed deed reed speed breed need weed shed sled red hundred med")
IRREGULAR = {
    "ids": "id", "people": "person", "persons": "person", "men": "man", "women": "woman",
    "children": "child", "feet": "foot", "teeth": "tooth", "mice": "mouse", "geese": "goose",
    "criteria": "criterion", "phenomena": "phenomenon", "indices": "index", "matrices": "matrix",
    "vertices": "vertex", "analyses": "analysis", "bases": "base", "lives": "life", "wives": "wife",
    "knives": "knife", "leaves": "leaf", "shelves": "shelf", "halves": "half", "movies": "movie",
    "cookies": "cookie", "ties": "tie", "series": "series", "species": "species", "news": "news",
    "faculties": "faculty", "staff": "staff", "data": "data", "media": "media", "gas": "gas",
    "bus": "bus", "lens": "lens", "buses": "bus", "aliases": "alias", "statuses": "status",
    "viruses": "virus", "gases": "gas", "heroes": "hero", "shoes": "shoe", "horses": "horse",
    "houses": "house", "courses": "course", "nurses": "nurse", "purchases": "purchase",
    "databases": "database", "licenses": "license", "cases": "case", "phases": "phase",
    "responses": "response", "expenses": "expense", "releases": "release", "diseases": "disease",
    "warehouses": "warehouse", "purposes": "purpose", "causes": "cause", "uses": "use",
    "earnings": "earnings", "caches": "cache", "headaches": "headache", "axes": "axis",
    "thanks": "thanks",
}  # fmt: skip

FUNCTION = DETERMINERS | PREPOSITIONS | PRONOUNS | AUXILIARIES | CONJUNCTIONS | ADVERBS
COMMONEST = frozenset(
    [
        "the",
        "of",
        "and",
        "in",
        "is",
        "are",
        "what",
        "which",
        "who",
        "how",
        "for",
        "to",
        "with",
        "that",
        "have",
        "all",
        "from",
        "by",
    ]
)
"""Some of these are in nearly every English question; used to notice that a text is not English."""


def singular(word: str) -> str:
    """Singular of a lower-case noun by rule; other words come back as they are."""
    if word in IRREGULAR:
        return IRREGULAR[word]
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    return word[:-1]


def is_plural(word: str) -> bool:
    return singular(word) != word


def looks_participle(word: str) -> bool:
    """Ends like a participle and is no common noun with that ending."""
    if word.endswith("ing"):
        return len(word) > 5 and word not in NOMINAL_ING and singular(word) not in NOMINAL_ING
    return len(word) > 3 and word.endswith("ed") and word not in NOMINAL_ED


def snake(words: list[str]) -> str:
    """Attribute name: lower case, last word in the singular, joined by underscores."""
    words = [re.sub(r"[^\w.]+", "_", word.lower()).strip("_") for word in words]
    words = [word for word in words if word]
    return "_".join([*words[:-1], singular(words[-1])]) if words else ""

"""The page says what it should, and nothing that comes from a lake is anything but text in it."""

from __future__ import annotations

import base64
import hashlib
import re
import unicodedata
from dataclasses import replace

import pyarrow as pa
import pytest
from page_parts import Parts
from small_story import small_story

from graftjax.fuse import FuseSettings, MemorySource, fuse
from graftjax.intent import EMPTY_INTENT
from graftjax.lake.names import plain_name
from graftjax.report import Story, page
from graftjax.types import Skip, Synthesis, TableId

ATTACKS = (
    "<script>alert(1)</script>",
    '"onload="alert(1)',
    "' onmouseover='alert(1)",
    "</style><img src=x onerror=alert(1)>",
    "</title></svg></text><b>",
    "javascript:alert(1)",
    "\u202egpj.exe\u2066\u200f",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;&#60;&amp",
    "]]><!--",
    "\x1b[31m\x00\x85\u2028x",
)


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_comes_from_data_is_text_only(attack):
    plain = Parts(page(small_story()))
    hostile = Parts(page(small_story(lambda word: f"{word}{attack}")))
    # What is longer than a box says it whole in a <title>: the one element that may be added.
    without = lambda parts: [element for element in parts.elements if element[0] != "title"]  # noqa: E731
    assert without(hostile) == without(plain)
    assert {element for element in hostile.elements if element[0] == "title"} == {("title", ())}
    numbers = re.compile(r"[-\d. MCvhqz]*")
    words = {value for _, _, value in plain.values}
    for tag, name, value in hostile.values:
        assert value in words or numbers.fullmatch(value), (tag, name, value)
    assert plain_name(" ".join(attack.split())) in hostile.text


def test_nothing_unseen_or_turned_is_on_the_page():
    text = page(small_story(lambda word: f"{word}\u202e\u2066\u200f\x00\x1b\u2028"))
    categories = {unicodedata.category(c) for c in text if c != "\n"}
    assert categories.isdisjoint({"Cc", "Cf", "Cs", "Zl", "Zp"})


def test_the_page_needs_and_runs_nothing():
    text = page(small_story())
    parts = Parts(text)
    assert {tag for tag, _ in parts.elements}.isdisjoint(
        {"script", "img", "link", "iframe", "object", "embed", "a", "form", "use", "image", "foreignObject"}
    )
    assert all(not name.startswith("on") for _, names in parts.elements for name in names)
    assert {name for _, names in parts.elements for name in names}.isdisjoint(
        {"style", "src", "href", "action"}
    )
    assert re.findall(r"https?://[^\s\"]+", text) == ["http://www.w3.org/2000/svg"] * 2
    assert "url(" not in text
    assert "@import" not in text
    (policy,) = [value for tag, name, value in parts.values if name == "content" and "default-src" in value]
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy.split("; ")[:2] == ["default-src 'none'", f"style-src 'sha256-{digest}'"]


def test_the_same_story_gives_the_same_page():
    assert page(small_story()) == page(small_story())


def test_joins_are_solid_unions_dashed_and_the_bridge_is_marked():
    text = page(small_story())
    lake = text[text.index("<h2>Tables") : text.index("<h2>Why")]
    assert lake.count('class="link join"') == 2
    assert lake.count('class="link union"') == 1
    assert lake.count('class="box is-bridge"') == 1
    assert lake.count('class="box"') == 3
    bridge = lake[lake.index("is-bridge") :]
    assert bridge[: bridge.index("</g>")].count(">members<") == 1
    assert "stroke-dasharray" in text[text.index(".link.union") :].split("}")[0]
    asked = text[text.index("<h2>What the question") : text.index("<h2>Tables")]
    assert asked.count('class="link join"') == 1
    assert "name = AIB" in asked


def test_reasons_rows_sql_and_provenance_are_told():
    story = small_story()
    text = Parts(page(story)).text
    assert story.fused is not None
    for said in (
        "Which points?",
        "in/clubs ⋈ in/members ⋈ (in/games1 ∪ in/games2)",
        "U = 1.250",
        "nowhere in these tables",
        story.fused.sql,
        "a note",
        "no table in it",
        "in/games1.points, in/games2.points",
        "All 2 rows",
        "table of the row",
    ):
        assert said in text, said
    for step in story.fused.steps:
        assert step.step in text
    bars = [value for tag, name, value in Parts(page(story)).values if tag == "meter" and name == "value"]
    assert bars == ["0.90", "0.80", "0.70", "0.60", "0.00"]


def test_an_answer_without_tables_says_why():
    nothing = Story("?", EMPTY_INTENT, Synthesis((), (), 0.0, notes=("the lake has no tables",)), {})
    text = Parts(page(nothing)).text
    for said in ("No tables were found", "the lake has no tables", "names nothing", "Every file"):
        assert said in text


def test_a_refused_fusion_leaves_the_rest_of_the_page():
    text = Parts(page(replace(small_story(), fused=None, refusal="a join would have too many rows"))).text
    assert "a join would have too many rows" in text
    assert "in/clubs" in text
    assert "SELECT" not in text


def test_parts_that_nothing_connects_are_shown_by_themselves():
    a, b = TableId("", "a"), TableId("", "b")
    tables = {a: pa.table({"x": [1]}), b: pa.table({"y": [2]})}
    answer = Synthesis((a, b), (), 1.0)
    story = Story("?", EMPTY_INTENT, answer, {}, fuse(answer, MemorySource(tables)))
    text = page(story)
    assert "Not connected with it: b" in text
    assert text.count("<summary>SQL") == 2


def test_the_page_of_a_huge_answer_stays_small():
    """Names are as long, and tables as wide, as someone may have made them."""
    ids = [TableId("folder" * 50, f"t{n}" * 60) for n in range(60)]
    wide = {f"{'column' * 20}{n}": ["cell" * 500] * 30 for n in range(400)}
    tables = {id: pa.table(wide) for id in ids[:1]} | {id: pa.table({"k": ["x" * 9000]}) for id in ids[1:]}
    answer = Synthesis(tuple(ids[:1]), (), 1.0, notes=("n" * 100_000,))
    fused = fuse(answer, MemorySource(tables), settings=FuseSettings(preview=20))
    skips = tuple(Skip(f"f{n}" * 100, "why" * 1000) for n in range(3000))
    text = page(Story("why " * 100_000, EMPTY_INTENT, answer, {}, fused, skips=skips))
    assert len(text.encode()) < 1_000_000
    assert "without 340 more columns" in text
    assert "3,000 files, or parts of them, were skipped; the first 200" in text

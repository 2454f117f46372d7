"""Intent graphs: what a question asks for, as entity, attribute and value trees with joins (Sec. 3.1)."""

from graftjax.intent.atoms import MAX_ATOMS, IntentAtoms, atoms_of
from graftjax.intent.endpoint import EndpointExtractor, EndpointFailure, EndpointSettings
from graftjax.intent.extract import Extraction, extract
from graftjax.intent.lexical import lexical_intent
from graftjax.intent.query import Query
from graftjax.intent.reader import LakeTerms
from graftjax.intent.recorded import read_queries
from graftjax.intent.schema import (
    EMPTY_INTENT,
    IntentAttribute,
    IntentGraph,
    IntentJoin,
    IntentTree,
    parse_intent,
)

__all__ = [
    "EMPTY_INTENT",
    "MAX_ATOMS",
    "EndpointExtractor",
    "EndpointFailure",
    "EndpointSettings",
    "Extraction",
    "IntentAtoms",
    "IntentAttribute",
    "IntentGraph",
    "IntentJoin",
    "IntentTree",
    "LakeTerms",
    "Query",
    "atoms_of",
    "extract",
    "lexical_intent",
    "parse_intent",
    "read_queries",
]

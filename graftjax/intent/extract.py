"""Where an intent graph comes from: recorded, a model endpoint, or the lexical extractor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from graftjax.intent.endpoint import EndpointFailure, EndpointReply
from graftjax.intent.lexical import lexical_intent
from graftjax.intent.reader import LakeTerms
from graftjax.intent.schema import IntentGraph

IntentSource = Literal["recorded", "endpoint", "lexical"]


@runtime_checkable
class Extractor(Protocol):
    """Anything that answers like `EndpointExtractor`."""

    def extract(self, question: str) -> EndpointReply: ...


@dataclass(frozen=True, slots=True)
class Extraction:
    """An intent graph, where it came from, and what a user should know about that."""

    intent: IntentGraph
    source: IntentSource
    notes: tuple[str, ...] = ()


def extract(
    question: str,
    *,
    recorded: IntentGraph | None = None,
    endpoint: Extractor | None = None,
    lake_terms: LakeTerms | None = None,
) -> Extraction:
    """The intent graph of `question`: the recorded one, else the endpoint's, else the lexical one.

    When the endpoint gives nothing usable for this question, the lexical extractor stands in and a note says
    so.

    Raises:
      GraftError: the endpoint refuses the model or the key, which is wrong for every question.
    """
    notes: list[str] = []
    if recorded is not None:
        empty = () if recorded.trees else ("the recorded intent graph is empty",)
        return Extraction(recorded, "recorded", empty)
    if endpoint is not None and question.strip():
        try:
            reply = endpoint.extract(question)
        except EndpointFailure as failure:
            notes.append(f"{failure}; the lexical extractor stands in")
        else:
            if reply.intent.trees:
                return Extraction(reply.intent, "endpoint", reply.notes)
            notes += [*reply.notes, "the model found no intent; the lexical extractor stands in"]
    intent, remarks = lexical_intent(question, lake_terms)
    return Extraction(intent, "lexical", (*notes, *remarks))

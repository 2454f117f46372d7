"""The prompt that turns a question into an intent graph: task, output schema, constraints, worked examples.

The four blocks follow the paper's description (Sec. 3.1); wording and examples are our own.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

_TEXT = {"type": "string"}


def _object(**properties: Any) -> dict[str, Any]:
    """A closed object with every property required, as strict structured output asks for."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


OUTPUT_SCHEMA: dict[str, Any] = _object(
    trees={
        "type": "array",
        "items": _object(
            tree_id=_TEXT,
            entity=_TEXT,
            attributes={
                "type": "array",
                "items": _object(attribute_id=_TEXT, name=_TEXT, values={"type": "array", "items": _TEXT}),
            },
        ),
    },
    joins={
        "type": "array",
        "items": _object(from_tree=_TEXT, from_attribute=_TEXT, to_tree=_TEXT, to_attribute=_TEXT),
    },
)
"""JSON schema of a reply, in the subset that strict structured output accepts."""

_Example = tuple[str, list[tuple[str, dict[str, list[str]]]], list[tuple[str, str]]]
_EXAMPLES: tuple[_Example, ...] = (
    (
        "Which bakeries in Lisbon open before 7 am, and what are their phone numbers?",
        [("Bakery", {"name": [], "phone_number": [], "city": ["Lisbon"], "opening_time": ["< 7 am"]})],
        [],
    ),
    (
        "For every courier hired after 2019, what is the total weight of the parcels they delivered?",
        [
            ("Courier", {"id": [], "name": [], "hire_year": ["> 2019"]}),
            ("Parcel", {"courier_id": [], "weight": []}),
        ],
        [("Courier.id", "Parcel.courier_id")],
    ),
    (
        "List the manufacturers of the vaccines that patients from Oslo received.",
        [
            ("Patient", {"id": [], "city": ["Oslo"]}),
            ("Vaccination", {"patient_id": [], "vaccine_id": []}),
            ("Vaccine", {"id": [], "manufacturer": []}),
        ],
        [("Patient.id", "Vaccination.patient_id"), ("Vaccination.vaccine_id", "Vaccine.id")],
    ),
)
_EXAMPLE_TITLES = (
    "one need with fixed values",
    "two needs and the key that links them",
    "two named needs that meet only through a third one, which the question does not name",
)


def _example_reply(example: _Example) -> dict[str, Any]:
    """The worked answer of an example with ids numbered in reading order."""
    _, needs, links = example
    trees, place = [], {}
    for t, (entity, attributes) in enumerate(needs, 1):
        records = []
        for name, values in attributes.items():
            attribute_id = f"a{len(place) + 1}"
            place[f"{entity}.{name}"] = (f"t{t}", attribute_id)
            records.append({"attribute_id": attribute_id, "name": name, "values": values})
        trees.append({"tree_id": f"t{t}", "entity": entity, "attributes": records})
    joins = []
    for start, end in links:
        (from_tree, from_attribute), (to_tree, to_attribute) = place[start], place[end]
        joins.append(
            {
                "from_tree": from_tree,
                "from_attribute": from_attribute,
                "to_tree": to_tree,
                "to_attribute": to_attribute,
            }
        )
    return {"trees": trees, "joins": joins}


WORKED_EXAMPLES: tuple[tuple[str, dict[str, Any]], ...] = tuple(
    (example[0], _example_reply(example)) for example in _EXAMPLES
)
"""(question, reply) pairs shown in the prompt."""

_TASK = """\
TASK
You plan which tables are needed to answer a question. The tables live in a large collection that you cannot
see and that has no documented schema. From the question alone, write down the kinds of things it is about
(each becomes a tree), the properties of each that are needed, the concrete values it fixes, and the keys over
which the things have to be linked. This plan is called an intent graph."""

_CONSTRAINTS = """\
CONSTRAINTS
- A tree stands for one kind of thing; name it in the singular. Never write two trees for the same thing.
- List the properties the question asks for, filters on, groups by or sorts by, and the keys that joins use.
  Leave out everything the question gives no reason for.
- "values" holds only constants that the question states. Put a comparison in front of the constant
  ("> 200", "not red"). A property without a constant has an empty list.
- Link two trees by a join of one property of each, normally an identifier on one side and a reference to it
  on the other. Trees that belong together must be connected.
- If two things can only meet through a third one that records the link (a booking, a membership, a purchase),
  add a tree for it even though the question does not mention it.
- Rows of one tree may be spread over several tables. Ignore this: write one tree, and nothing about unions.
- Every id in "joins" must be declared in "trees", a property in the very tree that the join names with it.
- Reply with one JSON object and nothing else."""


def _schema_block() -> str:
    return "OUTPUT SCHEMA (JSON Schema)\n" + json.dumps(OUTPUT_SCHEMA, separators=(", ", ": "))


def _examples_block() -> str:
    parts = ["WORKED EXAMPLES"]
    for title, (question, reply) in zip(_EXAMPLE_TITLES, WORKED_EXAMPLES, strict=True):
        parts.append(f"({title})\nQuestion: {question}\nReply: {json.dumps(reply)}")
    return "\n\n".join(parts)


SYSTEM_PROMPT = "\n\n".join((_TASK, _schema_block(), _CONSTRAINTS, _examples_block()))

PROMPT_VERSION = hashlib.sha256(SYSTEM_PROMPT.encode()).hexdigest()[:12]
"""Changes with the prompt by itself, so that a cached reply never outlives its prompt."""


def messages_for(question: str) -> list[dict[str, str]]:
    """Chat messages that ask for the intent graph of `question`."""
    return [
        {"role": "system", "content": SYSTEM_PROMPT},
        {"role": "user", "content": f"Question: {question}\nReply:"},
    ]

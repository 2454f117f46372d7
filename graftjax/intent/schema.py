"""Intent graphs: the JSON of the paper's Appendix A as checked, frozen records (Sec. 3.1).

An intent graph is a forest. A tree is one data need: an entity with its attributes, each with the values
that the question fixes. Joins connect attributes of two different trees; unions have no record of their own,
because one tree may be witnessed by several unioned tables.
"""

from __future__ import annotations

import json
import math
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from graftjax.errors import GraftError


def _clean(text: str) -> str:
    """Without NULs and lone surrogates, which JSON may spell and no tokenizer or file accepts."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def _as_text(value: Any) -> Any:
    """A JSON scalar as text; anything else is left for pydantic to refuse."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("a number must be finite")
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, int):
        return str(value)
    return _clean(value) if isinstance(value, str) else value


def _as_name(value: Any) -> Any:
    value = _as_text(value)
    if isinstance(value, str):
        value = " ".join(value.split())
        if not value:
            raise ValueError("must not be blank")
    return value


def _as_list(value: Any) -> Any:
    return [] if value is None else value


class _Record(BaseModel):
    """Frozen; ignores extra keys; accepts keys in any case and with or without underscores."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _spell_keys(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        known = {name.replace("_", ""): name for name in cls.model_fields}
        spelt = {}
        for key, value in data.items():
            name = known.get(str(key).replace("_", "").replace("-", "").strip().lower())
            # An exactly spelt key wins over a look-alike.
            if name is not None and (key == name or name not in spelt):
                spelt[name] = value
        return spelt


class IntentAttribute(_Record):
    """A required attribute and the values that the question fixes for it (often none)."""

    attribute_id: str
    name: str
    values: tuple[str, ...] = ()

    _names = field_validator("attribute_id", "name", mode="before")(_as_name)

    @field_validator("values", mode="before")
    @classmethod
    def _value_list(cls, values: Any) -> Any:
        """A lone scalar counts as a list of one; nulls, blanks and repeats are dropped."""
        if values is None or isinstance(values, str | int | float):
            values = [] if values is None else [values]
        if not isinstance(values, list | tuple):
            return values
        kept: dict[str, Any] = {}
        for value in values:
            text = _as_text(value)
            if text is None or (isinstance(text, str) and not text.strip()):
                continue
            kept.setdefault(text.strip().casefold() if isinstance(text, str) else repr(text), text)
        return list(kept.values())


class IntentTree(_Record):
    """One data need: an entity with its attributes."""

    tree_id: str
    entity: str
    attributes: tuple[IntentAttribute, ...] = ()

    _names = field_validator("tree_id", "entity", mode="before")(_as_name)
    _lists = field_validator("attributes", mode="before")(_as_list)


class IntentJoin(_Record):
    """An equality between attributes of two different trees."""

    from_tree: str
    from_attribute: str
    to_tree: str
    to_attribute: str

    _names = field_validator("from_tree", "from_attribute", "to_tree", "to_attribute", mode="before")(
        _as_name
    )


class IntentGraph(_Record):
    """A forest of intent trees with the joins between them.

    Ids in joins are compared without regard to case and rewritten to the declared spelling. Attribute ids
    need to be unique inside their tree only, since a join names the tree as well.
    """

    trees: tuple[IntentTree, ...]
    joins: tuple[IntentJoin, ...] = ()
    rough: bool = Field(default=False, exclude=True, repr=False)
    """Read by rules, so that more of the question may be missing; no part of the JSON."""

    _lists = field_validator("trees", "joins", mode="before")(_as_list)

    @model_validator(mode="after")
    def _check_references(self) -> IntentGraph:
        trees: dict[str, IntentTree] = {}
        attributes: dict[str, dict[str, IntentAttribute]] = {}
        for tree in self.trees:
            key = tree.tree_id.casefold()
            if key in trees:
                raise ValueError(f"tree id '{tree.tree_id}' is used twice; tree ids must differ")
            trees[key] = tree
            own = attributes[key] = {}
            for attribute in tree.attributes:
                if attribute.attribute_id.casefold() in own:
                    raise ValueError(
                        f"attribute id '{attribute.attribute_id}' is used twice in tree '{tree.tree_id}'"
                    )
                own[attribute.attribute_id.casefold()] = attribute

        def resolve(tree_id: str, attribute_id: str, number: int) -> tuple[str, str]:
            tree = trees.get(tree_id.casefold())
            if tree is None:
                known = ", ".join(t.tree_id for t in self.trees) or "none"
                raise ValueError(f"join {number} names the unknown tree '{tree_id}' (known: {known})")
            attribute = attributes[tree_id.casefold()].get(attribute_id.casefold())
            if attribute is None:
                elsewhere = [t.tree_id for k, t in trees.items() if attribute_id.casefold() in attributes[k]]
                why = f"it belongs to tree '{elsewhere[0]}'" if elsewhere else "no tree has it"
                raise ValueError(
                    f"join {number}: attribute '{attribute_id}' is not in tree '{tree.tree_id}'; {why}"
                )
            return tree.tree_id, attribute.attribute_id

        joins: dict[frozenset[tuple[str, str]], IntentJoin] = {}
        for number, join in enumerate(self.joins, 1):
            start = resolve(join.from_tree, join.from_attribute, number)
            end = resolve(join.to_tree, join.to_attribute, number)
            if start[0] == end[0]:
                raise ValueError(f"join {number} joins tree '{start[0]}' with itself; a join needs two trees")
            joins.setdefault(
                frozenset((start, end)),
                IntentJoin(from_tree=start[0], from_attribute=start[1], to_tree=end[0], to_attribute=end[1]),
            )
        # The record is frozen for its users; this is still its construction.
        object.__setattr__(self, "joins", tuple(joins.values()))
        return self

    def tree(self, tree_id: str) -> IntentTree:
        """The tree of that id; KeyError when there is none."""
        for tree in self.trees:
            if tree.tree_id == tree_id:
                return tree
        raise KeyError(f"no tree '{tree_id}'; known: {[t.tree_id for t in self.trees]}")

    def attribute(self, tree_id: str, attribute_id: str) -> IntentAttribute:
        """The attribute of that id in that tree; KeyError when there is none."""
        for attribute in self.tree(tree_id).attributes:
            if attribute.attribute_id == attribute_id:
                return attribute
        raise KeyError(f"no attribute '{attribute_id}' in tree '{tree_id}'")


EMPTY_INTENT = IntentGraph(trees=())


def parse_intent(data: Any, where: str = "intent graph") -> IntentGraph:
    """Check a JSON text or an already decoded object.

    Raises:
      GraftError: it is no intent graph; one line that starts with `where` and names the place and the fault.
    """
    if isinstance(data, str):
        try:
            data = json.loads(data)
        except RecursionError as error:
            raise GraftError(f"{where}: the JSON is nested too deeply") from error
        except ValueError as error:
            raise GraftError(f"{where}: not JSON ({error})") from error
    if not isinstance(data, dict):
        raise GraftError(f"{where}: expected an object with 'trees' and 'joins', found {type(data).__name__}")
    try:
        return IntentGraph.model_validate(data)
    except ValidationError as error:
        first, *rest = error.errors()
        place = ".".join(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        more = f" (and {len(rest)} more)" if rest else ""
        raise GraftError(f"{where}: {place + ': ' if place else ''}{message}{more}") from error

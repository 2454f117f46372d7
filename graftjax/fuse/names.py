"""Names in SQL: unique when case is ignored, and free of what DuckDB takes in no name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from graftjax.types import TableId

BEFORE, NEW = "histogram before", "histogram new"
"""Names that the count of joins uses for itself."""


_BREAKS = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


class Names:
    """Names given out so far."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {name.casefold() for name in taken}

    def free(self, wanted: str) -> str:
        """`wanted`, or it with the first free suffix `_2`, `_3`, ...; the name is taken from now on.

        >>> names = Names(["a", "A_2"])
        >>> names.free("A"), names.free("b"), names.free("")
        ('A_3', 'b', 'column')
        """
        base = spelt(wanted) or "column"
        name, count = base, 1
        while name.casefold() in self._taken:
            count += 1
            name = f"{base}_{count}"
        self._taken.add(name.casefold())
        return name


def spelt(name: str) -> str:
    """A name without NUL, at which DuckDB would cut it, or line breaks, which sqlglot would indent."""
    return _BREAKS.sub(" ", name).replace("\0", "\ufffd")


def label_of(tables: Sequence[TableId]) -> str:
    """What the rows of unioned tables are called: what their names have in common.

    >>> label_of([TableId("db", "player_1"), TableId("db", "player_12")])
    'player'
    >>> label_of([TableId("db", "sales_2020")]), label_of([TableId("", "a"), TableId("", "b")])
    ('sales_2020', 'a')
    """
    if len(tables) == 1:
        return tables[0].name
    common = re.sub(r"[\W\d_]+$", "", os.path.commonprefix([table.name for table in tables]))  # noqa: RUF071
    return common if len(common) > 1 else tables[0].name

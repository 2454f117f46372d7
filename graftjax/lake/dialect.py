"""How a delimited text is laid out: delimiter, quoting, title lines, header."""

from __future__ import annotations

import atexit
import csv
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from io import StringIO
from itertools import chain, islice, pairwise
from pathlib import Path
from uuid import uuid4

import duckdb

from graftjax.lake.values import normalise

_DELIMITERS = (",", ";", "\t", "|", "^", "~", "\x01")
"""In this order where two divide equally well; Ctrl-A is what Hive writes."""
_NO_DELIMITER = "\x1f"
_HEAD_CHARACTERS = 1 << 16
_HEAD_CELLS = 100_000
_FIELD_LIMIT = 1 << 24
"""A cell of this many characters (16 Mi) is a quote that was never closed."""
_DECLARED = re.compile(r"\ufeff?sep=(.)\r?\n?")
"""First line by which a spreadsheet tells the delimiter."""
_END = "\ue000graftjax end\ue000"
_NUMBER = re.compile(r"-?[0-9]*[.,]?[0-9]+(e[+-]?[0-9]+)?%?|[0-9]{4}-[0-9]{2}-[0-9]{2}.*")
_DIGIT = re.compile("[0-9]")
_YEAR = re.compile(r"(1[5-9]|20|21)[0-9]{2}")


@dataclass(frozen=True, slots=True)
class Dialect:
    """Layout of records."""

    delimiter: str
    quote: str | None = '"'
    escape: str | None = None
    """Character before a literal quote where quotes are not doubled."""
    skip_space: bool = False
    """Whether blanks after a delimiter are left out, so that a quote may follow them."""

    @property
    def divides(self) -> bool:
        """Whether there is a delimiter at all."""
        return self.delimiter != _NO_DELIMITER

    def records(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Cells of each record; a quote that is never closed raises csv.Error at the end."""
        for batch in self.batches(lines, lambda: 1):
            yield from batch

    def batches(self, lines: Iterable[str], size: Callable[[], int]) -> Iterator[list[list[str]]]:
        """Cells of the records, `size()` of them at a time; csv.Error at the end for an open quote."""
        csv.field_size_limit(_FIELD_LIMIT)  # the default refuses a cell of more than 128 kB
        reader = csv.reader(
            # Inside an open quote the end mark is swallowed as text: that is how the open quote is noticed.
            chain(lines, (_END,)),
            delimiter=self.delimiter,
            quotechar=self.quote,
            quoting=csv.QUOTE_NONE if self.quote is None else csv.QUOTE_MINIMAL,
            escapechar=self.escape,
            doublequote=self.escape is None,
            skipinitialspace=self.skip_space,
        )
        while batch := list(islice(reader, size())):
            if batch[-1] == [_END]:
                batch.pop()
                if batch:
                    yield batch
                return
            yield batch
        raise csv.Error("a quote is opened and never closed")


def detect(head: str) -> Dialect:
    """Dialect of a text by its first lines.

    DuckDB's sniffer proposes; the proposal counts only if it really divides the records (the sniffer alone
    takes `;` for the lines `h`, `v`, `a;b` and skips the first two). Otherwise the delimiter that divides
    most records is taken, and none at all when no delimiter does. A first line `sep=;` decides.
    """
    head = head[:_HEAD_CHARACTERS]
    declared = _DECLARED.match(head)
    if declared and declared[1] in _DELIMITERS:
        return _spaced(Dialect(declared[1]), head)
    shares = {mark: _divided(Dialect(mark), head) for mark in _DELIMITERS if mark in head}
    best = max(shares, key=lambda mark: shares[mark], default=_NO_DELIMITER)
    # Without apostrophes and backslashes there is but one way to quote, and nothing to ask the sniffer.
    if "'" in head or "\\" in head or sum(share > 0 for share in shares.values()) > 1:
        proposed = _sniff(head)
        if proposed and (share := _divided(proposed, head)) and share >= 0.9 * shares.get(best, 0.0):
            return _spaced(proposed, head)
    return _spaced(Dialect(best), head) if shares.get(best) else Dialect(_NO_DELIMITER)


def _spaced(dialect: Dialect, head: str) -> Dialect:
    """With blanks before quotes (`1, "a, b"`) left out, if that divides the records better."""
    if dialect.quote is None or f"{dialect.delimiter} {dialect.quote}" not in head:
        return dialect
    spaced = replace(dialect, skip_space=True)
    return spaced if _divided(spaced, head) > _divided(dialect, head) else dialect


def _divided(dialect: Dialect, head: str) -> float:
    """Share of records with the most common number of cells; 0 when most records are one cell."""
    rows = [row for row in head_records(dialect, StringIO(head, newline="")) if trimmed(row)]
    # Cells at the end may be padding or missing values: the reading that is more regular counts.
    widths = [Counter(len(row) for row in rows), Counter(len(trimmed(row)) for row in rows)]
    if not rows:
        return 0.0
    divided = sum(len(row) > 1 for row in rows) / len(rows)
    if divided < 0.6 and widths[1].most_common(1)[0][0] < 2:
        return 0.0
    return max(count for counter in widths for width, count in counter.items() if width > 1) / len(rows)


def head_records(dialect: Dialect, lines: Iterable[str], limit: int = 500) -> list[list[str]]:
    """The first records, as far as they can be read; fewer of them where they are wide."""
    rows: list[list[str]] = []
    cells = 0
    try:
        for row in dialect.records(lines):
            rows.append(row)
            cells += len(row)
            if len(rows) >= limit or cells >= _HEAD_CELLS:
                break
    except csv.Error:
        pass
    return rows


@cache
def _sniffer() -> tuple[duckdb.DuckDBPyConnection, tempfile.TemporaryDirectory[str]]:
    """A database that can reach nothing but one folder of our own, where heads of files are put."""
    folder = tempfile.TemporaryDirectory(prefix="graftjax-")
    atexit.register(folder.cleanup)
    database = duckdb.connect(":memory:", config={"threads": 1, "autoinstall_known_extensions": "false"})
    database.execute("SET autoload_known_extensions = false")
    database.execute("SET allowed_directories = ['{}']".format(folder.name.replace("'", "''")))
    database.execute("SET enable_external_access = false")
    database.execute("SET lock_configuration = true")
    return database, folder


def _sniff(head: str) -> Dialect | None:
    database, folder = _sniffer()
    path = Path(folder.name) / f"{uuid4().hex}.csv"
    query = "SELECT Delimiter, Quote, Escape FROM sniff_csv(?, all_varchar=true, nullstr='')"
    try:
        path.write_text(head, encoding="utf-8", errors="replace", newline="")
        row = database.cursor().execute(query, [str(path)]).fetchall()[0]
    except (duckdb.Error, IndexError, OSError):
        return None
    finally:
        with suppress(OSError):
            path.unlink()
    delimiter, quote, escape = row
    if delimiter not in _DELIMITERS:
        return None
    # The sniffer sees no quotes in its sample; the rest of the file may well have them.
    return Dialect(delimiter, "'" if quote == "'" else '"', "\\" if escape == "\\" else None)


def trimmed(row: Sequence[str]) -> Sequence[str]:
    """The row without blank cells at its end."""
    end = len(row)
    while end and not row[end - 1].strip():
        end -= 1
    return row[:end]


def first_row(rows: Sequence[Sequence[str]]) -> int:
    """Index of the row that begins the table proper, after title lines and blank lines.

    A title line fills its first cell only (or at most a third of the cells of a wide table). Lines padded
    with delimiters count as titles only if the first full row looks like a header, so that blank headers
    survive.
    """
    widths = Counter(len(trimmed(row)) for row in rows if trimmed(row))
    if not widths or (width := max(widths, key=lambda w: (widths[w], w))) < 2:
        return next((i for i, row in enumerate(rows) if row), 0)
    at, padded = 0, None
    while at < len(rows) and _is_title(rows[at], width):
        if padded is None and len(rows[at]) > 1:
            padded = at
        at += 1
    if at == len(rows):
        return next((i for i, row in enumerate(rows) if row), 0)
    if padded is not None and not (all(map(str.strip, trimmed(rows[at]))) and _is_words(rows[at])):
        return padded
    return at


def _is_title(row: Sequence[str], width: int) -> bool:
    filled = [i for i, cell in enumerate(row) if cell.strip()]
    return len(row) <= 1 or not filled or filled == [0] or (len(filled) <= width // 3 and len(row) != width)


def _is_words(row: Sequence[str]) -> bool:
    return not any(_is_number(cell) for cell in row)


def _is_number(cell: str) -> bool:
    # Most cells are told without being normalised, which takes most of the time for a small file.
    if _NUMBER.fullmatch(cell):
        return True
    if cell.isascii() and not _DIGIT.search(cell):
        return False
    return _NUMBER.fullmatch(normalise(cell)) is not None


def has_header(row: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether `row` names the columns of `body` (a sample of the rows below).

    It does, unless its cells behave like the values below them: it has a number or date in every column whose
    values are numbers or dates (years in a row, and 0, 1, 2, ..., are names), or most of its cells
    come again as values. A table of words only without a header can not be told from one with a header.
    """
    body = [other for other in body if list(other) != list(row) and trimmed(other)]
    numeric_cells = [_is_number(cell) for cell in row]
    if not body:
        return not any(numeric_cells)
    columns = [[other[i] for other in body if i < len(other) and other[i].strip()] for i in range(len(row))]
    numeric = [bool(cells) and all(map(_is_number, cells)) for cells in columns]
    if (
        any(numeric_cells)
        and any(numeric)
        and all(c for c, n in zip(numeric_cells, numeric, strict=True) if n)
    ):
        numbers = [cell.strip() for cell, is_number in zip(row, numeric_cells, strict=True) if is_number]
        values = [
            cell.strip()
            for cells, is_number in zip(columns, numeric_cells, strict=True)
            if is_number
            for cell in cells
        ]
        return _counts(numbers) and not all(map(_YEAR.fullmatch, values))
    if any(numeric):
        return True
    filled = [(cell, cells) for cell, cells in zip(row, columns, strict=True) if cell.strip()]
    return not filled or 2 * sum(cell in cells for cell, cells in filled) <= len(filled)


def _counts(numbers: Sequence[str]) -> bool:
    """Whether the cells count 0, 1, 2, ... or name years one after the other, as headers do."""
    if len(numbers) < 2 or not all(number.isascii() and number.isdigit() for number in numbers):
        return False
    steps = {int(b) - int(a) for a, b in pairwise(numbers)}
    return steps in ({1}, {-1}) and (numbers[0] == "0" or all(map(_YEAR.fullmatch, numbers)))

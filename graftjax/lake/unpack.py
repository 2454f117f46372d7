"""Files as streams of bytes, unpacked by what they hold and never without bounds."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa

from graftjax.errors import GraftError
from graftjax.lake.kinds import TEXT

BOMB_BYTES = 1 << 28
BOMB_RATIO = 100
"""A packed file that yields more than `BOMB_BYTES` and `BOMB_RATIO` times its own size is refused."""

_MAGIC = (
    (b"\x1f\x8b\x08", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"PK\x03\x04", "zip"),
)
_SUFFIXES = frozenset({".gz", ".bz2", ".xz", ".zst", ".zip"})
_BZIP2 = (b"1AY&SY", b"\x17rE8P\x90")  # what follows `BZh` and a digit: a block, or the end

_FOREIGN = (
    (b"SQLite format 3\x00", "a SQLite database"),
    (b"PAR1", "a Parquet file"),
    (b"PARE", "an encrypted Parquet file"),
    (b"ARROW1", "an Arrow file"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old or password-protected Office document"),
    (b"%PDF-", "a PDF document"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"\x7fELF", "a program"),
    (b"Rar!\x1a", "a RAR archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x89HDF", "an HDF5 file"),
    (b"version https://git-lfs.github.com/spec/", "a Git LFS pointer, not the data"),
)


def foreign(head: bytes) -> str | None:
    """What a file that starts with `head` is, where it surely is no delimited text."""
    for mark, kind in _FOREIGN:
        if head.startswith(mark):
            return kind
    start = head[:200].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if start.startswith((b"<!doctype", b"<html", b"<?xml")):
        return "a web page or XML, not a delimited text"
    return "JSON, not a delimited text" if _is_json(start) else None


def _is_json(start: bytes) -> bool:
    if start.startswith((b'[{"', b"[\n", b"[\r\n", b"{\n", b"{\r\n")):
        return True
    try:  # a record a line
        return start.startswith(b'{"') and isinstance(json.loads(start.splitlines()[0]), dict)
    except ValueError:
        return False


def packing(head: bytes) -> str | None:
    """How a file that starts with `head` is packed."""
    for mark, kind in _MAGIC:
        if head.startswith(mark) and (kind != "bzip2" or head[4:10] in _BZIP2):
            return kind
    return None


def open_bytes(path: Path) -> io.BufferedReader:
    """Open a file for reading, unpacked if it is packed (gzip, bzip2, xz, zstd, zip of one file).

    Raises GraftError for what is no regular file, for an archive of several files, and, on reading, for a
    file that unpacks to far more than its size.
    """
    # A pipe that took the place of a file must not be waited for.
    file = os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb")
    try:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise GraftError("not a regular file")
        kind = packing(file.peek(16)[:16])
        if kind is None:
            return file
        inner = _OPENERS[kind](file)
        limit = max(BOMB_BYTES, BOMB_RATIO * status.st_size)
        return io.BufferedReader(_Bounded(inner, file, limit), 1 << 16)
    except BaseException:
        file.close()
        raise


def packed_otherwise(path: Path) -> tuple[str, ...]:
    """A note, where the name of a file does not say how it is packed."""
    with path.open("rb") as file:
        kind = packing(file.read(16))
    named = path.suffix.lower() in _SUFFIXES
    if kind is not None and not named:
        return (f"unpacked: the file is {kind}, which its name does not say",)
    return ("not packed, though its name says so",) if kind is None and named else ()


def _open_zip(file: io.BufferedReader) -> Any:
    try:
        archive = zipfile.ZipFile(file)
    except zipfile.BadZipFile as error:
        raise GraftError(f"damaged ZIP archive: {error}") from error
    members = [entry for entry in archive.infolist() if not entry.is_dir()]
    members = [entry for entry in members if not entry.filename.startswith("__MACOSX/")]
    if len(members) != 1:
        raise GraftError(f"an archive or document of {len(members)} files: unpack it, or save it as CSV")
    (member,) = members
    if PurePosixPath(member.filename).suffix[1:].lower() not in TEXT:
        raise GraftError("an archive that holds no CSV file: unpack it first")
    if member.flag_bits & 1:
        raise GraftError("password-protected ZIP archive")
    try:
        return archive.open(member)
    except (NotImplementedError, RuntimeError, zipfile.BadZipFile) as error:
        raise GraftError(f"ZIP archive can not be unpacked: {error}") from error


_OPENERS: dict[str, Callable[[io.BufferedReader], Any]] = {
    "gzip": lambda file: gzip.GzipFile(fileobj=file),
    "bzip2": bz2.BZ2File,
    "xz": lzma.LZMAFile,
    "zstd": lambda file: pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd"),
    "zip": _open_zip,
}


class _Bounded(io.RawIOBase):
    """An unpacked stream that ends in an error when it grows beyond `limit` bytes."""

    def __init__(self, inner: Any, file: io.BufferedReader, limit: int) -> None:
        self.inner, self.file, self.left = inner, file, limit
        self.limit = limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        try:
            data = self.inner.read(len(buffer))
        except (zipfile.BadZipFile, lzma.LZMAError) as error:
            raise OSError(f"damaged archive: {error}") from error
        self.left -= len(data)
        if self.left < 0:
            raise GraftError(f"unpacks to more than {self.limit >> 20:,} MiB, far beyond its size: not read")
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self.inner.close()
            self.file.close()
        super().close()

"""Names of tests, which have to be the same in all workers of one run."""

from __future__ import annotations

import gzip

import pytest


@pytest.mark.parametrize(("content", "number"), [(gzip.compress(b"a,b"), 1), (bytearray(b"\x00"), 2)])
def test_bytes_are_named_by_their_argument(
    request: pytest.FixtureRequest, content: bytes, number: int
) -> None:
    """Names held gzip's time of day: two workers that collected in different seconds did not agree."""
    assert request.node.callspec.id == f"content-{number}"

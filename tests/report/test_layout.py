"""Boxes of any forest of stacks are apart from each other and inside the drawing."""

from __future__ import annotations

import re
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from graftjax.report.boxes import Box, Link, Picture, Row
from graftjax.report.layout import layout


@st.composite
def recipes(draw):
    """(boxes, stacks, links) as plain tuples: stacks in a random forest, a few links more, unions in stacks.

    The records themselves are made in the test: run-time type checks draw random numbers of their own.
    """
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=9))
    boxes, stacks, links = [], [], []
    for size in sizes:
        stack = tuple(range(len(boxes), len(boxes) + size))
        stacks.append(stack)
        for _ in stack:
            rows = draw(st.lists(st.integers(0, 40), max_size=6))
            below, bridge = draw(st.sampled_from(["", "below"])), draw(st.booleans())
            boxes.append((draw(st.text(max_size=50)), below, rows, bridge, draw(st.integers(0, 2))))
        links += [("union", (stack[0], -1), (other, -1), "") for other in stack[1:]]
    pick = lambda stack: draw(st.sampled_from(stacks[stack]))  # noqa: E731
    for number in range(1, len(stacks)):
        if draw(st.booleans()):
            other = pick(draw(st.integers(0, number - 1)))
            links.append(("join", (other, draw(st.integers(-1, 6))), (pick(number), 0), "0.5"))
    if len(stacks) > 2 and draw(st.booleans()):
        links.append(("join", (pick(0), 0), (pick(2), 0), ""))
    return boxes, tuple(stacks), links


@given(recipes())
def test_boxes_never_overlap_and_everything_is_inside(recipe):
    boxes, stacks, links = recipe
    picture = Picture(
        tuple(
            Box(title, below, tuple(Row("x" * n) for n in rows), bridge, more)
            for title, below, rows, bridge, more in boxes
        ),
        stacks,
        tuple(Link(*link) for link in links),
    )
    found = layout(picture)
    assert len(found.boxes) == len(picture.boxes)
    assert len(found.curves) == len(picture.links)
    assert len(found.frames) == sum(len(stack) > 1 for stack in picture.stacks)
    for box in found.boxes:
        assert box.x >= 0
        assert box.y >= 0
        assert box.x + box.width <= found.width
        assert box.y + box.height <= found.height
        for line in box.lines:
            assert box.y < line.y <= box.y + box.height
    for a, b in combinations(found.boxes, 2):
        apart = a.x + a.width <= b.x or b.x + b.width <= a.x or a.y + a.height <= b.y or b.y + b.height <= a.y
        assert apart
    for frame in found.frames:
        assert frame.x >= 0
        assert frame.y >= 0
        assert frame.x + frame.width <= found.width
        assert frame.y + frame.height <= found.height
    for curve in found.curves:
        numbers = [float(number) for number in re.findall(r"-?\d+\.?\d*", curve.path)]
        assert all(0 <= x <= found.width for x in numbers[::2])
        assert all(0 <= y <= found.height for y in numbers[1::2])


def test_a_chain_is_drawn_from_left_to_right():
    boxes = tuple(Box(name, rows=(Row("id"),)) for name in "abc")
    links = (Link("join", (1, 0), (0, 0)), Link("join", (1, 0), (2, 0)))
    found = layout(Picture(boxes, ((0,), (1,), (2,)), links))
    a, b, c = found.boxes
    assert a.x + a.width < b.x
    assert b.x + b.width < c.x
    assert a.y == b.y == c.y


def test_nothing_to_draw():
    found = layout(Picture((), (), ()))
    assert found.boxes == found.curves == ()


def test_a_join_of_two_boxes_of_the_last_column_stays_inside():
    """Three tables joined in a ring put two of them in one column; their link bent out of the page."""
    boxes = tuple(Box(name, "", (Row("id"),)) for name in "abc")
    links = tuple(Link("join", (a, 0), (b, 0), "0.5") for a, b in ((0, 1), (1, 2), (0, 2)))
    found = layout(Picture(boxes, ((0,), (1,), (2,)), links))
    for curve in found.curves:
        numbers = [float(number) for number in re.findall(r"-?\d+\.?\d*", curve.path)]
        assert max(numbers[::2]) <= found.width

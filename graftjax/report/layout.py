"""Where boxes and links are drawn, in pixels.

Joins make a forest of stacks, so nothing has to be searched for: a stack stands in the column of its
distance from an end of its tree, in the middle of what it leads to. The same input gives the same drawing.
"""

from __future__ import annotations

from dataclasses import dataclass

from graftjax.preview import cut, text_width
from graftjax.report.boxes import Box, Picture

CHARACTER = 7.25
"""Width of a character of the drawing's font."""
LINE = 18
HEAD = 24
PADDING = 10
LONGEST = 30
"""Characters of a name that are drawn."""
BETWEEN_COLUMNS = 92
BETWEEN_STACKS = 26
BETWEEN_BOXES = 14
FRAME = 8
"""From the boxes of a union to the frame around them."""
MARGIN = 14
ARC = 22
"""How far the arc of a union stands out at most."""
LOOP = FRAME + MARGIN + ARC
"""How far a join of two boxes of one column bends out: no further than the drawing's right margin."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text in a box."""

    y: float
    """Of its base line."""
    text: str
    whole: str
    """The text before it was cut; empty when nothing is missing."""
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A box in its place."""

    x: float
    y: float
    width: float
    height: float
    head: float
    """Height of the part with the title."""
    title: Line
    lines: tuple[Line, ...]
    bridge: bool

    def line_at(self, row: int) -> float:
        """Height at which a link meets a row, or the title."""
        if 0 <= row < len(self.lines) and self.lines[row].mark != "more":
            return self.lines[row].y - 4
        return self.y + self.head / 2


@dataclass(frozen=True, slots=True)
class Curve:
    """A link as the data of a path, with a place for its label."""

    kind: str
    path: str
    label: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Frame:
    """Around the boxes of a union."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Layout:
    """A drawing."""

    width: int
    height: int
    boxes: tuple[Drawn, ...]
    curves: tuple[Curve, ...]
    frames: tuple[Frame, ...]


def layout(picture: Picture) -> Layout:
    """Place everything; an empty picture has no size."""
    stack_of = {box: number for number, stack in enumerate(picture.stacks) for box in stack}
    width = {n: max(_width(picture.boxes[box]) for box in stack) for n, stack in enumerate(picture.stacks)}
    height = {n: _stack_height(picture, stack) for n, stack in enumerate(picture.stacks)}
    children, roots, level = _forest(picture, stack_of)
    column_width: dict[int, float] = {}
    for number, depth in level.items():
        column_width[depth] = max(column_width.get(depth, 0.0), width[number])
    unions = any(len(picture.stacks[number]) > 1 for number in roots)
    left = {0: float(MARGIN + ARC if unions else MARGIN)}
    for depth in sorted(column_width):
        left[depth + 1] = left[depth] + column_width[depth] + BETWEEN_COLUMNS
    needed = _needed(children, roots, height)
    top: dict[int, float] = {}
    y = float(MARGIN + FRAME)
    for root in roots:
        _place(root, y, children, height, needed, top)
        y += needed[root] + BETWEEN_STACKS
    drawn: dict[int, Drawn] = {}
    frames = []
    for number, stack in enumerate(picture.stacks):
        x, y = left[level[number]], top[number]
        if len(stack) > 1:
            frames.append(Frame(x - ARC, y - FRAME, width[number] + ARC + FRAME, height[number] + 2 * FRAME))
        for box in stack:
            drawn[box] = _drawn(picture.boxes[box], x, y, width[number])
            y += drawn[box].height + BETWEEN_BOXES
    boxes = tuple(drawn[number] for number in range(len(picture.boxes)))
    curves = tuple(
        _curve(link.kind, link.label, boxes[link.start[0]], link.start[1], boxes[link.end[0]], link.end[1])
        for link in picture.links
    )
    right = max((box.x + box.width for box in boxes), default=0.0) + LOOP
    low = max((box.y + box.height for box in boxes), default=0.0) + FRAME + MARGIN
    return Layout(int(right), int(low), boxes, curves, tuple(frames))


def _forest(
    picture: Picture, stack_of: dict[int, int]
) -> tuple[dict[int, list[int]], list[int], dict[int, int]]:
    """(children, roots, depth) of the stacks, breadth first from an end of each tree."""
    near: dict[int, list[int]] = {number: [] for number in range(len(picture.stacks))}
    for link in picture.links:
        a, b = stack_of[link.start[0]], stack_of[link.end[0]]
        if a != b and b not in near[a]:
            near[a].append(b)
            near[b].append(a)
    children: dict[int, list[int]] = {number: [] for number in near}
    roots: list[int] = []
    depth: dict[int, int] = {}
    for start in near:
        if start in depth:
            continue
        whole, waiting = {start}, [start]
        while waiting:
            more = [other for other in near[waiting.pop()] if other not in whole]
            whole.update(more)
            waiting += more
        root = min(whole, key=lambda number: (len(near[number]) > 1, len(picture.stacks[number]), number))
        roots.append(root)
        depth[root] = 0
        queue = [root]
        for number in queue:
            for other in near[number]:
                if other not in depth:
                    depth[other] = depth[number] + 1
                    children[number].append(other)
                    queue.append(other)
    return children, roots, depth


def _needed(children: dict[int, list[int]], roots: list[int], height: dict[int, float]) -> dict[int, float]:
    """Height of each stack with all that it leads to."""
    order = list(roots)
    for number in order:
        order += children[number]
    needed: dict[int, float] = {}
    for number in reversed(order):
        needed[number] = max(height[number], _together(children[number], needed))
    return needed


def _together(numbers: list[int], needed: dict[int, float]) -> float:
    return sum(needed[number] for number in numbers) + BETWEEN_STACKS * max(0, len(numbers) - 1)


def _place(
    root: int,
    y: float,
    children: dict[int, list[int]],
    height: dict[int, float],
    needed: dict[int, float],
    top: dict[int, float],
) -> None:
    waiting = [(root, y)]
    while waiting:
        number, y = waiting.pop()
        top[number] = y + (needed[number] - height[number]) / 2
        below = y + (needed[number] - _together(children[number], needed)) / 2
        for child in children[number]:
            waiting.append((child, below))
            below += needed[child] + BETWEEN_STACKS


def _width(box: Box) -> float:
    texts = [box.title, box.below, *(row.text for row in box.rows)]
    longest = max(min(text_width(text), LONGEST) for text in texts)
    return round(max(longest, 10) * CHARACTER + 2 * PADDING)


def _stack_height(picture: Picture, stack: tuple[int, ...]) -> float:
    return sum(_height(picture.boxes[box]) for box in stack) + BETWEEN_BOXES * (len(stack) - 1)


def _head(box: Box) -> float:
    return HEAD + (LINE if box.below else 0) + (LINE if box.bridge else 0)


def _height(box: Box) -> float:
    lines = len(box.rows) + (box.more > 0)
    return _head(box) + (lines * LINE + 6 if lines else 0)


def _drawn(box: Box, x: float, y: float, width: float) -> Drawn:
    head = _head(box)
    line = lambda at, text, mark="": Line(  # noqa: E731
        at, cut(text, LONGEST), text if len(text) > LONGEST else "", mark
    )
    lines, at = [], y + head + LINE - 2
    for row in box.rows:
        lines.append(line(at, row.text, row.mark))
        at += LINE
    if box.more:
        lines.append(line(at, f"{box.more} more columns", "more"))
    at = y + HEAD - 8
    if box.below:
        at += LINE
        lines.append(line(at, box.below, "below"))
    if box.bridge:
        lines.append(line(at + LINE, "bridge", "bridge"))
    return Drawn(x, y, width, _height(box), head, line(y + HEAD - 8, box.title), tuple(lines), box.bridge)


def _curve(kind: str, label: str, a: Drawn, a_row: int, b: Drawn, b_row: int) -> Curve:
    if kind == "union":
        y, end = a.y + a.head / 2, b.y + b.head / 2
        out = min(ARC, 16 + abs(end - y) / 40)
        path = f"M{a.x:g} {y:g}C{a.x - out:g} {y:g} {b.x - out:g} {end:g} {b.x:g} {end:g}"
        return Curve(kind, path, "", a.x, (y + end) / 2)
    y, end = a.line_at(a_row), b.line_at(b_row)
    if a.x == b.x:
        out = a.x + max(a.width, b.width) + LOOP
        start, stop = a.x + a.width, b.x + b.width
        path = f"M{start:g} {y:g}C{out:g} {y:g} {out:g} {end:g} {stop:g} {end:g}"
        return Curve(kind, path, label, out - 20, (y + end) / 2)
    start, stop = (a.x + a.width, b.x) if a.x < b.x else (a.x, b.x + b.width)
    middle = (start + stop) / 2
    path = f"M{start:g} {y:g}C{middle:g} {y:g} {middle:g} {end:g} {stop:g} {end:g}"
    return Curve(kind, path, label, middle, (y + end) / 2 - 4)

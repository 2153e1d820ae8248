"""A picture read back: its marks with their places on the whole sheet."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from fairhold.drawing.letters import width

if TYPE_CHECKING:
    from collections.abc import Iterator

SVG = "{http://www.w3.org/2000/svg}"
_MOVE = re.compile(r"translate\((-?\d+) (-?\d+)\)")
_STEP = re.compile(r"([MLHVZ])|(-?\d+)")


@dataclass(frozen=True)
class Mark:
    """An element and the corners of what it covers."""

    tag: str
    kind: str
    text: str
    left: int
    top: int
    right: int
    foot: int

    def meets(self, other: Mark) -> bool:
        return self.left < other.right and other.left < self.right and self.top < other.foot and other.top < self.foot


@dataclass(frozen=True)
class Picture:
    """All marks of a picture; rows: those of every consumer; titles: what it says to who cannot see it."""

    width: int
    height: int
    marks: list[Mark]
    rows: list[list[Mark]]
    titles: list[str]
    texts: list[str]

    def of(self, kind: str) -> list[Mark]:
        return [mark for mark in self.marks if mark.kind == kind]

    def faults(self) -> Iterator[str]:
        """What no picture may have: marks beyond its edges, boxes on boxes, words on words of the same row."""
        for mark in self.marks:
            if mark.left < 0 or mark.top < 0 or mark.right > self.width or mark.foot > self.height:
                yield f"beyond the edge: {mark}"
        for kind in ("host", "pool"):
            for one, other in combinations(self.of(kind), 2):
                if one.meets(other):
                    yield f"overlap: {one}, {other}"
        for row in self.rows:
            for one, other in combinations([mark for mark in row if mark.tag == "text"], 2):
                if one.meets(other):
                    yield f"overlap: {one}, {other}"


def read(text: str) -> Picture:
    """Raises ParseError where it is not well-formed."""
    assert text.isascii()
    root = ET.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert [root[0].tag, root[1].tag] == [f"{SVG}title", f"{SVG}desc"]
    assert not re.search(r"<script|href|\bon\w+=|<image|<foreignObject", re.sub(r">[^<]*<", "><", text))
    left, top, wide, high = map(int, root.attrib["viewBox"].split())
    assert (left, top) == (0, 0)
    marks: list[Mark] = []
    rows: list[list[Mark]] = []
    _walk(root, 0, 0, marks, rows)
    titles = [each.text or "" for each in root.iter(f"{SVG}title")]
    texts = [each.text or "" for each in root.iter(f"{SVG}text")]
    return Picture(wide, high, marks, rows, titles, texts)


def _walk(element: ET.Element, x: int, y: int, marks: list[Mark], rows: list[list[Mark]]) -> None:
    move = _MOVE.fullmatch(element.get("transform", ""))
    if move:
        x, y = x + int(move[1]), y + int(move[2])
    tag, first = element.tag.removeprefix(SVG), len(marks)
    corners = {"rect": _rect, "text": _text, "circle": _circle, "path": _path}.get(tag)
    if corners:
        left, top, right, foot = corners(element)
        kind = element.get("class", "")
        marks.append(Mark(tag, kind, element.text or "", x + left, y + top, x + right, y + foot))
    for child in element if tag != "defs" else ():
        _walk(child, x, y, marks, rows)
    if element.get("class") == "consumer":
        rows.append(marks[first:])


def _number(element: ET.Element, name: str) -> int:
    return int(element.attrib[name])


def _rect(element: ET.Element) -> tuple[int, int, int, int]:
    x, y, wide, high = (_number(element, name) for name in ("x", "y", "width", "height"))
    assert wide > 0
    assert high > 0
    return x, y, x + wide, y + high


def _circle(element: ET.Element) -> tuple[int, int, int, int]:
    x, y, r = (_number(element, name) for name in ("cx", "cy", "r"))
    return x - r, y - r, x + r, y + r


def _text(element: ET.Element) -> tuple[int, int, int, int]:
    size = _number(element, "font-size")
    wide = width(element.text or "", size, bold=element.get("font-weight") == "bold")
    x, y = _number(element, "x"), _number(element, "y")
    left = x - {"end": wide, "middle": (wide + 1) // 2}.get(element.get("text-anchor", ""), 0)
    return left, y - size + 2, left + wide, y + 2


def _path(element: ET.Element) -> tuple[int, int, int, int]:
    xs: list[int] = []
    ys: list[int] = []
    step, at = "", 0
    for letter, number in _STEP.findall(element.attrib["d"]):
        if letter:
            step, at = letter, 0
            continue
        is_x = step == "H" or (step in "ML" and at % 2 == 0)
        (xs if is_x else ys).append(int(number))
        at += 1
    return min(xs), min(ys), max(xs), max(ys)

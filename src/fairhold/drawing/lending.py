"""Who may lend to whom, as arrows beside the tree (SPEC §4, `ownership`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.drawing.colours import colour
from fairhold.drawing.letters import width
from fairhold.drawing.marks import EMPTY, SMALL, Block, element, line, text, titled
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fairhold.drawing.colours import Colour
    from fairhold.model.plan import ConsumerSettings, Peer
    from fairhold.model.tree import ConsumerTree

_START, _GAP = 8, 12
MOST = 12
"""Lenders whose lines can be told apart."""
_OUT, _IN = 5, 1
"""A lender's line leaves below the middle of its row, and reaches a borrower above it."""


@dataclass(frozen=True, slots=True)
class Lending:
    """Who may lend to whom.

    limit   : slots at most, the smaller of both sides'; UNLIMITED = none
    is_both : both sides name each other; else nothing is lent
    lent    : slots that are lent now
    """

    lender: int
    borrower: int
    limit: int
    is_both: bool
    lent: int = 0

    @property
    def label(self) -> str:
        """How many slots, in few letters."""
        most = "" if self.limit >= UNLIMITED else f"≤ {self.limit}"
        now = f"{self.lent} lent" if self.lent else ""
        return (", ".join(filter(None, (now, most))) or "any") if self.is_both else "one side only"


def lendings(stated: Mapping[int, ConsumerSettings], lent: Mapping[tuple[int, int], int]) -> list[Lending]:
    """All that lists and loans name, lenders in plan order; lent: (lender, borrower) → slots now."""
    gives = {(row, peer.consumer): peer.limit for row, peer in _peers(stated, "lend_to")}
    takes = {(peer.consumer, row): peer.limit for row, peer in _peers(stated, "borrow_from")}
    return [
        Lending(
            *pair,
            min(gives.get(pair, UNLIMITED), takes.get(pair, UNLIMITED)),
            pair in gives and pair in takes,
            lent.get(pair, 0),
        )
        for pair in sorted({*gives, *takes})
    ]


def _peers(stated: Mapping[int, ConsumerSettings], name: str) -> Iterable[tuple[int, Peer]]:
    return ((row, peer) for row, each in stated.items() for peer in getattr(each, name))


def said(tree: ConsumerTree, found: Sequence[Lending]) -> dict[int, tuple[str, ...]]:
    """Lender → to whom it may lend, in words."""
    lines: dict[int, tuple[str, ...]] = {}
    for each in found:
        lines[each.lender] = (*lines.get(each.lender, ()), f"{tree.paths[each.borrower]} {each.label}")
    return lines


def draw_lendings(tree: ConsumerTree, found: Sequence[Lending], middle: Mapping[int, int]) -> Block:
    """A line for each lender, with an arrow to everybody who may borrow of it.

    middle : consumer → height of its row; as high is what is drawn
    """
    if not found:
        return EMPTY
    by_lender: dict[int, list[Lending]] = {}
    for each in found:
        by_lender.setdefault(each.lender, []).append(each)
    lanes = _lanes(by_lender, middle)
    x, ends = 0, {}
    for lane in range(max(lanes.values()) + 1):
        labels = [each.label for row, mine in by_lender.items() if lanes[row] == lane for each in mine]
        x += _START + max(width(label, SMALL) for label in labels) + _GAP
        ends[lane] = x
    parts = (
        _lender(tree, mine, middle, ends[lanes[row]], colour(key))
        for key, (row, mine) in enumerate(by_lender.items(), start=1)
    )
    return Block(x + _GAP, max(middle.values()) + _GAP, tuple(parts))


def _lanes(by_lender: Mapping[int, Sequence[Lending]], middle: Mapping[int, int]) -> dict[int, int]:
    """Lender → lane: the first in which its line meets no other."""
    lanes: dict[int, int] = {}
    taken: list[list[tuple[int, int]]] = []
    for row, mine in by_lender.items():
        heights = [middle[row], *(middle[each.borrower] for each in mine)]
        top, foot = min(heights) - _GAP, max(heights) + _GAP
        taken.append([])  # there is always one more, and it is free
        lanes[row] = next(
            lane for lane, spans in enumerate(taken) if all(foot < start or end < top for start, end in spans)
        )
        taken[lanes[row]].append((top, foot))
    return lanes


def _lender(tree: ConsumerTree, mine: Sequence[Lending], middle: Mapping[int, int], x: int, shown: Colour) -> str:
    """The line of one lender with its arrows."""
    row, stroke = mine[0].lender, {"stroke": shown.strong, "stroke_width": 2}
    out = middle[row] + _OUT
    marks = [element("circle", cx=4, cy=out, r=3, fill=shown.strong)]
    heights = [out, *(middle[each.borrower] + _IN for each in mine if each.is_both)]
    if len(heights) > 1:
        marks.append(line("M", 4, out, "H", x, "M", x, min(heights), "V", max(heights), **stroke))
    told = []
    for each in mine:
        y = middle[each.borrower] + _IN
        dash = None if each.is_both else "3 3"
        start = ("M", x, y) if each.is_both else ("M", 4, out, "H", x, "V", y)
        marks.append(line(*start, "H", _START, stroke_dasharray=dash, **stroke))
        marks.append(element("path", d=f"M2 {y} L{_START + 1} {y - 4} L{_START + 1} {y + 4} Z", fill=shown.strong))
        marks.append(text(x - 5, y - 4, each.label, SMALL, text_anchor="end"))
        told.append(f"{tree.paths[each.borrower]} ({each.label})")
    return titled(f"{tree.paths[row]} may lend to {', '.join(told)}", marks, class_="lender")

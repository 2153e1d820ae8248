"""Bars of slots: what a consumer owns, reserves and holds, its limit and its quota, all on one scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from fairhold.drawing.colours import LENT, NOTICE, colour, reserved
from fairhold.drawing.legend import legend
from fairhold.drawing.marks import INK, PAPER, WARNING, Block, box, element, line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

_WIDE, _HIGH = 240, 16
_TOP, _THICK = 5, 8
"""Of what is held, inside what is owned."""
_ROOM = 560


@dataclass(frozen=True, slots=True)
class Bar:
    """The numbers of one consumer.

    key     : of its colour, 0 = the root
    longest : slots that the whole width stands for
    owned   : of the root all slots
    limit   : None where there is none, or it lies beyond the width
    held    : None = not shown, nor are `noticed`, `wanted` and `quota`
    is_leaf : only leaves hold something as borrowed
    """

    key: int
    longest: int
    owned: int
    reserved: int
    planned: Fraction
    limit: int | None
    held: int | None
    noticed: int
    wanted: int
    quota: int
    is_leaf: bool

    def block(self) -> Block:
        """The bar."""
        shown = colour(self.key)
        parts = [line("M", 0, _HIGH, "H", _WIDE, stroke_dasharray="1 3")]
        base = max(self._x(self.owned), self._x(self.planned))
        if base:
            fill = PAPER if not self.key else shown.light
            parts.append(box(0, 0, base, _HIGH, fill=fill, stroke=shown.strong))
        if self.reserved:
            parts.append(reserved(0, 0, self._x(self.reserved), _HIGH))
        if self.held is not None:
            parts += self._used(self.held)
        if self.limit is not None:
            parts.append(_limit(self._x(self.limit)))
        return Block(_WIDE + 4, _HIGH, tuple(parts))

    def _x(self, slots: Fraction | int) -> int:
        """How far some slots reach; what is there can be seen."""
        return max(int(slots > 0), min(_WIDE, int(_WIDE * slots // self.longest)))

    def _used(self, held: int) -> list[str]:
        """What is held: on its own, borrowed, and under notice; what is wanted beyond, and the quota."""
        end, own = self._x(held), self._x(min(held, self.owned) if self.is_leaf else held)
        going = self._x(held - min(held, self.noticed))
        fill = colour(self.key).strong
        parts = [box(0, _TOP, end, _THICK, fill=fill)] if end else []
        if end > own:
            parts.append(box(own, _TOP, end - own, _THICK, fill=LENT, stroke=fill))
        if end > going:
            parts.append(box(going, _TOP, end - going, _THICK, fill=NOTICE, stroke=WARNING))
        wanted = self._x(self.wanted)
        if wanted > end:
            parts.append(box(end, _TOP, wanted - end, _THICK, fill="none", stroke=INK, stroke_dasharray="2 2"))
        return [*parts, _quota(self._x(self.quota))]


def _limit(x: int) -> str:
    return line("M", x, 0, "V", _HIGH, "M", max(0, x - 4), 0, "H", x, "M", max(0, x - 4), _HIGH, "H", x, stroke=INK)


def _quota(x: int) -> str:
    left, right = max(0, x - 4), min(_WIDE + 4, x + 4)
    return element("path", d=f"M{left} 0 L{right} 0 L{x} 6 Z", fill=INK) + line("M", x, 0, "V", _HIGH, stroke=INK)


class Words(NamedTuple):
    """What is told of bars."""

    owned: str = "owned"
    beyond: str = "held beyond what it owns"
    quota: str = "quota"


OF_QUEUES = Words("deserved", "held beyond what it deserves", "fair share")


def bar_legend(bars: Sequence[Bar], *, has_arrows: bool, words: Words | None = None) -> Block:
    """What the marks mean that there are; words: other ones than those of slots."""
    words = words or Words()
    light, strong = colour(1).light, colour(1).strong
    inner = (0, 3, 22, 8)
    held = any(bar.held for bar in bars)
    used = [bar for bar in bars if bar.held is not None]
    signs = (
        (any(bar.owned for bar in bars if bar.key), box(0, 0, 22, 14, fill=light, stroke=strong), words.owned),
        (any(bar.planned for bar in bars), box(0, 0, 22, 14, fill=light, stroke=strong), "planned share"),
        (any(bar.reserved for bar in bars), reserved(0, 0, 22, 14), "reserved"),
        (any(bar.limit is not None for bar in bars), _limit(11), "limit"),
        (held, box(*inner, fill=strong), "held"),
        (
            any(bar.is_leaf and (bar.held or 0) > bar.owned for bar in bars),
            box(*inner, fill=strong) + box(*inner, fill=LENT, stroke=strong),
            words.beyond,
        ),
        (
            any(bar.noticed for bar in used),
            box(*inner, fill=NOTICE, stroke=WARNING),
            "under notice",
        ),
        (
            any(bar.wanted > (bar.held or 0) for bar in used),
            box(*inner, fill="none", stroke=INK, stroke_dasharray="2 2"),
            "wanted beyond that",
        ),
        (bool(used), _quota(11), words.quota),
        (has_arrows, line("M", 0, 7, "H", 22, stroke=colour(1).strong, stroke_width=2), "may lend to"),
    )
    return legend([(sign, meaning) for is_there, sign, meaning in signs if is_there], _ROOM)

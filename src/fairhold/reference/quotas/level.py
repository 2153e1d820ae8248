"""The entitlement of a group of slots: what every division returns, and how it goes down from the root."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, TypeVar

from fairhold.reference.filling import rounded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairhold.reference.consumers import Consumers

Number = TypeVar("Number", int, Fraction)


@dataclass
class Entitlement:
    """By path. A division fills in what its policy has.

    floor   : whole slots that come before all that is shared (R-QUOTA-3); with ratios of what is planned (R-SHARE-5)
    ceiling : what rounding could give at most (R-PROTECT-1)
    own     : under `ownership` what a leaf has of R-OWN-1, R-OWN-2
    loans   : under `ownership` (borrower, lender) → slots lent by R-LEND-2
    planned : exact planned share (R-SHARE-3)
    """

    demand: Mapping[str, int]
    need: Mapping[str, int]
    reserve: Mapping[str, int]
    scale: Mapping[str, Fraction]
    quota: dict[str, int] = field(default_factory=dict)
    exact: dict[str, Fraction] = field(default_factory=dict)
    ceiling: dict[str, int] = field(default_factory=dict)
    own: dict[str, int] = field(default_factory=dict)
    balance: dict[str, int] = field(default_factory=dict)
    loans: dict[tuple[str, str], int] = field(default_factory=dict)
    planned: dict[str, Fraction] = field(default_factory=dict)
    planned_whole: dict[str, int] = field(default_factory=dict)
    blocked: int = 0

    def whole_scale(self, path: str) -> int:
        """Whole slots of what it owns now."""
        return floor(self.scale[path])


def top_down(
    consumers: Consumers, start: str, amount: int, share: Callable[[str, int | Fraction], dict[str, Fraction]]
) -> dict[str, int]:
    """Quotas below a consumer: every parent's whole number is shared and rounded (R-QUOTA-2, R-ROUND-1)."""

    def whole(parent: str, number: int) -> dict[str, int]:
        exact = share(parent, number)
        return rounded(exact, int(sum(exact.values())), consumers.rank)

    return _down(start, amount, whole)


def unrounded(
    start: str, amount: int, share: Callable[[str, int | Fraction], dict[str, Fraction]]
) -> dict[str, Fraction]:
    """R-EXACT-1: the same when no level is rounded."""
    return _down(start, Fraction(amount), share)


def rounded_up(start: str, amount: int, share: Callable[[str, int | Fraction], dict[str, Fraction]]) -> dict[str, int]:
    """R-PROTECT-1: the same when every share is rounded up."""
    return _down(
        start, amount, lambda parent, number: {path: ceil(part) for path, part in share(parent, number).items()}
    )


def _down(start: str, amount: Number, share: Callable[[str, Number], dict[str, Number]]) -> dict[str, Number]:
    """Path → its part, each parent's number shared among its children."""
    found: dict[str, Number] = {}
    left = [(start, amount)]
    while left:
        parts = share(*left.pop())
        found |= parts
        left += parts.items()
    return found

"""What a cycle decides, in rows of the books, and its effect on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.ledger import transitions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.ledger.books import Books


class Grant(NamedTuple):
    """Units for a request on a host, from now on."""

    request: int
    host: int
    units: int


class NoticeGiven(NamedTuple):
    """Units of an allocation to be given back by the deadline.

    taker  : row of the leaf that gets them, NOBODY = none; for information only (R-FOR-1)
    reason : position in model.state.REASONS
    """

    allocation: int
    units: int
    taker: int
    deadline: int
    reason: int


class Withdrawal(NamedTuple):
    """Units of a notice that may stay after all."""

    notice: int
    units: int


class Shortage(NamedTuple):
    """A leaf with a deficit, where something says when it reclaims (R-CONTROL-2, R-CONTROL-3).

    since     : instant of the cycle since which it has had a deficit without a break
    is_taking : it reclaims, until it has no deficit
    """

    since: int
    is_taking: bool


class Decision(NamedTuple):
    """What one cycle decides for one resource group.

    pins  : units of notices that count for a switch of windows and can no longer be withdrawn (R-SWITCH-1)
    loans : (borrower, lender) → units, if they have changed (R-LEND-4); None = unchanged
    keeps : all units held for gangs (R-HOLD-1), if they have changed; None = unchanged
    shortages : leaf → its shortage, if any has changed; None = unchanged
    observed : notices that are only reported, not given (R-CONTROL-4)
    due   : instant at which a cycle may reclaim what this one leaves for later, None = it leaves nothing
    """

    grants: tuple[Grant, ...] = ()
    notices: tuple[NoticeGiven, ...] = ()
    withdrawals: tuple[Withdrawal, ...] = ()
    pins: tuple[Withdrawal, ...] = ()
    loans: dict[tuple[int, int], int] | None = None
    keeps: tuple[Grant, ...] | None = None
    shortages: dict[int, Shortage] | None = None
    observed: tuple[NoticeGiven, ...] = ()
    due: int | None = None

    def not_after(self, instant: int) -> Decision:
        """The same decision, with another cycle due by an instant."""
        return self._replace(due=instant if self.due is None else min(self.due, instant))

    @property
    def shown(self) -> tuple[tuple[int, int, int, int], ...]:
        """The observed notices without their deadline, which every cycle moves."""
        return tuple((each.allocation, each.units, each.taker, each.reason) for each in self.observed)

    @property
    def changes_nothing(self) -> bool:
        """Whether applying it leaves the books unchanged."""
        is_any = self.grants or self.notices or self.withdrawals or self.pins
        return not is_any and self.loans is None and self.keeps is None and self.shortages is None


NOTHING = Decision()
"""A cycle that decides nothing."""


def apply(books: Books, decision: Decision, now: int) -> None:
    """Book a decision. Withdrawals and pins go first: their rows are those of the books before."""
    book_withdrawals(books, decision)
    book_notices(books, decision)
    for grant in decision.grants:
        transitions.grant(books, *grant, now)
    book_rest(books, decision, now)


def book_withdrawals(books: Books, decision: Decision) -> list[int]:
    """Book the withdrawn notices and the pins; returns the allocations that may stay, one entry a withdrawal."""
    allocations = [books.notices.allocation[withdrawal.notice] for withdrawal in decision.withdrawals]
    for withdrawal in decision.withdrawals:
        transitions.withdraw(books, *withdrawal)
    for pin in decision.pins:
        transitions.pin(books, *pin)
    return allocations


def book_rest(books: Books, decision: Decision, now: int) -> None:
    """Book loans and shortages, and that a cycle has run since the last switch."""
    if decision.loans is not None:
        books.borrowed = dict(decision.loans)
    if decision.shortages is not None:
        books.shortages = dict(decision.shortages)
    if decision.keeps is not None:
        book_keeps(books, decision.keeps)
    books.ran, books.due = now, decision.due
    books.before = ()


def book_notices(books: Books, decision: Decision) -> None:
    """Book the new notices."""
    for notice in decision.notices:
        transitions.give_notice(books, *notice)


def book_keeps(books: Books, kept: Iterable[Grant]) -> None:
    """Book the units held for gangs; they replace all that were kept."""
    for row in list(books.keeps.live):
        transitions.unkeep(books, row, books.keeps.units[row])
    for each in kept:
        transitions.keep(books, *each)

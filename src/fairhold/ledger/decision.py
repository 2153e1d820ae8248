"""What a cycle decides, in rows of the books, and its effect on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.ledger import transitions

if TYPE_CHECKING:
    from fairhold.ledger.books import Books


class Grant(NamedTuple):
    """Units for a request on a host, from now on."""

    request: int
    host: int
    units: int


class NoticeGiven(NamedTuple):
    """Units of an allocation to be given back by the deadline.

    taker  : row of the leaf that they are on their way to, NOBODY = none; informs only (R-FOR-1)
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


class Decision(NamedTuple):
    """What one cycle decides for one resource group.

    pins  : units of notices that count for a switch of windows and can no longer be withdrawn (R-SWITCH-1)
    loans : (borrower, lender) → units, where they are others than before (R-LEND-4); None = they are the same
    """

    grants: tuple[Grant, ...] = ()
    notices: tuple[NoticeGiven, ...] = ()
    withdrawals: tuple[Withdrawal, ...] = ()
    pins: tuple[Withdrawal, ...] = ()
    loans: dict[tuple[int, int], int] | None = None


def apply(books: Books, decision: Decision, now: int) -> None:
    """Book a decision. Withdrawals and pins go first: their rows are those of the books before."""
    book_withdrawals(books, decision)
    book_notices(books, decision)
    for grant in decision.grants:
        transitions.grant(books, *grant, now)
    book_rest(books, decision)


def book_withdrawals(books: Books, decision: Decision) -> list[int]:
    """Book the withdrawn notices and the pins; returns the allocations that may stay, one entry a withdrawal."""
    allocations = [books.notices.allocation[withdrawal.notice] for withdrawal in decision.withdrawals]
    for withdrawal in decision.withdrawals:
        transitions.withdraw(books, *withdrawal)
    for pin in decision.pins:
        transitions.pin(books, *pin)
    return allocations


def book_rest(books: Books, decision: Decision) -> None:
    """Book who uses whose slots, and that a cycle has run since the last switch."""
    if decision.loans is not None:
        books.borrowed = dict(decision.loans)
    books.before = ()


def book_notices(books: Books, decision: Decision) -> None:
    """Book the new notices."""
    for notice in decision.notices:
        transitions.give_notice(books, *notice)

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
    """What one cycle decides for one resource group."""

    grants: tuple[Grant, ...] = ()
    notices: tuple[NoticeGiven, ...] = ()
    withdrawals: tuple[Withdrawal, ...] = ()


def apply(books: Books, decision: Decision, now: int) -> None:
    """Book a decision. Withdrawals go first: their rows are those of the books before."""
    book_withdrawals(books, decision)
    book_notices(books, decision)
    for grant in decision.grants:
        transitions.grant(books, *grant, now)


def book_withdrawals(books: Books, decision: Decision) -> list[int]:
    """Book the withdrawn notices; returns the allocations that may stay, one entry a withdrawal."""
    allocations = [books.notices.allocation[withdrawal.notice] for withdrawal in decision.withdrawals]
    for withdrawal in decision.withdrawals:
        transitions.withdraw(books, *withdrawal)
    return allocations


def book_notices(books: Books, decision: Decision) -> None:
    """Book the new notices."""
    for notice in decision.notices:
        transitions.give_notice(books, *notice)

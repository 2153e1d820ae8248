"""Carries out the decisions of a cycle of slots, as changes and instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.ledger.tables import NOBODY
from fairhold.model.state import REASONS
from fairhold.orchestrator import changes as say
from fairhold.orchestrator.attempts import Notice, leave_by
from fairhold.orchestrator.instructions import Notify, Withdraw
from fairhold.orchestrator.kept_units import kept_told
from fairhold.orchestrator.loans import shortages_told, told

if TYPE_CHECKING:
    from fairhold.ledger.decision import Decision
    from fairhold.orchestrator.handle import Orchestrator


def carry_out(live: Orchestrator, group: str, decision: Decision, *, grants: bool, reclaims: bool) -> None:
    """Withdraw, pin and give notices, then start; what is paused is left for a later cycle."""
    books = live.books[group]
    if reclaims:
        _withdraw(live, group, decision)
        _pin(live, group, decision)
        _notify(live, group, decision)
    if grants:
        kept = kept_told(books, decision.keeps or ())  # starts make requests that may use their rows again
        grant(live, group, decision)
        if decision.keeps is not None:
            live.do(say.Kept(group, kept))
        if decision.loans is not None:
            live.do(say.LoansCounted(group, tuple(told(books, decision.loans.items()))))
    if decision.shortages is not None:
        live.do(say.ShortagesCounted(group, shortages_told(books, decision.shortages)))


def grant(live: Orchestrator, group: str, decision: Decision) -> None:
    """Start tasks on granted units: tasks of one slot one by one, one of several at once on all its hosts."""
    books = live.books[group]
    gangs: dict[int, list[tuple[str, int]]] = {}
    for given in decision.grants:
        host = books.hosts.name[given.host]
        job = live.cluster.job_of[group][given.request]
        if job is not None and job.gangs is not None:
            gangs.setdefault(given.request, []).append((host, given.units))
            continue
        for _ in range(given.units):
            live.start(group, given.request, ((host, 1),))
    for request, places in gangs.items():
        live.start(group, request, tuple(places))


def _withdraw(live: Orchestrator, group: str, decision: Decision) -> None:
    books = live.books[group]
    for notice, _ in decision.withdrawals:
        if books.notices.units[notice] == 0:  # of a gang, whose notices go together
            continue
        attempt = live.cluster.attempt_of[group][books.notices.allocation[notice]]
        live.do(say.Withdrawn(attempt.name))
        if attempt.leaving is not None and not attempt.stopping:
            live.order(Notify(attempt.name, *leave_by(attempt.leaving)))
        elif not attempt.stopping:
            live.order(Withdraw(attempt.name))


def _pin(live: Orchestrator, group: str, decision: Decision) -> None:
    allocation, attempt_of = live.books[group].notices.allocation, live.cluster.attempt_of[group]
    for name in dict.fromkeys(attempt_of[allocation[pin.notice]].name for pin in decision.pins):
        live.do(say.Pinned(name))


def _notify(live: Orchestrator, group: str, decision: Decision) -> None:
    books = live.books[group]
    known: set[int] = set()
    for notice in decision.notices:
        attempt = live.cluster.attempt_of[group][notice.allocation]
        if attempt.name in known:  # a gang gives all its units at once
            continue
        known.add(attempt.name)
        taker = "" if notice.taker == NOBODY else books.rows.path(notice.taker)
        live.do(say.Noticed(attempt.name, *Notice(notice.deadline, REASONS[notice.reason], taker, live.cluster.cycles)))
        assert attempt.told is not None
        if not attempt.stopping:
            live.order(Notify(attempt.name, *attempt.told))

"""Books with some values changed, for their quotas only: what a change would give is tried on them."""

from __future__ import annotations

from array import array
from copy import copy, deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from fairhold.kernels.columns import PlanColumns
from fairhold.ledger import transitions
from fairhold.ledger.books import Books
from fairhold.ledger.relay import relay

if TYPE_CHECKING:
    from fairhold.ledger.rows import Rows


def apart(books: Books, now: int) -> Books:
    """A copy of all that quotas depend on, for a search that goes on while the books change.

    Who stands where is copied only where whole hosts go to one consumer. Notices and what cycles have left for the next
    one are no part of it.
    """
    other = Books(books.rows)
    other.is_trial = True
    for name in ("demand", "held", "noticed", "kept"):
        setattr(other, name, getattr(books, name)[:])
    if books.spending is not None and other.spending is not None:
        for node, used in books.spending.used(now).items():
            other.spending.set(node, used, now)
    other.hosts, other.requests = books.hosts.apart(), books.requests.apart()
    if books.rows.is_exclusive:
        other.allocations = books.allocations.apart()
    return other


@dataclass(frozen=True)
class Trial:
    """Values to try on one resource group.

    host : of which there are `more_slots`; -1 = the group's one, or a new one where none is up
    """

    owned: dict[int, int] = field(default_factory=dict)
    limit: dict[int, int] = field(default_factory=dict)
    ratio: dict[int, int] = field(default_factory=dict)
    demand: dict[int, int] = field(default_factory=dict)
    configured: int | None = None
    host: int = -1
    more_slots: int = 0


def vary(books: Books, trial: Trial) -> Books:
    """Books with some values changed."""
    rows = books.rows
    owned, limit = array("q", rows.plan.owned), array("q", rows.plan.limit)
    for row, value in trial.owned.items():
        owned[row] = value
    for row, value in trial.limit.items():
        limit[row] = value
    ratio = array("q", rows.ratio)
    for row, value in trial.ratio.items():
        ratio[row] = value
    plan = PlanColumns(owned, rows.plan.reserved, limit)
    configured = rows.configured if trial.configured is None else trial.configured
    other = replace(rows, plan=plan, ratio=ratio, configured=configured)
    other.__dict__["controls"] = rows.controls
    return move_to(books, other, trial.demand, trial.host, trial.more_slots)


def with_user_limit(rows: Rows, leaf: int, units: int) -> Rows:
    """The same rows with another user limit in a leaf."""
    controls = copy(rows.controls)
    limits = array("q", controls.user_limit)
    limits[leaf] = units
    controls.__dict__["user_limit"] = limits
    other = replace(rows, known={})
    other.__dict__["controls"] = controls
    return other


def move_to(books: Books, rows: Rows, demand: dict[int, int], host: int = -1, more_slots: int = 0) -> Books:
    """Books on other rows of the same consumers, with the demand of some leaves and the slots changed.

    What does not change is shared with the books, which must stay as they are meanwhile.
    """
    other = copy(books)
    other.is_trial = True
    other.spending = None
    other.demand = array("q", books.demand)
    for leaf, units in demand.items():
        other.demand[leaf] = units
    if more_slots:
        other.hosts = deepcopy(books.hosts)
        hosts = [each for each in range(len(other.hosts.name)) if other.hosts.up[each]]
        if host < 0 and not hosts:
            transitions.add_host(other, "", more_slots)
        else:
            other.hosts.slots[host if host >= 0 else hosts[0]] += more_slots
    other.requests, other.notices = copy(books.requests), copy(books.notices)
    other.requests.leaf, other.notices.taker = books.requests.leaf[:], books.notices.taker[:]
    other.requests.lines = copy(books.requests.lines)
    relay(other, rows)
    return other

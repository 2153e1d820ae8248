"""The books of one resource group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.columns import zeros
from fairhold.ledger.divisions import Divisions
from fairhold.ledger.spending import Spending
from fairhold.ledger.tables import Allocations, Hosts, KeptUnits, Notices, Requests

if TYPE_CHECKING:
    from fairhold.ledger.decision import Shortage
    from fairhold.ledger.rows import Rows
    from fairhold.ledger.vectors import Vectors


class Books:
    """Hosts, requests, allocations, units under notice and kept units of one resource group, in columns.

    Changed only by the functions in `transitions`; read by `snapshot`. Every transition keeps the sums per consumer up
    to date, so that a cycle starts by copying columns instead of counting.

    rows    : columns of the plan
    before  : the entries in force at the last cycle, if they differ from now; empty = they are the same
    borrowed : (borrower, lender) → units that a leaf uses of another, after the last cycle (R-LEND-4)
    shortages : leaf → instant since which it misses units, where that matters, after the last cycle (R-CONTROL-3)
    ran     : instant of the last cycle, None = unknown
    due     : instant at which a cycle may reclaim what the last one has left for later, None = it has left nothing
    spending : what consumers with a budget have used; None = no consumer has one
    divisions : those of earlier cycles under the same columns, which may be used again
    vectors : data of units of vectors beside these tables; None = the units are slots
    demand, held, noticed, kept : (rows,) sums per leaf, 0 at parents
    is_trial : a copy for trying values: its sums need not match its requests, and it does not know the hosts of
        units
    """

    __slots__ = (
        "allocations",
        "before",
        "borrowed",
        "demand",
        "divisions",
        "due",
        "held",
        "hosts",
        "is_trial",
        "keeps",
        "kept",
        "noticed",
        "notices",
        "ran",
        "requests",
        "rows",
        "shortages",
        "spending",
        "vectors",
    )

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.before: tuple[int, ...] = ()
        self.borrowed: dict[tuple[int, int], int] = {}
        self.shortages: dict[int, Shortage] = {}
        self.ran: int | None = None
        self.due: int | None = None
        self.spending = Spending(rows) if rows.controls.has_budgets else None
        self.vectors: Vectors | None = None
        self.divisions = Divisions()
        self.is_trial = False
        self.demand = zeros(len(rows))
        self.held = zeros(len(rows))
        self.noticed = zeros(len(rows))
        self.kept = zeros(len(rows))
        self.hosts = Hosts()
        self.requests = Requests()
        self.allocations = Allocations()
        self.notices = Notices()
        self.keeps = KeptUnits()

    def use(self, rows: Rows) -> None:
        """Other columns of the same plan hold from now on: of other entries, or with other budgets used up.

        Demand, allocations and notices stay as they are (R-WINDOW-2).
        """
        before = self.before or self.rows.force
        self.before = () if before == rows.force else before
        if rows is not self.rows:
            self.rows, self.divisions = rows, Divisions()
        if self.spending is not None:
            self.spending.use(rows)

    @property
    def slots(self) -> int:
        """Slots of the group now: those of hosts that are up, plus those in use on the others (R-UP-1)."""
        return sum(self.hosts.slots)

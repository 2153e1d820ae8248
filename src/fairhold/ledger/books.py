"""The books of one resource group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.columns import zeros
from fairhold.ledger.spending import Spending
from fairhold.ledger.tables import Allocations, Hosts, KeptUnits, Notices, Requests

if TYPE_CHECKING:
    from fairhold.ledger.decision import Shortage
    from fairhold.ledger.rows import Rows
    from fairhold.ledger.vectors import Vectors


class Books:
    """Hosts, requests, allocations, units under notice and kept units of one resource group, in columns.

    Changed only by the functions in `transitions`; read by `snapshot`. The sums per consumer are kept up to date by
    every transition, so that a cycle starts by copying columns and not by counting.

    rows    : the plan's side
    before  : the entries in force at the cycle before, where they are others than now; empty = they are the same
    borrowed : (borrower, lender) → units that a leaf uses of another's, as the cycle before has left it (R-LEND-4)
    shortages : leaf → since when it misses units, where that matters, as the cycle before has left it (R-CONTROL-3)
    ran     : instant of the cycle before, None = unknown
    due     : instant at which a cycle may take back what the one before has left for later, None = it has left nothing
    spending : what consumers with a budget have used; None = nobody has one
    vectors : what units of vectors have beside these tables; None = the units are slots
    demand, held, noticed, kept : (rows,) sums per leaf, 0 at parents
    is_trial : a copy on which values are tried: its sums need not be those of its requests, nor does it know who
        stands where
    """

    __slots__ = (
        "allocations",
        "before",
        "borrowed",
        "demand",
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

    @property
    def slots(self) -> int:
        """Slots of the group now: of hosts that are up, and what is booked on the others (R-UP-1)."""
        return sum(self.hosts.slots)

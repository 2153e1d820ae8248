"""The tables of the books: columns that reuse free rows, with small indexes for fast look-ups."""

from __future__ import annotations

from array import array
from copy import copy
from typing import TYPE_CHECKING

from fairhold.ledger.wait_queue import Lines

if TYPE_CHECKING:
    from typing import Self

    from fairhold.model.siting import Siting

NOBODY = -1
NO_USER = 0
"""Place among the users of the one without a name."""


class Table:
    """Columns of whole numbers, one entry a row; a dropped row is used again by the next `add`."""

    __slots__ = ("_all", "_free", "columns")

    def __init__(self, *names: str) -> None:
        self.columns = {name: array("q") for name in names}
        self._all = tuple(self.columns.values())
        self._free: list[int] = []

    def add(self, *values: int) -> int:
        """Add a row; `values` in the order of the columns' names. Returns the row."""
        if self._free:
            row = self._free.pop()
            for column, value in zip(self._all, values, strict=True):
                column[row] = value
            return row
        row = len(self._all[0])
        for column, value in zip(self._all, values, strict=True):
            column.append(value)
        return row

    def drop(self, row: int) -> None:
        """Free a row."""
        self._free.append(row)

    def apart(self) -> Self:
        """A copy that the changes of this one leave as it is."""
        other = copy(self)
        other.columns = {name: column[:] for name, column in self.columns.items()}
        other._all, other._free = tuple(other.columns.values()), self._free[:]  # noqa: SLF001 - its own
        for name, column in other.columns.items():
            setattr(other, name, column)
        return other

    def rows(self) -> list[int]:
        """All rows but the free ones."""
        free = set(self._free)
        return [row for row in range(len(self._all[0])) if row not in free]


class Requests(Table):
    """Requests of leaves for units.

    leaf, count, minimum, priority, submitted, held, noticed, user, queued, time_limit, since : (requests,)
        `count` units are wanted, running ones included; `held` of them are held, `noticed` of these under notice;
        a gang runs with at least `minimum` units or not at all (0: no gang); `user` is a position in `users`;
        `queued` units of it wait in `lines`; a unit runs `time_limit` microseconds at most (0: any time);
        `since` is the instant since which it could be served
    id      : (requests,) name of the request; empty for the one request that stands for a leaf's plain counts
    users   : names, the nameless one first
    holders : leaf → its requests that hold units; gangs: those of them with a minimum
    used_by : (leaf, user) → units that the user's requests hold there
    lines   : who waits in front of whom
    siting  : request → what it says of hosts, of those that say anything
    """

    __slots__ = (
        "count",
        "gangs",
        "held",
        "holders",
        "id",
        "leaf",
        "lines",
        "minimum",
        "noticed",
        "priority",
        "queued",
        "since",
        "siting",
        "submitted",
        "time_limit",
        "used_by",
        "user",
        "user_of",
        "users",
    )

    def __init__(self) -> None:
        super().__init__(
            *("leaf", "count", "minimum", "priority", "submitted", "held", "noticed", "user", "queued"),
            *("time_limit", "since"),
        )
        for name, column in self.columns.items():
            setattr(self, name, column)
        self.id: list[str] = []
        self.users = [""]
        self.user_of = {"": NO_USER}
        self.holders: dict[int, dict[int, None]] = {}
        self.gangs: dict[int, dict[int, None]] = {}
        self.used_by: dict[tuple[int, int], int] = {}
        self.lines = Lines(self)
        self.siting: dict[int, Siting] = {}

    @property
    def by_leaf(self) -> dict[int, list[int]]:
        """Leaf → its requests; made when asked for, nothing that is done often needs it."""
        found: dict[int, list[int]] = {}
        for row in self.rows():
            found.setdefault(self.leaf[row], []).append(row)
        return found

    @property
    def row_of(self) -> dict[str, int]:
        """Id → row of every request that has a name; made when asked for."""
        return {self.id[row]: row for row in self.rows() if self.id[row]}

    def user_row(self, name: str) -> int:
        """Position of a user's name, a new one where it has none."""
        row = self.user_of.get(name)
        if row is None:
            row = self.user_of[name] = len(self.users)
            self.users.append(name)
        return row

    def apart(self) -> Self:
        """A copy that the changes of this one leave as it is."""
        other = super().apart()
        other.id, other.users, other.user_of = self.id[:], self.users[:], {**self.user_of}
        other.used_by, other.siting = {**self.used_by}, {**self.siting}
        other.holders = {leaf: {**rows} for leaf, rows in self.holders.items()}
        other.gangs = {leaf: {**rows} for leaf, rows in self.gangs.items()}
        other.lines = self.lines.apart(other)
        return other

    leaf: array[int]
    count: array[int]
    minimum: array[int]
    priority: array[int]
    submitted: array[int]
    held: array[int]
    noticed: array[int]
    user: array[int]
    queued: array[int]
    time_limit: array[int]
    since: array[int]


class Allocations(Table):
    """Units that requests hold on hosts, one row for units of one request on one host that started together.

    request, host, units, noticed, started, serial : (allocations,)
        serial: counts up, tells earlier allocations from later ones of the same instant; rows are used again
    by_request : request → its allocations, oldest first
    latest_gang : instant at which the last one of a gang started
    """

    __slots__ = ("by_request", "host", "latest_gang", "next_serial", "noticed", "request", "serial", "started", "units")

    def __init__(self) -> None:
        super().__init__("request", "host", "units", "noticed", "started", "serial")
        for name, column in self.columns.items():
            setattr(self, name, column)
        self.by_request: dict[int, dict[int, None]] = {}
        self.next_serial = 0
        self.latest_gang = 0

    def apart(self) -> Self:
        """A copy that the changes of this one leave as it is."""
        other = super().apart()
        other.by_request = {request: {**rows} for request, rows in self.by_request.items()}
        return other

    request: array[int]
    host: array[int]
    units: array[int]
    noticed: array[int]
    started: array[int]
    serial: array[int]


class Notices(Table):
    """Units under notice: still held, to be given back by their deadline.

    allocation, units, taker, deadline, reason, serial : (notices,)
        taker: row of the leaf that gets them, NOBODY = none; reason: position in model.state.REASONS;
        serial: counts up, tells earlier notices from later ones
    by_allocation : allocation → its notices
    due : heap of (deadline, serial, row); entries of notices that are gone are dropped when they come up
    """

    __slots__ = ("allocation", "by_allocation", "deadline", "due", "next_serial", "reason", "serial", "taker", "units")

    def __init__(self) -> None:
        super().__init__("allocation", "units", "taker", "deadline", "reason", "serial")
        for name, column in self.columns.items():
            setattr(self, name, column)
        self.by_allocation: dict[int, dict[int, None]] = {}
        self.due: list[tuple[int, int, int]] = []
        self.next_serial = 0

    allocation: array[int]
    units: array[int]
    taker: array[int]
    deadline: array[int]
    reason: array[int]
    serial: array[int]


class Hosts(Table):
    """Hosts in inventory order; a group that is a plain number of slots has one host without a name.

    slots, used, kept, up : (hosts,) slots it has, slots held on it, freed slots kept for a request, 1 = up
    name   : (hosts,)
    row_of : name → row
    closed : rows of hosts that start nothing, including those that are down: slots freed there cannot be used
    labels : row → what can be asked for of a host, see `label_set`; hosts without labels are left out
    """

    __slots__ = ("closed", "kept", "labels", "name", "row_of", "slots", "up", "used")

    def __init__(self) -> None:
        super().__init__("slots", "used", "kept", "up")
        for name, column in self.columns.items():
            setattr(self, name, column)
        self.name: list[str] = []
        self.row_of: dict[str, int] = {}
        self.closed: set[int] = set()
        self.labels: dict[int, frozenset[str]] = {}

    def apart(self) -> Self:
        """A copy that the changes of this one leave as it is."""
        other = super().apart()
        other.name, other.row_of = self.name[:], {**self.row_of}
        other.closed, other.labels = {*self.closed}, {**self.labels}
        return other

    slots: array[int]
    used: array[int]
    kept: array[int]
    up: array[int]


class KeptUnits(Table):
    """Freed units on a host that are kept for one request.

    request, host, units : (rows,)
    """

    __slots__ = ("host", "live", "request", "units")

    def __init__(self) -> None:
        super().__init__("request", "host", "units")
        for name, column in self.columns.items():
            setattr(self, name, column)
        self.live: dict[int, None] = {}

    request: array[int]
    host: array[int]
    units: array[int]

"""The parts of the accounting: the meter of an account, the units of a leaf, the lenders of a resource group."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from fairhold.kernels.columns import zeros
from fairhold.kernels.vectors import add, common, less
from fairhold.ledger.vectors import POOLED
from fairhold.model.vector import told_of
from fairhold.orchestrator.capacities import Capacity, Reserves, base_units
from fairhold.orchestrator.lending import Lenders
from fairhold.orchestrator.owned import owned_slots
from fairhold.orchestrator.spans import LENT, Key, unit_text
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairhold.cycle.pooled.active_entries import InForce
    from fairhold.ledger.books import Books
    from fairhold.model.vector import Vector
    from fairhold.orchestrator.spans import Step


class Meter:
    """Units of one account, and their changes since the span began."""

    __slots__ = ("rate", "since", "steps")

    def __init__(self, now: int) -> None:
        self.rate, self.since = 0, now
        self.steps: list[Step] = []

    def add(self, units: int, now: int) -> int:
        """Add units from now on; returns how many steps that made."""
        made = 0
        if now > self.since:
            before = len(self.steps)
            self.close(now)
            made = len(self.steps) - before
        self.rate += units
        return made

    def close(self, now: int) -> None:
        """Write the rate down up to now."""
        if now > self.since:
            if self.rate:
                if self._goes_on():
                    self.steps[-1] = (self.steps[-1][0], now, self.rate)
                else:
                    self.steps.append((self.since, now, self.rate))
            self.since = now

    def until(self, end: int) -> tuple[Step, ...]:
        """The steps up to an instant that is not before the latest change; nothing is written down."""
        if end <= self.since or not self.rate:
            return tuple(self.steps)
        if self._goes_on():
            return (*self.steps[:-1], (self.steps[-1][0], end, self.rate))
        return (*self.steps, (self.since, end, self.rate))

    def _goes_on(self) -> bool:
        """The last step is of the same rate and ends where the next begins."""
        return bool(self.steps) and self.steps[-1][1:] == (self.since, self.rate)


class Deserved:
    """What a queue deserves, and what its leaf's attempts have of it, in the order of their starts.

    left  : what they leave of it
    units, own : attempt → its amounts, and what of them lies within
    is_stale : one of them has gone, and others may move up
    """

    __slots__ = ("_short", "is_stale", "left", "own", "units", "whole")

    def __init__(self, whole: Vector) -> None:
        self.whole, self.left = whole, whole
        self.units: dict[int, Vector] = {}
        self.own: dict[int, Vector] = {}
        self._short: set[int] = set()
        self.is_stale = False

    def put_in(self, attempt: int, unit: Vector) -> Vector:
        """What of one that has come lies within; `line_up` says it later where others are to move up."""
        self.is_stale |= bool(self.units) and attempt < next(reversed(self.units))
        self.units[attempt] = unit
        return self._take(attempt)

    def put_out(self, attempt: int) -> None:
        """One has gone."""
        own = self.own.pop(attempt)
        del self.units[attempt]
        self._short.discard(attempt)
        self.is_stale |= bool(self._short) and any(own)
        self.left = add(self.left, own)

    def line_up(self) -> None:
        """Give each what it finds room for, of every resource by itself, those before it first."""
        self.left, self.is_stale = self.whole, False
        self._short.clear()
        self.units = dict(sorted(self.units.items()))
        for attempt in self.units:
            self._take(attempt)

    def _take(self, attempt: int) -> Vector:
        unit = self.units[attempt]
        own = self.own[attempt] = common(unit, self.left)
        self.left = less(self.left, own)
        if own != unit:
            self._short.add(attempt)
        return own


class LeafAccount:
    """A leaf's slots in the order of their attempts' start: the first are its own, up to what it owns.

    own, borrowed : number of the attempt → slots; one attempt at most is in both, the last of `own`
    counted : the same of units of vectors: number → the keys that count it: what is own, what is borrowed, of whom
    deserved : of a queue; None = it is none now
    amounts : of a queue, what it holds of every resource
    kept    : slots that it held when reserves were looked at
    lines   : that divide what it borrows among lenders
    """

    __slots__ = (
        "amounts",
        "borrowed",
        "counted",
        "deserved",
        "held",
        "kept",
        "lines",
        "own",
        "owned",
        "path",
        "pool",
        "row",
        "used",
    )

    def __init__(self, path: str, pool: Pool, row: int) -> None:
        self.path, self.pool, self.row = path, pool, row
        self.owned = self.held = self.used = self.kept = 0
        self.own: OrderedDict[int, int] = OrderedDict()
        self.borrowed: OrderedDict[int, int] = OrderedDict()
        self.counted: dict[int, tuple[Key, ...]] = {}
        self.deserved: Deserved | None = None
        self.amounts: Vector = ()
        self.lines: tuple[Line, ...] = ()


class Line:
    """Who lends what leaves borrow of one resource: slots, or base units of what the queues of an entry share.

    unit : as `Key` says it; at: place of the resource, -1 = slots
    hosts : of vectors: whose amounts are shared, None = all hosts of the pool
    lent  : row → amount, as counted last
    """

    def __init__(self, unit: str, at: int, lenders: Lenders, hosts: frozenset[str] | None = None) -> None:
        self.unit, self.at, self.lenders, self.hosts = unit, at, lenders, hosts
        self.lent: dict[int, int] = {}

    def hold(self, leaf: LeafAccount) -> None:
        """What a leaf holds is another number."""
        self.lenders.hold(leaf.row, leaf.held if self.at < 0 else leaf.amounts[self.at])


class Pool:
    """A resource group: its leaves, what there is of it, and whose slots or amounts are lent.

    is_pooled : its units are of vectors; of those on hosts that somebody owns, parcels say who lends
    forces   : the policy entries in force when it was looked at last what queues deserve
    slots    : that cycles see; whole: of all hosts, up or not
    shrinks  : it has a host that starts nothing, and so loses a slot with every unit that comes back
    dirty    : leaves that hold another number since it was settled
    lines    : by which lenders are found; of slots None = they have to be counted anew
    """

    def __init__(self, books: Books) -> None:
        rows = books.rows
        self.group, self.shrinks = rows.group.name if books.vectors is None else POOLED, False
        self.slots = self.whole = 0
        self.rows = rows
        self.is_pooled = books.vectors is not None
        self.capacity = Capacity(books)
        self.forces: list[InForce] | None = None
        self.leaves = [LeafAccount(rows.path(row), self, row) for row in rows.leaves]
        self.by_path = {leaf.path: leaf for leaf in self.leaves}
        self.dirty: dict[LeafAccount, None] = {}
        self.lines: list[Line] | None = None
        self._reserves, self._held = Reserves(rows.tree, [] if self.is_pooled else rows.plan.reserved), 0
        self._recorded: tuple[Line, ...] = ()
        self._deserved: Mapping[str, Vector] = {}
        self._there: Vector = ()
        self._texts: dict[Vector, str] = {}

    def unit_text(self, unit: Vector) -> str:
        """A unit of a vector as `Key` says it."""
        if unit not in self._texts:
            self._texts[unit] = unit_text(told_of(self.rows.source.resources, unit))
        return self._texts[unit]

    def use_queues(self, deserved: Mapping[str, Vector]) -> None:
        """The entries in force are others: of queues, what each deserves."""
        self._deserved = deserved
        self.lines = queue_lines(self, deserved)
        self._there = self.capacity.up
        self.dirty = dict.fromkeys(self.leaves)

    def settle(self) -> dict[Key, int]:
        """Account of a lender → how much more it lends than was recorded; once for all changes of an instant."""
        is_measured = self.is_pooled and self.capacity.up != self._there
        if not self.dirty and not is_measured:
            return {}
        if not self.is_pooled and self.lines is None:
            owned = owned_slots(self.rows, self.slots)
            self.lines = [Line("", -1, Lenders(self.rows.tree, owned, self.rows.plan.reserved, self.slots))]
            self.dirty = dict.fromkeys(self.leaves)
            for leaf in self.leaves:
                leaf.lines = (*self.lines,)
        if is_measured:
            self._measure()
        touched = dict.fromkeys(self.lines or ()) if is_measured else {}
        for leaf in self.dirty:
            for line in leaf.lines:
                line.hold(leaf)
                touched[line] = None
            self._keep(leaf)
        self.dirty.clear()
        if not self.is_pooled:
            self.capacity.reserved = max(0, min(self._reserves.unused, self.slots - self._held))
        return self._record(touched)

    def _keep(self, leaf: LeafAccount) -> None:
        """What of reserves is left as a leaf holds another number of slots."""
        if (more := leaf.held - leaf.kept) and not self.is_pooled:
            self._reserves.hold(leaf.row, more)
            self._held += more
            leaf.kept = leaf.held

    def _measure(self) -> None:
        """There is another capacity."""
        if any(amount >= UNLIMITED for vector in self._deserved.values() for amount in vector):
            self.use_queues(self._deserved)
        self._there = self.capacity.up
        for line in self.lines or ():
            line.lenders.measure(self.capacity.of_hosts(line.hosts)[line.at])

    def _record(self, touched: Iterable[Line]) -> dict[Key, int]:
        """Count lenders of some lines again; those of lines that are no more lend nothing."""
        more: dict[Key, int] = {}
        gone: list[tuple[Line, dict[int, int]]] = [
            (line, {}) for line in self._recorded if line not in (self.lines or ())
        ]
        found = [(line, line.lenders.now().lenders(self.rows.tree)) for line in touched]
        for line, now in (*gone, *found):
            before, line.lent = line.lent, now
            for row in dict.fromkeys((*before, *now)):
                if change := now.get(row, 0) - before.get(row, 0):
                    key = Key(self.rows.path(row), "", "", LENT, line.unit)
                    more[key] = more.get(key, 0) + change
        self._recorded = (*(self.lines or ()),)
        return more

    def gone(self) -> dict[Key, int]:
        """Account of a lender → how much less it lends where the pool is no more."""
        self.lines = []
        return self._record(())


def queue_lines(pool: Pool, deserved: Mapping[str, Vector]) -> list[Line]:
    """The lines of the queues of all entries in force; their leaves learn which are theirs.

    deserved : path of a queue → what it deserves, at most what there is where that is no number
    """
    plan, tree, lines = pool.rows.source, pool.rows.tree, list[Line]()
    units, top = base_units(plan.resources), plan.tree.first_level
    for leaf in pool.leaves:
        leaf.lines = ()
    for force in pool.forces or ():
        if not force.entry.policy.has_queues:
            continue
        groups = force.entry.resource_groups
        hosts = frozenset(host.name for group in groups for host in plan.resource_groups[group].hosts)
        mine = [row for row in range(len(plan.tree)) if top[row] in force.members]
        there = pool.capacity.of_hosts(hosts)
        made = []
        for at, unit in enumerate(units):
            owned = [0] * len(plan.tree)
            for row in mine:
                amount = deserved[plan.tree.paths[row]][at]
                owned[row] = there[at] if amount >= UNLIMITED else amount
            made.append(Line(unit, at, Lenders(tree, owned, zeros(len(owned)), there[at]), hosts))
        for leaf in pool.leaves:
            if top[leaf.row] in force.members:
                leaf.lines = tuple(made)
        lines += made
    return lines

"""Starvation: tasks that wait although their leaf owns all that they need.

A leaf that owns three idle slots while only gangs of eight wait misses nothing that anybody could give it. What counts
here is what could run: the pieces that wait in a leaf, in the order in which it serves them (priority, then age), each
that fits into what the leaf owns and does not hold, less the pieces before it. As long as a piece is among
them, it is starvation.

Where leaves own more than there is, since hosts are down or the plan promises more than it has, a piece
counts only as far as there is room on hosts that may start work, beyond what others hold of what they own:
more could not have been given to anybody.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from collections import deque
from operator import lt
from typing import TYPE_CHECKING, NamedTuple

from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator import changes as said
from fairhold.orchestrator.owned import amount_of, open_room, owned_amounts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.tasks import JobRecord

    Amounts = tuple[int, ...]
    """By resource: slots, or base units of each."""
    Order = tuple[int, int, int, str]
    """Of a job in its leaf: priority downwards, instant of its submission, number, name."""

_OF_JOBS = frozenset(
    {
        *(said.JobAdded, said.JobDropped, said.HoldSet, said.JobRanked, said.JobMoved, said.JobEnded),
        *(said.JobResized, said.TaskDropped, said.Ready, said.Started),
    }
)
"""Changes of a `job` after which another number of its tasks waits or runs."""


class Pieces(NamedTuple):
    """What waits of a job.

    order : of the job in its leaf
    first : amounts that it needs at once: those of a task, or all that a gang misses to its minimum
    unit  : amounts of each piece after it; more: how many there are
    """

    order: Order
    first: Amounts
    unit: Amounts
    more: int


class _Job:
    """A job that has not ended; held: units of it that run; pieces: what waits, None = nothing."""

    __slots__ = ("held", "leaf", "number", "pieces", "unit")

    def __init__(self, leaf: str, number: int, unit: Amounts) -> None:
        self.leaf, self.number, self.unit = leaf, number, unit
        self.held = 0
        self.pieces: Pieces | None = None


class _Leaf:
    """A leaf.

    owned, held : amounts by resource
    waiting : what is needed at once → orders of the jobs that wait for it, ascending
    owed    : name of a job → (since when, how many pieces) are starvation, the oldest first
    stretches : (pieces,) microseconds of each that was starvation
    """

    __slots__ = ("held", "owed", "owned", "stretches", "waiting")

    def __init__(self, owned: Amounts) -> None:
        self.owned = owned
        self.held = [0] * len(owned)
        self.waiting: dict[Amounts, list[Order]] = {}
        self.owed: dict[str, deque[tuple[int, int]]] = {}
        self.stretches = array("q")


class Starvation:
    """The pieces of one resource group that are starvation; begin: instant from which on time counts."""

    def __init__(self, cluster: Cluster, group: str, begin: int) -> None:
        self._cluster, self._group, self._begin = cluster, group, begin
        self._jobs: dict[str, _Job] = {}
        self._job_of: dict[int, str] = {}  # attempt → job
        self._leaves: dict[str, _Leaf] = {}
        self._met = 0
        self._is_new = False  # whether all jobs are to be looked at
        self._owned: list[dict[str, int]] | None = None  # of each resource; None = it may be otherwise now
        self._room: Amounts | None = None  # on hosts that may start work; None = all can have what they own

    def stretches(self, leaf: str) -> Sequence[int]:
        """Microseconds for which each piece of a leaf was starvation on end; what still is, once it is closed."""
        found = self._leaves.get(leaf)
        return found.stretches if found is not None else ()

    def take_over(self, now: int) -> None:
        """What there is at the begin."""
        for attempt in self._cluster.attempts.values():
            self._job_of[attempt.name] = attempt.job.name
        self._look(self._cluster.jobs, now)

    def replan(self, cluster: Cluster) -> None:
        """Another plan is in force: what waits is counted anew, and is starvation since when it was."""
        self._owned, self._cluster = None, cluster
        self._jobs.clear()
        width = len(self._resources()) if self._group in cluster.books else 0
        for leaf in self._leaves.values():
            leaf.held, leaf.waiting = [0] * width, {}
        self._is_new = True

    def note(self, now: int, changes: Sequence[said.Change]) -> None:
        """Take changes in, in the order in which they happened; the cluster is as they have left it."""
        touched = dict.fromkeys(self._cluster.jobs) if self._is_new else {}
        for change in changes:
            kind = type(change)
            if kind in _OF_JOBS:
                touched[change.job] = None  # type: ignore[union-attr]  # all of these have one
                if kind is said.Started:
                    self._job_of[change.attempt] = change.job  # type: ignore[union-attr]  # its kind was asked
            elif kind is said.Ended:
                touched[self._job_of.pop(change.attempt, "")] = None  # type: ignore[union-attr]  # likewise
            elif kind is said.JobFreed:
                touched[change.dependent] = None  # type: ignore[union-attr]  # likewise
        if (touched or self._owned is None) and self._group in self._cluster.books:
            self._is_new = False
            self._look(touched, now)

    def resize(self) -> None:
        """Hosts, or who owns how much of them, are otherwise from the next change on."""
        self._owned = None

    def close(self, now: int) -> None:
        """The run is over at an instant: what is starvation has been so until now at least."""
        for leaf in self._leaves.values():
            self._owe(leaf, {}, now)

    # What waits

    def _look(self, names: Iterable[str], now: int) -> None:
        """Jobs, or what everybody owns, have changed."""
        leaves: dict[str, None] = {}
        if self._owned is None:
            self._owned = [owned_amounts(self._cluster, self._group, each, now) for each in self._resources()]
            self._room = self._short()
            for path, leaf in self._leaves.items():
                leaf.owned = self._of(path)
                leaves[path] = None
        for name in names:
            job = self._cluster.jobs.get(name)
            known = self._jobs.get(name)
            if known is None and (job is None or job.resource_group != self._group or job.is_over):
                continue
            self._ask(name, known, job, leaves)
        free = None if self._room is None else self._free(self._room)
        for path in leaves if free is None else self._leaves:  # where there is too little, all depend on each other
            leaf = self._leaves[path]
            if leaf.owed or (leaf.waiting and any(map(lt, leaf.held, leaf.owned))):
                self._owe(leaf, self._fitting(leaf, free), now)

    def _ask(self, name: str, known: _Job | None, job: JobRecord | None, leaves: dict[str, None]) -> None:
        """What a job holds and waits for now goes into the sums of its leaf."""
        is_there = job is not None and not job.is_over
        path = job.consumer if is_there and job is not None else ""
        if known is not None and (not is_there or path != known.leaf):
            self._put(known, 0, None)
            leaves[known.leaf] = None
            if not is_there:
                del self._jobs[name]
        if job is None or not is_there:
            return
        if known is None:
            self._met += 1
            known = self._jobs[name] = _Job(path, self._met, self._amounts(job))
        known.leaf = path
        leaves[path] = None
        if path not in self._leaves:
            self._leaves[path] = _Leaf(self._of(path))
        self._put(known, job.running, self._pieces(job, known))

    def _pieces(self, job: JobRecord, known: _Job) -> Pieces | None:
        count = job.startable
        if not count:
            return None
        order = (-job.priority, job.submitted, known.number, job.name)
        at_once = max(1, min(job.terms.min_count, job.running + count) - job.running)
        if at_once == 1:
            return Pieces(order, known.unit, known.unit, count - 1)
        return Pieces(order, tuple(at_once * each for each in known.unit), known.unit, count - at_once)

    def _put(self, known: _Job, held: int, pieces: Pieces | None) -> None:
        leaf = self._leaves[known.leaf]
        more, known.held = held - known.held, held
        if more:
            for at, amount in enumerate(known.unit):
                leaf.held[at] += more * amount
        before, known.pieces = known.pieces, pieces
        if before is not None and (pieces is None or before[:2] != pieces[:2]):
            orders = leaf.waiting[before.first]
            del orders[bisect_left(orders, before.order)]
            if not orders:
                del leaf.waiting[before.first]
        if pieces is not None and (before is None or before[:2] != pieces[:2]):
            insort(leaf.waiting.setdefault(pieces.first, []), pieces.order)

    # What is starvation

    def _fitting(self, leaf: _Leaf, free: Amounts | None) -> dict[str, int]:
        """Name of a job → how many of its pieces fit into what the leaf may have and has not.

        free : what could be given to anybody, None = all that is missing
        """
        room = [owned - held for owned, held in zip(leaf.owned, leaf.held, strict=True)]
        room = room if free is None else list(map(min, room, free))
        found: dict[str, int] = {}
        heads = dict.fromkeys(leaf.waiting, 0)
        while heads:
            for first in [each for each in heads if _times(each, room) == 0]:
                del heads[first]  # room only shrinks
            if not heads:
                break
            first = min(heads, key=lambda each: leaf.waiting[each][heads[each]])
            name = leaf.waiting[first][heads[first]][-1]
            pieces = self._jobs[name].pieces
            assert pieces is not None
            room = [amount - less for amount, less in zip(room, first, strict=True)]
            more = min(pieces.more, _times(pieces.unit, room)) if pieces.more else 0
            if more:
                room = [amount - more * less for amount, less in zip(room, pieces.unit, strict=True)]
            found[name] = 1 + more
            heads[first] += 1
            if heads[first] == len(leaf.waiting[first]):
                del heads[first]
        return found

    def _owe(self, leaf: _Leaf, counts: dict[str, int], now: int) -> None:
        """So many pieces of each job are starvation from now on; those that were for longest are the first to go."""
        for name in [name for name in leaf.owed if name not in counts]:
            self._let(leaf, name, sum(count for _, count in leaf.owed[name]), now)
        for name, count in counts.items():
            more = count - sum(each for _, each in leaf.owed.get(name, ()))
            if more > 0:
                leaf.owed.setdefault(name, deque()).append((now, more))
            elif more < 0:
                self._let(leaf, name, -more, now)

    def _let(self, leaf: _Leaf, name: str, count: int, now: int) -> None:
        owed = leaf.owed[name]
        while count:
            since, pieces = owed.popleft()
            some = min(pieces, count)
            if pieces > some:
                owed.appendleft((since, pieces - some))
            count -= some
            length = now - max(since, self._begin)
            if length > 0:
                leaf.stretches.extend([length] * some)
        if not owed:
            del leaf.owed[name]

    # What there is

    def _short(self) -> Amounts | None:
        """What hosts that may start work have, where that is less than what all leaves own."""
        assert self._owned is not None
        paths = self._cluster.books[self._group].rows.paths
        parents = {path.rpartition("/")[0] for path in paths}
        leaves = [path for path in paths if path not in parents]
        room = tuple(open_room(self._cluster, self._group, each) for each in self._resources())
        asked = [sum(each.get(path, 0) for path in leaves) for each in self._owned]
        return room if any(map(lt, room, asked)) else None

    def _free(self, room: Amounts) -> Amounts:
        """Of a room, what leaves do not hold of what they own: idle, or borrowed."""
        elsewhere = self._on_closed()
        free = list(room)
        for path, leaf in self._leaves.items():
            away = elsewhere.get(path)
            for at, held in enumerate(leaf.held):
                free[at] -= min(held - (away[at] if away else 0), leaf.owned[at])
        return tuple(max(0, each) for each in free)

    def _on_closed(self) -> dict[str, list[int]]:
        """Leaf → what it holds on hosts that start nothing more."""
        hosts, found = self._cluster.books[self._group].hosts, dict[str, list[int]]()
        for host in hosts.closed:
            for attempt in self._cluster.on_host.get((self._group, hosts.name[host]), {}).values():
                job = self._jobs.get(attempt.job.name)
                if job is not None:
                    part = found.setdefault(job.leaf, [0] * len(job.unit))
                    part[:] = [have + more for have, more in zip(part, job.unit, strict=True)]
        return found

    def _resources(self) -> list[str]:
        books = self._cluster.books[self._group]
        return ["slots"] if self._group != POOLED else [each.name for each in books.rows.source.resources]

    def _amounts(self, job: JobRecord) -> Amounts:
        books = self._cluster.books[self._group]
        return tuple(amount_of(books, job.terms.unit, job.units, each) for each in self._resources())

    def _of(self, path: str) -> Amounts:
        assert self._owned is not None
        return tuple(each.get(path, 0) for each in self._owned)


def _times(amounts: Amounts, room: Sequence[int]) -> int:
    """How often amounts fit into a room."""
    return max(0, min((have // need for need, have in zip(amounts, room, strict=True) if need), default=0))

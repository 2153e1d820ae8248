"""What there is to use in a pool, for the accounts: on hosts that are up, and on those that are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.kernels.vectors import add, beyond, less, total
from fairhold.ledger.vectors import POOLED
from fairhold.model.vector import told_of
from fairhold.orchestrator.hosts import what_there_is, whole_host
from fairhold.orchestrator.spans import DOWN, RESERVED, UP, Key, unit_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from fairhold.kernels.columns import TreeColumns
    from fairhold.ledger.books import Books
    from fairhold.model.vector import Resource, Vector
    from fairhold.orchestrator.cluster import Cluster


def base_units(resources: Sequence[Resource]) -> tuple[str, ...]:
    """One base unit of each resource, as `Key` says a unit."""
    size = len(resources)
    return tuple(unit_text(told_of(resources, tuple(int(at == each) for each in range(size)))) for at in range(size))


class Reserves:
    """The slots that are reserved and not used, level by level: no less than those of the children together.

    reserved : (rows,) of which a parent's include its children's
    """

    def __init__(self, tree: TreeColumns, reserved: Sequence[int]) -> None:
        self._parent, self._reserved = tree.parent, reserved
        self._held = [0] * len(reserved)
        self._unused = [0] * len(reserved)
        self._below = [0] * len(reserved)
        for row in range(len(reserved) - 1, 0, -1):
            self._look_at(row)

    @property
    def unused(self) -> int:
        """Of all first-level consumers together."""
        return self._below[0]

    def hold(self, leaf: int, more: int) -> None:
        """A leaf holds so many slots more."""
        row = leaf
        while row > 0:
            self._held[row] += more
            self._look_at(row)
            row = self._parent[row]

    def _look_at(self, row: int) -> None:
        unused = max(0, self._reserved[row] - self._held[row], self._below[row])
        self._below[self._parent[row]] += unused - self._unused[row]
        self._unused[row] = unused


class Capacity:
    """The capacity of a pool: of slots one number, of vectors one of each resource, in base units.

    up    : what counts as there (R-UP-1); of a host that starts nothing, what is in use on it
    reserved : of slots, those that are idle and never lent
    whole : what all hosts have, whether or not they are up; the rest is down
    """

    def __init__(self, books: Books) -> None:
        self._books = books
        self._is_pooled = books.vectors is not None
        self._resources = books.rows.source.resources if self._is_pooled else ()
        self._units = base_units(self._resources) if self._is_pooled else ("",)
        self._hosts = {host.name: host for host in books.rows.group.hosts} if self._is_pooled else {}
        self._there: dict[str, Vector] = {}
        self._closed: set[str] = set()
        self._recorded: dict[Key, int] = {}
        self.up: Vector = (0,) * len(self._units)
        self.whole: Vector = self.up
        self.reserved = 0

    def is_closed(self, host: str) -> bool:
        """Whether a host of vectors starts nothing: what is there of it changes with every unit on it."""
        return host in self._closed

    def of_hosts(self, names: frozenset[str] | None) -> Vector:
        """What is up of some hosts of vectors; None = of all."""
        if names is None or names >= self._hosts.keys():
            return self.up
        return total((self._there[name] for name in names if name in self._there), len(self._units))

    def look_at_slots(self, slots: int, whole: int) -> None:
        """A group of slots has so many that count, and so many in all."""
        self.up, self.whole = (slots,), (max(slots, whole),)

    def look_at(self, cluster: Cluster, names: Iterable[str] | None = None) -> None:
        """Hosts of vectors may be open, closed or fuller than before; None = all."""
        for name in self._hosts if names is None else [each for each in names if each in self._hosts]:
            host = self._hosts[name]
            nothing = (0,) * len(self._units)
            is_open = (POOLED, name) in cluster.hosts and cluster.is_open(POOLED, name)
            (self._closed.discard if is_open else self._closed.add)(name)
            before, now = self._there.get(name, nothing), what_there_is(cluster, host, self._resources)
            if name not in self._there:
                self.whole = add(self.whole, whole_host(host, self._resources))
            self._there[name] = now
            self.up = add(self.up, less(now, before))

    def changed(self) -> dict[Key, int]:
        """How much more of each account there is than was recorded last; it counts as recorded then."""
        now: dict[Key, int] = {}
        for unit, up, down in zip(self._units, self.up, beyond(self.whole, self.up), strict=True):
            now[Key("/", "", "", UP, unit)] = up
            now[Key("/", "", "", DOWN, unit)] = down
        if not self._is_pooled:
            now[Key("/", "", "", RESERVED, "")] = self.reserved
        return self._record(now)

    def gone(self) -> dict[Key, int]:
        """The same where the pool is no more."""
        return self._record({})

    def _record(self, now: dict[Key, int]) -> dict[Key, int]:
        before, self._recorded = self._recorded, now
        keys: Collection[Key] = dict.fromkeys((*before, *now))
        return {key: more for key in keys if (more := now.get(key, 0) - before.get(key, 0))}

"""Every queue with what it is entitled to and what it holds, while units come and go."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.model.plan import ConsumerSettings
from fairhold.model.queue import FairShareSettings
from fairhold.model.tree import ROOT
from fairhold.reference.queues.opening import booked, fits_somewhere
from fairhold.reference.queues.shares import Queues, fair_shares
from fairhold.reference.vectors import times, total_of
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.model.plan import Plan
    from fairhold.model.queue import QueueSettings
    from fairhold.model.state import State
    from fairhold.model.vector import Vector
    from fairhold.reference.queues.cluster import Ask, Cluster
    from fairhold.reference.sharing import Share

TOP = "/"
ENDLESS = Fraction(2**400)
"""More than any part."""


class Table:
    """The queues of an entry by path, `/` first, parents before their children.

    total : of each resource, what is divided (R-UP-1)
    fair  : path → fair share of each resource
    holds : path → what it holds, as moved
    """

    def __init__(self, plan: Plan, share: Share, state: State, cluster: Cluster) -> None:
        """As the state stands."""
        tree, self.entry, self.width = plan.tree, share.entry, len(plan.resources)
        self.settings = share.entry.settings.fair_share or FairShareSettings()
        rows = [row for row in range(len(tree)) if row == ROOT or tree.first_level[row] in share.members]
        self.row = {tree.paths[row]: row for row in rows}
        self.children = {
            tree.paths[row]: [tree.paths[child] for child in tree.children[row] if child in set(rows)] for row in rows
        }
        self.rank = {path: self._rank(plan, share, path) for path in self.row}
        self.parent = {child: path for path, below in self.children.items() for child in below}
        self.stated = {path: share.entry.consumers.get(row, ConsumerSettings()) for path, row in self.row.items()}
        self.grace = _inherited(self.row, self.parent, [self._own_grace(plan, path) for path in self.row], 0)
        self.asks = list(cluster.asks.values())
        self.amounts = {
            path: _amounts(self.width, [state.held_amounts.get((row, group), ()) for group in share.groups])
            for path, row in self.row.items()
        }
        self.total = booked(cluster)
        self.holds: dict[str, Vector] = {}
        self.clear((ask, cluster.held(ask)) for ask in self.asks)
        self.requested = self._requested(share, state, cluster)
        self.used = {tree.paths[row]: usage for row, usage in state.usage.items()}
        self.fair: dict[str, tuple[Fraction, ...]] = {}
        shares = [self._shares(plan, at) for at in range(self.width)]
        for path, row in self.row.items():
            self.fair[path] = tuple(found[row] for found in shares)

    def _rank(self, plan: Plan, share: Share, path: str) -> int:
        """R-SET-1."""
        row = self.row[path]
        stated = share.entry.consumers.get(row, ConsumerSettings()).rank
        return next(each for each in (stated, plan.tree.rank[row], plan.default_rank) if each is not None)

    @property
    def leaves(self) -> list[str]:
        """In path order: level by level by rank, then plan order."""
        found, left = [], [TOP]
        while left:
            path = left.pop()
            below = sorted(self.children[path], key=lambda each: (self.rank[each], self.row[each]))
            left += reversed(below)
            found += [path] if not below and path != TOP else []
        return found

    def _own_grace(self, plan: Plan, path: str) -> int | None:
        stated = self.stated[path].grace
        return plan.tree.grace[self.row[path]] if stated is None else stated

    def _shares(self, plan: Plan, at: int) -> dict[int, Fraction]:
        queues = self.queues(at, plan.resources[at].step)
        return fair_shares(queues)

    def queues(self, at: int, step: int) -> Queues:
        """One resource, for its division."""
        children = {row: [self.row[child] for child in self.children[path]] for path, row in self.row.items()}
        stated = {row: self.stated[path].queue for path, row in self.row.items()}
        requested = {row: self.requested[path][at] for path, row in self.row.items()}
        usage = {self.row[path]: used[at] for path, used in self.used.items() if path in self.row}
        return Queues(stated, children, self.settings, at, step, self.total[at], requested, usage)

    def _requested(self, share: Share, state: State, cluster: Cluster) -> dict[str, Vector]:
        """R-QUEUE-1, without limits; where nothing is said of hosts, what is larger than the total is not counted."""
        found: dict[str, Vector] = {}
        for path in reversed(self.row):
            if self.children[path]:
                found[path] = total_of((found[child] for child in self.children[path]), self.width)
                continue
            wanted = [state.wanted.get((self.row[path], group), ()) for group in share.groups]
            amounts = map(max, self.amounts[path], _amounts(self.width, wanted))
            mine = [ask for ask in self.asks if ask.leaf == path]
            units = [
                times(ask.unit, cluster.most[ask] if fits_somewhere(cluster, ask) else cluster.held(ask))
                for ask in mine
            ]
            found[path] = total_of([tuple(amounts), *units], self.width)
        return found

    # What is stated

    def queue(self, path: str) -> QueueSettings:
        """The settings of a queue."""
        return self.stated[path].queue

    def up(self, path: str) -> list[str]:
        """The queue and those above it, from below, without `/`."""
        found = []
        while path != TOP:
            found.append(path)
            path = self.parent[path]
        return found

    def deserved(self, path: str, at: int) -> int:
        """What is deserved; UNLIMITED also for `/`."""
        return UNLIMITED if path == TOP else dict(self.queue(path).deserved).get(at, 0)

    def limit(self, path: str, at: int) -> int:
        """The most that it may hold; UNLIMITED where there is no limit."""
        return min(UNLIMITED, dict(self.queue(path).limit).get(at, UNLIMITED))

    def nearest(self, path: str, key: str) -> int | None:
        """What a queue, or the nearest above it that does, states of a time."""
        for each in self.up(path):
            found: int | None = getattr(self.queue(each), key)
            if found is not None:
                return found
        return None

    # What is held

    def clear(self, held: Iterable[tuple[Ask, int]]) -> None:
        """Count anew: so many units of every request."""
        self.holds = dict.fromkeys(self.row, (0,) * self.width)
        for path, amounts in self.amounts.items():
            self._add(path, amounts)
        for ask, units in held:
            self.came(ask, units)

    def came(self, ask: Ask, units: int) -> None:
        """So many units more, or less, of a request."""
        self._add(ask.leaf, times(ask.unit, units))

    def _add(self, leaf: str, amounts: Vector) -> None:
        for path in [*self.up(leaf), TOP]:
            self.holds[path] = total_of([self.holds[path], amounts], self.width)

    # Comparisons

    def threshold(self, path: str, at: int) -> Fraction:
        """min(limit, max(deserved, fair share)); what is unlimited is the total."""
        deserved, limit = Fraction(self.deserved(path, at)), Fraction(self.limit(path, at))
        found = min(limit, max(deserved, self.fair[path][at]))
        return Fraction(self.total[at]) if found >= UNLIMITED else found

    def dominant(self, path: str, more: Vector) -> Fraction:
        """The largest part that is held of a threshold, with so much more."""
        holds = self.holds[path]
        return max(part(holds[at] + more[at], self.threshold(path, at)) for at in range(self.width))

    def saturation(self, path: str, at: int, holds: int | None = None) -> Fraction:
        """Held / fair share."""
        return part(self.holds[path][at] if holds is None else holds, self.fair[path][at])


def part(held: int, of: Fraction) -> Fraction:
    """0/0 is 0, x/0 more than any number."""
    if not of:
        return ENDLESS if held > 0 else Fraction(0)
    return held / of


def _amounts(width: int, vectors: Iterable[Vector]) -> Vector:
    return total_of(vectors, width)


def _inherited(rows: Iterable[str], parent: dict[str, str], stated: list[int | None], default: int) -> dict[str, int]:
    found: dict[str, int] = {}
    for path, own in zip(rows, stated, strict=True):
        found[path] = own if own is not None else found[parent[path]] if path in parent else default
    return found

"""Requests that can run on some hosts only: units are reclaimed for them only on these hosts (R-SITE-4)."""

from __future__ import annotations

from operator import sub
from typing import TYPE_CHECKING

from fairhold.ledger.effective_demand import what_counts
from fairhold.ledger.sited import is_on_one, open_hosts_for
from fairhold.model.siting import ANYWHERE
from fairhold.rules.aging import by_age
from fairhold.rules.reclaiming import keep_below_limits
from fairhold.rules.returning import keep_of_owners

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.ledger.draft import CycleContext
    from fairhold.ledger.snapshot import Snapshot


def claim_hosts(snapshot: Snapshot, draft: CycleContext) -> None:
    """Find the missing units that only some hosts can serve, and the leaves that give them there.

    Leaves that miss units come in path order, their requests by priority, submitted, id; givers by worst path first.
    Units that no leaf can give are not reclaimed in this cycle. Where a host is used by one consumer at a time, no leaf
    can give any.
    """
    if not snapshot.books.requests.siting:
        return
    claiming = _Claiming(snapshot, draft)
    entitled = draft.entitled[:]
    for leaf in snapshot.rows.leaves:
        missing = draft.entitled[leaf] - draft.held[leaf] - draft.inside[leaf]
        waived = claiming.claim(leaf, missing) if missing > 0 else 0
        entitled[leaf] -= waived
        row = leaf
        while row >= 0 and waived:
            draft.waived[row] += waived
            row = snapshot.rows.tree.parent[row]
    draft.entitled, draft.claims = entitled, claiming.hosts
    for leaf, units in claiming.units.items():
        draft.bound[leaf] = max(draft.bound[leaf], units)


class _Claiming:
    """What is left to be claimed.

    spare  : (rows,) units that a leaf can give
    ripe, young : leaf → host → units there that have run long enough (R-CONTROL-5), and others
    forced : leaf → of the young ones, units that go in any case, beside all that are ripe
    idle   : (hosts,) slots that are idle after the grants
    coming : row → units claimed for it from outside
    units, hosts : leaf → units that are claimed of it, and on which hosts
    """

    def __init__(self, snapshot: Snapshot, draft: CycleContext) -> None:
        self.snapshot, self.draft = snapshot, draft
        books = snapshot.books
        is_owned = snapshot.rows.entry.policy.owns_exactly
        have = keep_of_owners(snapshot, draft) if is_owned else keep_below_limits(snapshot, draft)
        above = map(sub, have.held, map(max, have.keep, draft.quota))
        self.spare = list(map(max, above, map(sub, have.held, have.limit), have.bound))
        self.ripe: dict[int, dict[int, int]] = {}
        self.young: dict[int, dict[int, int]] = {}
        for request, mine in books.allocations.by_request.items():
            leaf = books.requests.leaf[request]
            for row, (ripe, unripe) in by_age(books, mine, snapshot.now):
                host = books.allocations.host[row]
                for stands, units in ((self.ripe, ripe), (self.young, unripe)):
                    there = stands.setdefault(leaf, {})
                    there[host] = there.get(host, 0) + units
        self.forced: dict[int, int] = {}
        for leaf, there in self.ripe.items():
            must = max(have.held[leaf] - have.limit[leaf], have.bound[leaf])
            self.forced[leaf] = max(0, must - sum(there.values()))
        hosts = books.hosts
        self.idle = [
            max(0, slots - used) if up else 0 for slots, used, up in zip(hosts.slots, hosts.used, hosts.up, strict=True)
        ]
        self.granted: dict[int, int] = {}
        self.granted_on: dict[int, set[int]] = {}
        for grant in draft.decision.grants:
            self.idle[grant.host] -= grant.units
            self.granted[grant.request] = self.granted.get(grant.request, 0) + grant.units
            self.granted_on.setdefault(grant.request, set()).add(grant.host)
        self.coming: dict[int, int] = {}
        self.units: dict[int, int] = {}
        self.hosts: dict[int, list[tuple[tuple[int, ...], int]]] = {}

    def claim(self, leaf: int, missing: int) -> int:
        """Claim units for what a leaf misses on some hosts; returns those that nobody can give."""
        requests = self.snapshot.books.requests
        never = what_counts(self.snapshot.books, leaf).never
        waits = {row: units for row in self._line(leaf) if (units := self._waits(row) - never.get(row, 0)) > 0}
        bound = {row: units for row, units in waits.items() if self._is_bound(row)}
        left = min(missing, sum(bound.values()), max(0, missing - (sum(waits.values()) - sum(bound.values()))))
        for row, units in bound.items():
            wanted = min(units, left)
            least = requests.minimum[row] - requests.held[row] - self.granted.get(row, 0)
            left -= self._take(leaf, row, wanted, max(least, 0)) if wanted >= least else 0
        return left

    def _line(self, leaf: int) -> list[int]:
        requests = self.snapshot.books.requests
        rows = [row for queue in requests.lines.of.get(leaf, {}).values() for row in queue]
        return sorted(rows, key=lambda row: (-requests.priority[row], requests.submitted[row], requests.id[row]))

    def _waits(self, row: int) -> int:
        requests = self.snapshot.books.requests
        return requests.count[row] - requests.held[row] - self.granted.get(row, 0)

    def _is_bound(self, row: int) -> bool:
        siting = self.snapshot.books.requests.siting.get(row, ANYWHERE)
        return bool(siting.need or siting.avoid) or is_on_one(self.snapshot.books, row)

    def _take(self, leaf: int, row: int, units: int, least: int) -> int:
        """Claim units for a request, if they and idle ones are at least `least`; returns their number.

        Idle slots are no reason to claim less: what could be used of them has been granted.
        """
        books = self.snapshot.books
        if books.rows.is_exclusive:
            return 0
        hosts = open_hosts_for(books, books.requests.siting[row])
        choices: list[tuple[int, ...]] = [tuple(hosts)]
        if is_on_one(books, row):
            mine = {books.allocations.host[each] for each in books.allocations.by_request.get(row, ())}
            mine |= self.granted_on.get(row, set())
            choices = [(host,) for host in hosts if not mine or host in mine]
        for choice in choices:
            found = list(self._givers(leaf, choice, units))
            claimed = sum(given for _, given in found)
            left = least - claimed
            if claimed and left <= sum(self.idle[host] for host in choice):
                for host in choice:
                    used = max(0, min(left, self.idle[host]))
                    self.idle[host] -= used
                    left -= used
                for giver, given in found:
                    self._book(leaf, giver, choice, given)
                return claimed
        return 0

    def _givers(self, leaf: int, hosts: tuple[int, ...], units: int) -> Iterator[tuple[int, int]]:
        """The leaves that give units on these hosts, worst path first."""
        room = dict.fromkeys(self._above(leaf), 0)
        for giver in reversed(self.snapshot.rows.leaves):
            given = min(units, self.spare[giver], self._there(giver, hosts))
            outside = [row for row in room if not self._is_inside(giver, row)]
            for row in outside:
                given = min(given, self._room(row) - room[row])
            if given > 0:
                for row in outside:
                    room[row] += given
                units -= given
                yield giver, given

    def _there(self, giver: int, hosts: tuple[int, ...]) -> int:
        """Units of a leaf that can be claimed on hosts: young ones only where all ripe ones go, too."""
        ripe, young = (sum(stands.get(giver, {}).get(host, 0) for host in hosts) for stands in (self.ripe, self.young))
        if ripe < sum(self.ripe.get(giver, {}).values()):
            young = min(young, self.forced.get(giver, 0))
        return ripe + young

    def _book(self, leaf: int, giver: int, hosts: tuple[int, ...], units: int) -> None:
        self.units[giver] = self.units.get(giver, 0) + units
        self.hosts.setdefault(giver, []).append((hosts, units))
        self.spare[giver] -= units
        for row in self._above(leaf):
            if not self._is_inside(giver, row):
                self.coming[row] = self.coming.get(row, 0) + units
        for stands in (self.ripe[giver], self.young[giver]):
            if stands is self.young[giver]:
                self.forced[giver] = max(0, self.forced[giver] - units)
            for host in hosts:
                taken = min(units, stands.get(host, 0))
                if taken:
                    stands[host] -= taken
                    units -= taken

    def _room(self, row: int) -> int:
        """Units that a consumer may hold more, claimed ones apart."""
        return self.snapshot.rows.plan.limit[row] - self.draft.held[row] - self.coming.get(row, 0)

    def _above(self, row: int) -> Iterator[int]:
        while row > 0:
            yield row
            row = self.snapshot.rows.tree.parent[row]

    def _is_inside(self, leaf: int, row: int) -> bool:
        rows = self.snapshot.rows
        return rows.position[row] <= rows.position[leaf] < rows.position[row] + rows.size[row]

"""Adjusts the owners of hosts step by step with the least movement (SPEC §6.7, S2.16-30, R-ADJUST-0 to R-ADJUST-3).

The top level comes first, then the children inside what each parent owns.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import add, beyond, common, less
from fairhold.rules.pools.holdings import Holdings, Target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from fairhold.ledger.pools import Machine


class Level(Holdings):
    """The children of one consumer and the hosts that they divide: steps that release and take hosts."""

    def release_unused(self, is_busy: Callable[[int, Machine], bool]) -> None:
        """Release owned hosts without units to the public pool, and remember their owners (R-ADJUST-1)."""
        for key, holding in self.holds.items():
            for host in list(holding):
                if not is_busy(key.row, host):
                    self.former[key][host] = self._drop(key, host)
                    self.formerly[key.row][host] = None

    def trim(self) -> None:
        """Reduce what is above a target: least workload first, worst preference, last in inventory (R-ADJUST-2).

        Entries of a row that may stand for one another are one target.
        """
        for _, keys in self._alike():
            self._trim_hosts(keys)
        for key in [key for key in self.holds if key not in self.target or key.entry.names]:
            holding, entry = self.holds[key], key.entry
            order = sorted(holding, key=partial(self._giving, key))
            if key in self.target:
                self._trim_hosts([key])
            elif entry.per_host:
                for host in order:
                    part = common(holding[host], self.part_of(entry, host))
                    if any(part):
                        self._set(key, host, part)
                    else:
                        self._drop(key, host)
            else:
                self._trim_total(key, order)

    def _giving(self, key: Target, host: Machine) -> tuple[int, int, int]:
        """Key: what is given up first."""
        return self.load(host), -self.preference(key, host), -host.place

    def _trim_hosts(self, keys: list[Target]) -> None:
        """Whole hosts beyond what entries are to have together go; what one has too many of is another's that lacks."""
        held = sorted([(key, host) for key in keys for host in self.holds[key]], key=lambda each: self._giving(*each))
        for key, host in held[: max(0, len(held) - sum(self.target[key] for key in keys))]:
            self._drop(key, host)
        lacking = [key for key in keys for _ in range(self.target[key] - len(self.holds[key]))]
        for key in keys:
            last_first = sorted(self.holds[key], key=lambda host: -host.place)
            for host in last_first[: max(0, len(last_first) - self.target[key])]:
                self._add(lacking.pop(0), host, self._drop(key, host))

    def _trim_total(self, key: Target, order: list[Machine]) -> None:
        holding = self.holds[key]
        have = (0,) * self.books.terms.dimensions
        for amounts in holding.values():
            have = add(have, amounts)
        for host in order:
            others = less(have, holding[host])
            needed = {at: max(0, most - others[at]) for at, most in key.entry.total}
            if all(holding[host][at] <= need for at, need in needed.items()) and self.is_good(key, holding[host]):
                continue  # of what is too much it has none; another host may have some
            keep = self.following(holding[host], needed)
            if any(keep):
                self._set(key, host, keep)
            else:
                self._drop(key, host)
            have = add(others, keep)

    def give_short(self) -> None:
        """Consumers below target take: rest of own hosts, formerly own, public, worse ranks', parts (R-ADJUST-3)."""
        turns = sorted(self.holds, key=self._turn)
        for key in turns:
            entry = key.entry
            self._make_whole(key, spares=True)
            if entry.per_host:
                self._take_parts_of_all(key)
            elif entry.total:
                self._take_total(key)
            elif entry.names:
                for host in self._order(key):
                    if host.name in entry.names and host not in self.holds[key]:
                        self._take_host(key, host)
            else:
                self._take_hosts(key)
        for key in turns:
            self._make_whole(key)

    def _make_whole(self, key: Target, *, spares: bool = False) -> None:
        """Of a whole host of which it has a part, as another had the rest or the host has grown, it takes the rest.

        spares : but for what was another's until it was let go for want of work: that is given back first
        """
        for host in self.holds[key] if key in self.target else ():
            rest = self.left[host]
            for former in self.former.values() if spares and any(rest) else ():
                if host in former:
                    rest = beyond(rest, former[host])
            self._add(key, host, rest)

    def _turn(self, key: Target) -> tuple[bool, int, bool]:
        """In path order, of one consumer what it names first; what remains after all others."""
        return key.entry.remaining, self.books.terms.position[key.row], not key.entry.names

    def _order(self, key: Target) -> Iterator[Machine]:
        """Formerly its own, first this entry's; least workload; never owned among these siblings; inventory order.

        A count takes of this entry's those first that nobody has any of.
        """
        mine, former, group = self.former[key], self.formerly[key.row], key.entry.resource_group
        if group not in self._lines:
            self._lines[group] = self._sorted(self.hosts.get(group, []))
        yield from sorted(self._sorted(mine), key=lambda host: key in self.target and not self.is_whole(host))
        yield from self._sorted(host for host in former if host.group == group and host not in mine)
        for host in self._lines[group]:
            if host not in former:
                yield host

    def _sorted(self, hosts: Iterable[Machine]) -> list[Machine]:
        return sorted(hosts, key=lambda host: (self.load(host), host in self.ever, host.place))

    def _fit(self, key: Target, host: Machine) -> int:
        """Whether a count takes a host first (0: named below it), late (2: below others) or last (3: by others)."""
        if host.name in self.named:
            return 3
        if host.name in self.below[key.row]:
            return 0
        return 2 if host.name in self.named_below else 1

    def _fitting_first(self, key: Target) -> Iterator[Machine]:
        """The same for a count: what is named below it first, what others name last."""
        if not self.named and not self.named_below:  # the common case
            yield from self._order(key)
            return
        for fit in (0, 1, 2, 3):
            for host in self._order(key):
                if self._fit(key, host) == fit:
                    yield host

    def _worse(self, key: Target, host: Machine) -> list[Target]:
        """Owners of strictly worse rank of a host, the worst first; `remaining` is the worst of all."""
        rank = self._rank
        if rank[key] == self._worst:  # the common case
            return []
        found = [each for each in self.owners.get(host, ()) if rank[each] > rank[key]]
        return sorted(found, key=lambda each: (-rank[each], self._place[each])) if found else found

    def _take_host(self, key: Target, host: Machine) -> None:
        """Take the part of a host that is public or owned by worse ranks."""
        for each in self._worse(key, host):
            self._drop(each, host)
        if any(self.left[host]):
            self._set(key, host, self.left[host])

    def _take_hosts(self, key: Target) -> None:
        holding, former, target = self.holds[key], self.former[key], self.target.get(key, 0)
        hosts = self._fitting_first(key)
        while len(holding) < target and (host := next(hosts, None)) is not None:
            if self.is_whole(host):
                self._set(key, host, self.space[host])
            elif host in former and not any(beyond(former[host], self.left[host])):
                self._set(key, host, former[host])  # a part, all of which is public still
        if len(holding) < target:
            self._take_owned(key, target, [host for host in self._fitting_first(key) if host not in holding])

    def _take_owned(self, key: Target, target: int, hosts: list[Machine]) -> None:
        """Hosts of worse ranks, then what better ranks leave of theirs: public parts, those of worse ranks."""
        holding, rank = self.holds[key], self._rank
        owned = [(self._worse(key, host), host) for host in hosts]
        of_worse = [(worse, host) for worse, host in owned if worse]
        of_worse.sort(key=lambda each: (self._fit(key, each[1]), -rank[each[0][0]], self.load(each[1])))
        whole = [host for worse, host in of_worse if len(worse) == self._owners(host)]
        public = [host for worse, host in owned if not worse]
        for host in (*whole, *public, *(host for _, host in of_worse)):
            if len(holding) < target and host not in holding:
                self._take_host(key, host)

    def _owners(self, host: Machine) -> int:
        return len(self.owners.get(host, ()))

    def _take_total(self, key: Target) -> None:
        if not self.is_short(key):
            return
        former = self.former[key]
        for host in self._order(key):
            there = common(self.left[host], former[host]) if host in former else self.left[host]
            if self._add(key, host, self.following(there, self.missing(key))) and not self.is_short(key):
                return
        for host in self._order(key):
            there = self.left[host]
            if self._add(key, host, self.following(there, self.missing(key))) and not self.is_short(key):
                return
        hosts = self.hosts.get(key.entry.resource_group, [])
        worse = [(each, host) for host in hosts for each in self._worse(key, host)]
        worse.sort(key=lambda each: (-self._rank[each[0]], self.load(each[1]), each[1].place))
        for each, host in worse:
            if not self.is_short(key):
                return
            self._move(each, key, host, self.following(self.holds[each][host], self.missing(key)))

    def _take_parts_of_all(self, key: Target) -> None:
        for host in self.hosts.get(key.entry.resource_group, []):
            want = self.part_of(key.entry, host)
            have = self.holds[key].get(host, (0,) * len(want))
            self._add(key, host, common(beyond(want, have), self.left[host]))
            for each in self._worse(key, host):
                have = self.holds[key].get(host, (0,) * len(want))
                self._move(each, key, host, common(beyond(want, have), self.holds[each][host]))

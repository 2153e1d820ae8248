"""Who owns which hosts: counts, percentages, names, what remains, parts of every host, totals (SPEC §6.7), slow.

A consumer has as many entries of `own` as it likes. Holdings are entry → host → amounts, with what those below have.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tests.oracles.claims import Claim, Space, bound, lower
from tests.oracles.parcels import PUBLIC, World, add, less

if TYPE_CHECKING:
    from tests.oracles.parcels import Json, Vector


class Owning(World):
    """Begins with the parcels that the state says; a host that is down is in no pool, and not remembered."""

    def __init__(self, plan: Json, state: Json) -> None:
        down = state.get("hosts_down", [])
        super().__init__(plan, state, [row for row in state.get("ownership", []) if row["host"] not in down])
        self.said: dict[tuple[str, str], dict[int, Vector]] = {}
        for row in state.get("own_entries", []):
            self.said.setdefault((row["consumer"], row["host"]), {})[row["entry"]] = self.vector(row["amounts"])

    def preference(self, path: str) -> int:  # noqa: ARG002 - of no one entry, and so of nobody
        """Of what a state says is owned: all alike, as it names no entry."""
        return 5

    def adjust(self, *, keeps: bool = False) -> dict[tuple[str, str], Vector]:
        """(Consumer, host) → what it owns of it and its children do not; keeps: nothing is to be adjusted yet."""
        self.keeps = keeps
        found: dict[tuple[str, str], Vector] = {}
        self.divide(PUBLIC, dict(self.hosts), found)
        return {place: amounts for place, amounts in found.items() if any(amounts) and place[0] != PUBLIC}

    def divide(
        self, parent: str, space: Space, found: dict[tuple[str, str], Vector], above: dict[str, int] | None = None
    ) -> None:
        """Top level first, then inside what each has; above: host → preference of whose it is."""
        level = Level(self, parent, space, above or {})
        level.adjust(keeps=self.keeps)
        for host in space:
            found[parent, host] = level.left(host)
        for row in level.rows:
            mine = {host: add(self.resources, *level.parts(row, host)) for host in space if level.parts(row, host)}
            best = {host: level.preference(claim, host) for claim in reversed(level.mine(row)) for host in claim.has}
            self.divide(row, mine, found, best)

    def load(self, host: str) -> Fraction:
        used = add(self.resources, *(unit.wish.unit for unit in self.units() if unit.host == host))
        return max(
            (Fraction(some, all_) for some, all_ in zip(used, self.hosts[host], strict=True) if all_),
            default=Fraction(0),
        )


class Level:
    """The children of one consumer that own something, and the hosts that it has."""

    def __init__(self, world: Owning, parent: str, space: Space, above: dict[str, int]) -> None:
        self.world, self.parent, self.space, self.above = world, parent, space, above
        children = world.children(parent)
        self.before = {row: self.held_before(row) for row in children}
        self.rows = sorted(
            (row for row in children if world.words[row].get("own")),
            key=lambda row: (self.rank(row), world.tree.index(row)),
        )
        self.claims = [Claim(row, entry) for row in self.rows for entry in world.words[row]["own"]]
        self.former: dict[Claim, Space] = {claim: {} for claim in self.claims}
        self.ever: set[str] = set()

    def held_before(self, row: str) -> Space:
        found: Space = {}
        for host, most in self.space.items():
            mine = [
                each for each in self.world.on(host) if each.owner != PUBLIC and self.world.is_below(each.owner, row)
            ]
            amounts = lower(add(self.world.resources, *(each.amounts for each in mine)), most)
            if any(amounts):
                found[host] = amounts
        return found

    def mine(self, row: str) -> list[Claim]:
        return [claim for claim in self.claims if claim.row == row]

    def parts(self, row: str, host: str) -> list[Vector]:
        return [claim.has[host] for claim in self.mine(row) if host in claim.has]

    # 0: targets

    def rank(self, row: str) -> int:
        found: int = self.world.words[row].get("rank", 0)
        return found

    def place(self, claim: Claim) -> tuple[bool, int]:
        """Its rank; what remains is worse than all."""
        return claim.way == "remaining", 0 if claim.way == "remaining" else self.rank(claim.row)

    def targets(self) -> dict[Claim, int]:
        """Of who is to have whole hosts, so many: full ones in rank order, in one rank names first.

        A part of a host counts as that host.
        """
        found: dict[Claim, int] = {}
        left = len(self.space)
        for claim in sorted(self.claims, key=lambda each: (*self.place(each), each.way != "names")):
            hosts = claim.entry.get("hosts", 0)
            wanted = len([host for host in claim.names if host in self.space])
            if claim.way == "count":
                wanted = hosts if isinstance(hosts, int) else int(hosts[:-1]) * len(self.space) // 100
            if claim.way not in {"per_host", "total"}:
                found[claim] = left if claim.way == "remaining" else min(wanted, left)
                left -= found[claim]
        return found

    # 1 to 3

    def adjust(self, *, keeps: bool) -> None:
        self.target = self.targets()
        for host in self.space:
            for row in self.rows:
                if host in self.before[row]:
                    self.remember(row, host)
        if keeps:
            return
        for claim in self.claims:
            for host in [host for host in claim.has if not self.is_busy(claim.row, host)]:
                self.former[claim][host] = claim.has.pop(host)
        self.let_go()
        self.give_short()

    def give_short(self) -> None:
        turns = sorted(self.claims, key=lambda c: (c.way == "remaining", self.rows.index(c.row), c.way != "names"))
        for claim in turns:
            self.round_off(claim, list(self.former.values()))
            for host in self.space:
                if claim.way == "per_host" or (host in claim.names and host not in claim.has):
                    self.take(claim, host)
            while claim.way in {"count", "remaining"} and len(claim.has) < self.target[claim]:
                if (found := self.next_host(claim)) is None:
                    break
                if self.is_back(claim, found) and not self.is_whole(found):
                    self.more(claim, found, self.former[claim][found])
                else:
                    self.take(claim, found)
            if claim.way == "total":
                self.take_total(claim)
        for claim in turns:
            self.round_off(claim, [])

    def round_off(self, claim: Claim, others: list[Space]) -> None:
        """Of its whole hosts it has what is public, but for what others had before."""
        for host in claim.has if claim in self.target else ():
            was = add(self.world.resources, *(each[host] for each in others if host in each))
            self.more(claim, host, bound(less(self.left(host), was)))

    def remember(self, row: str, host: str) -> None:
        """What was owned of a host is of the entries that had it, else of those that seem to (R-ADJUST-1)."""
        amounts = lower(self.before[row][host], self.left(host))
        able = [each for each in self.mine(row) if host in each.names]
        able = able or [each for each in self.mine(row) if not each.names]
        if not able or not any(amounts):
            return
        self.ever.add(host)
        said, entries = self.world.said.get((row, host), {}), self.mine(row)
        named = {at for at, each in enumerate(entries) if host in each.names}
        for at, part in said.items() if not named or named & said.keys() else ():
            if at < len(entries) and (at in named or not entries[at].names):
                self.more(self.mine(row)[at], host, lower(part, amounts))
                amounts = less(amounts, lower(part, amounts))
        if not any(amounts):
            return
        short = [each for each in able if self.lacks(each, host)]
        hosts = [each for each in short if each in self.target]
        totals = [each for each in short if each.way == "total" and self.lacks_all(each, amounts)]
        if len(able) == 1:
            line = able
        elif amounts == self.space[host] and hosts:
            line = hosts[:1]
        else:
            rest = [each for each in (*totals, *short, *able) if each.way != "per_host"]
            line = [*(each for each in short if each.way == "per_host"), *rest[:1]]
        for claim in line:
            part = lower(amounts, self.share(claim, host)) if claim.way == "per_host" else amounts
            self.more(claim, host, part)
            amounts = less(amounts, part)

    def lacks(self, claim: Claim, host: str) -> bool:
        if claim in self.target:
            return len(claim.has) < self.target[claim]
        return host not in claim.has if claim.way == "per_host" else bool(self.lack(claim))

    def lack(self, claim: Claim) -> dict[str, int]:
        """Of a total, what is missing."""
        have = dict(zip(self.world.resources, add(self.world.resources, *claim.has.values()), strict=True))
        return {name: most - have[name] for name, most in claim.entry["total"].items() if have[name] < most}

    def lacks_all(self, claim: Claim, amounts: Vector) -> bool:
        there = dict(zip(self.world.resources, amounts, strict=True))
        return all(there[name] <= self.lack(claim).get(name, 0) for name in claim.entry["total"])

    def let_go(self) -> None:
        """Who has more than its target gives up (R-ADJUST-2)."""
        order = list(self.space)
        for row in self.rows:
            alike = [each for each in self.mine(row) if each.way in {"count", "remaining"}]
            for mine in [alike, *([each] for each in self.mine(row) if each.way == "names")]:
                while sum(len(each.has) for each in mine) > sum(self.target[each] for each in mine):
                    pairs = [(each, host) for each in mine for host in each.has]
                    claim, host = min(
                        pairs,
                        key=lambda pair: (
                            self.world.load(pair[1]),
                            -self.preference(*pair),
                            -order.index(pair[1]),
                        ),
                    )
                    del claim.has[host]
                for claim in mine:
                    while len(claim.has) > self.target[claim]:
                        host = max(claim.has, key=order.index)
                        other = next(each for each in mine if len(each.has) < self.target[each])
                        self.more(other, host, claim.has.pop(host))
        for claim in [each for each in self.claims if each.way == "per_host"]:
            for host in list(claim.has):
                self.set(claim, host, lower(claim.has[host], self.share(claim, host)))
        for claim in [each for each in self.claims if each.way == "total"]:
            worst = {host: -self.preference(claim, host) for host in claim.has}
            for host in sorted(claim.has, key=lambda host: (self.world.load(host), worst[host], -order.index(host))):
                has = claim.has.pop(host)
                needed = self.lack(claim)
                there = dict(zip(self.world.resources, has, strict=True))
                is_over = any(there[name] > needed.get(name, 0) for name in claim.entry["total"])
                is_over = is_over or not any(there[name] for name in claim.entry["total"])
                self.set(claim, host, self.following(claim, has) if is_over else has)

    def preference(self, claim: Claim, host: str) -> int:
        """Stated, or that of the parent's entry that has the host, or 5."""
        found: int = claim.entry.get("preference", self.above.get(host, 5))
        return found

    def following(self, claim: Claim, there: Vector) -> Vector:
        """Of what there is as much as a total lacks; what it does not name follows the largest part."""
        has, lack = dict(zip(self.world.resources, there, strict=True)), self.lack(claim)
        needed = {name: lack.get(name, 0) for name in claim.entry["total"]}
        parts = [Fraction(min(need, has[name]), has[name]) for name, need in needed.items() if has[name]]
        largest = max(parts, default=Fraction(0))
        if not largest:
            return tuple(0 for _ in there)
        return tuple(min(needed[name], have) if name in needed else int(have * largest) for name, have in has.items())

    def asked_of(self, claim: Claim, host: str) -> Vector | None:
        """What an entry may have of a host: all, none, or a part."""
        if claim.way == "per_host":
            return self.share(claim, host)
        return self.space[host] if claim.way != "names" or host in claim.names else None

    def share(self, claim: Claim, host: str) -> Vector:
        """A part of every host: those left out follow the largest one named."""
        has, parts = self.space[host], claim.entry["per_host"]
        named = {
            name: Fraction(have * int(parts[name][:-1]), 100) if isinstance(parts[name], str) else Fraction(parts[name])
            for name, have in zip(self.world.resources, has, strict=True)
            if name in parts
        }
        whole = dict(zip(self.world.resources, has, strict=True))
        largest = max(
            (Fraction(some) / whole[name] for name, some in named.items() if whole[name]), default=Fraction(0)
        )
        return tuple(int(min(named.get(name, largest * have), have)) for name, have in whole.items())

    def is_busy(self, row: str, host: str) -> bool:
        """Whether units of anybody stand on what a consumer, or one below it, has of a host."""
        mine = {each for each in self.world.on(host) if self.world.is_below(each.owner, row) and each.owner != PUBLIC}
        return any(mine & set(unit.books) for unit in self.world.units())

    # Taking

    def set(self, claim: Claim, host: str, amounts: Vector) -> None:
        claim.has.pop(host, None)
        if any(amounts):
            claim.has[host] = amounts

    def more(self, claim: Claim, host: str, amounts: Vector) -> None:
        nothing = tuple(0 for _ in amounts)
        if any(amounts):
            claim.has[host] = add(self.world.resources, claim.has.get(host, nothing), amounts)

    def left(self, host: str) -> Vector:
        return less(self.space[host], *(claim.has[host] for claim in self.claims if host in claim.has))

    def worse(self, claim: Claim, host: str) -> list[Claim]:
        """Who has some of a host and is of strictly worse rank, the worst first; what remains is worst of all."""
        others = [each for each in self.claims if host in each.has and each is not claim]
        able = [each for each in others if self.place(each) > self.place(claim)]
        return sorted(able, key=self.place, reverse=True)

    def take(self, claim: Claim, host: str) -> None:
        """As much as is asked of a host: what is public, then what worse ranks have."""
        need = self.asked_of(claim, host) if host in self.space else None
        for other in (None, *self.worse(claim, host)) if need else ():
            there = other.has[host] if other else self.left(host)
            self.hand_over(other, claim, host, lower(bound(less(need or (), self.owned(claim, host))), there))

    def owned(self, claim: Claim, host: str) -> Vector:
        return claim.has.get(host, tuple(0 for _ in self.world.resources))

    def hand_over(self, other: Claim | None, claim: Claim, host: str, part: Vector) -> None:
        if other is not None:
            left = dict(zip(self.world.resources, less(other.has[host], part), strict=True))
            is_good = other.way != "total" or not any(part) or any(left[name] for name in other.entry["total"])
            self.set(other, host, tuple(each if is_good else 0 for each in left.values()))
        self.more(claim, host, part)

    def take_total(self, claim: Claim) -> None:
        """Part by part until it is met: its own of before, public ones, those of worse ranks."""
        order = list(self.space)

        def turn(host: str) -> tuple[int, Fraction, bool, int]:
            return self.how_former(claim, host), self.world.load(host), host in self.ever, order.index(host)

        former = self.former[claim]
        for most in (former, {}):
            for host in sorted(self.space, key=turn):
                there = lower(self.left(host), most.get(host, self.space[host]))
                self.more(claim, host, self.following(claim, there))
        pairs = [(each, host) for host in self.space for each in self.worse(claim, host)]
        pairs.sort(key=lambda pair: (self.world.load(pair[1]), order.index(pair[1])))
        for each, host in sorted(pairs, key=lambda pair: self.place(pair[0]), reverse=True):
            self.hand_over(each, claim, host, self.following(claim, each.has[host]))

    def next_host(self, claim: Claim) -> str | None:
        """The next host of a count: its own public ones, public ones, those of worse ranks, what better ones leave.

        Of its own also a part that it had, if all of that is public.
        """
        able = [host for host in self.space if host not in claim.has and self.is_left(claim, host)]
        public = [host for host in able if self.is_whole(host) or self.is_back(claim, host)]
        of_worse = [host for host in able if self.is_worse_all(claim, host)]
        for hosts in (public, of_worse, able):
            if hosts:
                return min(hosts, key=lambda host: self.order(claim, host, is_public=hosts is public))
        return None

    def is_whole(self, host: str) -> bool:
        return self.left(host) == self.space[host]

    def is_back(self, claim: Claim, host: str) -> bool:
        was = self.former[claim].get(host)
        return was is not None and lower(was, self.left(host)) == was

    def is_left(self, claim: Claim, host: str) -> bool:
        return any(self.left(host)) or bool(self.worse(claim, host))

    def is_worse_all(self, claim: Claim, host: str) -> bool:
        have = [other.has[host] for other in self.worse(claim, host)]
        return bool(have) and add(self.world.resources, self.left(host), *have) == self.space[host]

    def order(self, claim: Claim, host: str, *, is_public: bool) -> tuple[int | Fraction | bool, ...]:
        """By what is named; its own of before first; of worse ranks the worst; least workload; never owned."""
        was, worse = self.how_former(claim, host), [] if is_public else self.worse(claim, host)
        worst = max((self.place(each) for each in worse), default=(False, 0))
        return (
            bool(worse),
            self.fit(claim.row, host),
            0 if worse else was,
            -worst[0],
            -worst[1],
            is_public and not self.is_whole(host),
            self.world.load(host),
            was,
            host in self.ever,
            list(self.space).index(host),
        )

    def how_former(self, claim: Claim, host: str) -> int:
        """0: the entry had it, and nobody used it; 1: another entry of its consumer had it; 2: neither."""
        others = any(host in self.former[each] for each in self.mine(claim.row))
        return 0 if host in self.former[claim] else 1 if others else 2

    def fit(self, row: str, host: str) -> int:
        """First what consumers below it name, later what those below its siblings name, last what siblings name."""

        def is_named(top: str) -> bool:
            below = [each for each in self.world.tree if each != top and self.world.is_below(each, top)]
            return any(
                host in Claim(each, entry).names for each in below for entry in self.world.words[each].get("own", ())
            )

        if any(host in each.names for each in self.claims):
            return 3
        return 0 if is_named(row) else 2 if any(is_named(each) for each in self.rows if each != row) else 1

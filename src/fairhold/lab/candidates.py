"""Changes of a plan that may let a consumer wait less: one thing each, from least to most."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.lab.changing import Candidate, Part
from fairhold.model.plan import ConsumerSettings
from fairhold.units import SECOND, UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from fairhold.lab.changing import Key
    from fairhold.model.plan import Plan, PolicyEntry

MOST_GIVERS = 5
"""Siblings that a guarantee is taken from, and consumers whose grace is shortened one by one: those with the most."""
RATIOS = 15
"""A ratio or weight is raised by so many times itself at most."""
_DEFAULT = ConsumerSettings()


def candidates(plan: Plan, document: Mapping[str, Any], path: str) -> list[Candidate]:
    """All that is tried for a consumer, entry by entry, in one order."""
    found: list[Candidate] = []
    for at, entry in enumerate(plan.policies):
        finder = _Finder(plan, document, at, entry, plan.tree.rows[path])
        if finder.is_there:
            found += finder.find()
    return [each for each in found if each.most > 0]


class _Finder:
    """The candidates of one policy entry."""

    def __init__(self, plan: Plan, document: Mapping[str, Any], at: int, entry: PolicyEntry, row: int) -> None:
        self.plan, self.tree, self.document, self.entry, self.row = plan, plan.tree, document, entry, row
        self.at = at
        self.where = f" in policies[{at}]" if len(plan.policies) > 1 else ""
        self.line = [row]
        while self.tree.parent[self.line[-1]] > 0:
            self.line.append(self.tree.parent[self.line[-1]])
        groups = [plan.resource_groups[name] for name in entry.resource_groups]
        self.slots = sum(group.slots for group in groups)
        self.amounts = [
            sum(host.amounts[at] for group in groups for host in group.hosts if host.amounts)
            + sum(group.capacity[at] for group in groups if group.capacity)
            for at in range(len(plan.resources))
        ]
        listed = {self.tree.first_level[row] for row in entry.consumers}
        rivals = [
            other
            for other in plan.policies
            if other is not entry and set(other.resource_groups) & set(entry.resource_groups)
        ]
        top = self.tree.first_level[row]
        self.is_there = top in listed or not any(
            top in {self.tree.first_level[each] for each in other.consumers} for other in rivals
        )

    def find(self) -> Iterator[Candidate]:
        """See `candidates`."""
        yield from self._graces()
        yield from self._ranks()
        policy = self.entry.policy
        if policy.shares_vectors:
            yield from self._of_queues() if policy.has_queues else self._of_pools()
        elif policy.divides_by_ratio:
            yield from self._of_ratios()
        else:
            yield from self._of_ownership() if policy.owns_exactly else self._of_hybrid()
            yield from self._own_weights()
        yield from self._hosts()

    def said(self, row: int) -> ConsumerSettings:
        """What the entry states for a consumer."""
        return self.entry.consumers.get(row, _DEFAULT)

    def place(self, row: int, *keys: str | int) -> Key:
        """A setting of a consumer."""
        return ("policies", self.at, "consumers", self.tree.paths[row], *keys)

    def _candidate(self, kind: str, words: str, most: int, whole: int, *parts: Part) -> Candidate:
        return Candidate(kind, words + self.where, most, whole, parts)

    # Policies

    def _of_hybrid(self) -> Iterator[Candidate]:
        keys = self.entry.policy.keys  # one of another package may lack some
        if "owned" in keys:
            yield from self._guarantees("owned", lambda row: self.said(row).owned, self.slots, self._floor_of_slots)
        if "reserved" in keys:
            yield from self._reserved()
        yield from self._limits()

    def _of_ownership(self) -> Iterator[Candidate]:
        yield from self._of_hybrid()
        yield from self._loans()
        if self.said(self.row).share_ratio is not None:
            yield from self._ratios([self.row])

    def _of_ratios(self) -> Iterator[Candidate]:
        yield from self._ratios(self.line)
        yield from self._limits()

    def _of_pools(self) -> Iterator[Candidate]:
        yield from self._own()
        yield from self._ratios(self.line)
        yield from self._classes("share_priority", lambda row: self.said(row).share_priority)
        for row in self.line:
            for resource, limit in self.said(row).share_limit:
                yield self._amount("share_limit", row, resource, limit)

    def _of_queues(self) -> Iterator[Candidate]:
        for at, resource in enumerate(self.plan.resources):
            if any(self._deserved(row, at) for row in self.entry.consumers):
                yield from self._guarantees(
                    "deserved",
                    lambda row, at=at: self._deserved(row, at),  # type: ignore[misc]  # of this resource
                    self.amounts[at],
                    lambda row, at=at: sum(self._deserved(each, at) for each in self.tree.children[row]),  # type: ignore[misc]
                    resource=at,
                )
            for row in self.line:
                limit = dict(self.said(row).queue.limit).get(at, UNLIMITED)
                if limit < UNLIMITED:
                    yield self._amount("limit", row, at, limit)
                siblings = self.tree.children[self.tree.parent[row]]
                weights = {each: dict(self.said(each).queue.weight).get(at, Fraction(1)) for each in siblings}
                if len(siblings) > 1 and any(self._deserved(each, at) for each in siblings) and weights[row]:
                    scale = weights[row].denominator
                    start = int(weights[row] * scale)
                    place = self.place(row, "over_quota_weight", resource.name)
                    words = f"over_quota_weight of {self.tree.paths[row]}, {resource.name}"
                    part = Part(place, start, 1, scale)
                    whole = int(sum(weights.values()) * scale)
                    yield self._candidate("over_quota_weight", words, RATIOS * start, whole, part)
        yield from self._classes("priority", lambda row: self.said(row).queue.priority)

    # What is guaranteed

    def _floor_of_slots(self, row: int) -> int:
        return max(self.said(row).reserved, sum(self.said(each).owned for each in self.tree.children[row]))

    def _deserved(self, row: int, at: int) -> int:
        amount = dict(self.said(row).queue.deserved).get(at, 0)
        return 0 if amount == UNLIMITED else amount

    def _guarantees(
        self, key: str, of: Callable[[int], int], whole: int, floor: Callable[[int], int], resource: int | None = None
    ) -> Iterator[Candidate]:
        """More of what nobody has, level by level; and of what a sibling has, as far as its own children let it."""
        step, base = 1, 1
        keys: tuple[str, ...] = (key,)
        if resource is not None:
            known = self.plan.resources[resource]
            step, base, keys = known.step, known.base, (key, known.name)
        path = self.tree.paths[self.row]
        name = " ".join(keys)
        for level, row in enumerate(self.line):
            mine = [Part(self.place(each, *keys), of(each), step, base) for each in self.line[: level + 1]]
            parent = self.tree.parent[row]
            siblings = self.tree.children[parent]
            room = (of(parent) if parent else whole) - sum(map(of, siblings))
            limited = [self.said(each).limit - of(each) for each in self.line[: level + 1]]  # of slots
            highest = UNLIMITED if resource is not None else min(limited)
            if room >= step:
                source = f"what {self.tree.paths[parent]} has left" if parent else "what is unassigned"
                yield self._candidate(
                    key, f"{name} of {path}, from {source}", min(room, highest) // step, whole // step, *mine
                )
            givers = sorted((each for each in siblings if each != row), key=lambda each: (-of(each), each))
            for giver in givers[:MOST_GIVERS]:
                loses = Part(self.place(giver, *keys), of(giver), -step, base)
                most = min(of(giver) - floor(giver), highest) // step
                words = f"{name} of {path}, from {self.tree.paths[giver]}"
                yield self._candidate(key, words, most, whole // step, *mine, loses)

    def _own(self) -> Iterator[Candidate]:
        """Whole hosts by number."""
        for group in self.entry.resource_groups:
            hosts = len(self.plan.resource_groups[group].hosts)
            for level, row in enumerate(self.line):
                counts = {
                    each: self._hosts_of(each, group)
                    for each in (*self.tree.children[self.tree.parent[row]], *self.line[: level + 1])
                }
                mine = [part for each in self.line[: level + 1] for part in self._own_parts(each, group, counts[each])]
                parent, path = self.tree.parent[row], self.tree.paths[self.row]
                siblings = self.tree.children[parent]
                stated = [counts[each][1] for each in siblings]
                if any(count is None for count in stated) or any(counts[each][1] is None for each in self.line[:level]):
                    continue  # what is owned in parts, by percentages or by name is not counted in hosts
                above = self._hosts_of(parent, group)[1] if parent else hosts
                room = (above or 0) - sum(count or 0 for count in stated)
                source = f"what {self.tree.paths[parent]} has left" if parent else "what is unassigned"
                yield self._candidate("own", f"hosts of {path} in {group}, from {source}", room, hosts, *mine)
                for giver in siblings:
                    at, count = counts[giver]
                    if giver == row or not count:
                        continue
                    inside = sum(self._hosts_of(each, group)[1] or 0 for each in self.tree.children[giver])
                    loses = Part(self.place(giver, "own", at, "hosts"), count, -1)
                    words = f"hosts of {path} in {group}, from {self.tree.paths[giver]}"
                    yield self._candidate("own", words, count - max(1, inside), hosts, *mine, loses)

    def _hosts_of(self, row: int, group: str) -> tuple[int, int | None]:
        """Where the entry of a group stands, or would stand, and its number of hosts; None = otherwise said."""
        own = self.said(row).own
        mine = [at for at, each in enumerate(own) if each.resource_group == group]
        if not mine:
            return len(own), 0
        return mine[0], own[mine[0]].hosts if len(mine) == 1 else None

    def _own_parts(self, row: int, group: str, known: tuple[int, int | None]) -> Iterator[Part]:
        at, count = known
        if at == len(self.said(row).own):
            yield Part(self.place(row, "own", at, "resource_group"), said=group)
        yield Part(self.place(row, "own", at, "hosts"), count or 0, 1)

    def _reserved(self) -> Iterator[Candidate]:
        mine = self.said(self.row)
        part = Part(self.place(self.row, "reserved"), mine.reserved, 1)
        words = f"reserved of {self.tree.paths[self.row]}"
        yield self._candidate("reserved", words, mine.owned - mine.reserved, self.slots, part)

    def _loans(self) -> Iterator[Candidate]:
        """Slots that owners lend to it: a limit is raised on both lists, or the pair is written anew."""
        path, leaves = self.tree.paths, [row for row in range(1, len(self.tree)) if not self.tree.children[row]]
        if self.row not in leaves:
            return
        lenders = sorted((row for row in leaves if row != self.row), key=lambda row: (-self.said(row).owned, row))
        for lender in lenders[:MOST_GIVERS]:
            sides = [
                (self.row, "borrow_from", lender, self.said(self.row).borrow_from),
                (lender, "lend_to", self.row, self.said(lender).lend_to),
            ]
            limits = [next((each.limit for each in peers if each.consumer == peer), 0) for _, _, peer, peers in sides]
            start, owned = min(limits), self.said(lender).owned
            parts = []
            for row, key, peer, peers in sides:
                places = [at for at, each in enumerate(peers) if each.consumer == peer]
                at = places[0] if places else len(peers)
                if not places:
                    parts.append(Part(self.place(row, key, at, "consumer"), said=path[peer]))
                if not places or peers[at].limit < UNLIMITED:
                    parts.append(Part(self.place(row, key, at, "limit"), start, 1))
            words = f"slots that {path[lender]} lends to {path[self.row]}"
            yield self._candidate("loans", words, owned - start, self.slots, *parts)

    # Limits, weights, classes

    def _limits(self) -> Iterator[Candidate]:
        for row in self.line:
            limit = self.said(row).limit
            if limit < UNLIMITED:
                part = Part(self.place(row, "limit"), limit, 1)
                words = f"limit of {self.tree.paths[row]}"
                yield self._candidate("limit", words, self.slots - limit, self.slots, part)

    def _amount(self, key: str, row: int, at: int, limit: int) -> Candidate:
        """A limit of one resource."""
        known = self.plan.resources[at]
        part = Part(self.place(row, key, known.name), limit, known.step, known.base)
        words = f"{key} {known.name} of {self.tree.paths[row]}"
        return self._candidate(
            key, words, (self.amounts[at] - limit) // known.step, self.amounts[at] // known.step, part
        )

    def _ratios(self, rows: Sequence[int]) -> Iterator[Candidate]:
        for row in rows:
            ratios = [self._ratio(each) for each in self.tree.children[self.tree.parent[row]]]
            start = self._ratio(row)
            part = Part(self.place(row, "share_ratio"), start, 1)
            words = f"share_ratio of {self.tree.paths[row]}"
            if len(ratios) > 1:
                yield self._candidate("share_ratio", words, RATIOS * max(1, start), max(1, sum(ratios)), part)

    def _own_weights(self) -> Iterator[Candidate]:
        """What a division of another package weighs consumers by."""
        division = self.entry.policy.division
        for setting in division.weights if division else ():
            for row in self.line:
                weights = [setting.of(self.said(each)) for each in self.tree.children[self.tree.parent[row]]]
                start = setting.of(self.said(row))
                part = Part(self.place(row, setting.key), start, 1)
                most = min(RATIOS * max(1, start), setting.most - start)
                if len(weights) > 1:
                    words = f"{setting.key} of {self.tree.paths[row]}"
                    yield self._candidate("weight", words, most, max(1, sum(weights)), part)

    def _ratio(self, row: int) -> int:
        stated = self.said(row).share_ratio
        return 1 if stated is None else stated

    def _classes(self, key: str, of: Callable[[int], int]) -> Iterator[Candidate]:
        """Up to the class above its best sibling."""
        for row in self.line:
            others = [of(each) for each in self.tree.children[self.tree.parent[row]] if each != row]
            if others:
                part = Part(self.place(row, key), of(row), 1)
                words = f"{key} of {self.tree.paths[row]}"
                yield self._candidate(key, words, max(others) + 1 - of(row), 1, part)

    def _ranks(self) -> Iterator[Candidate]:
        for row in self.line:
            rank = self.said(row).rank
            rank = self.tree.rank[row] if rank is None else rank
            rank = self.plan.default_rank if rank is None else rank
            part = Part(self.place(row, "rank"), rank, -1)
            yield self._candidate("rank", f"rank of {self.tree.paths[row]}", rank, 1, part)

    def _graces(self) -> Iterator[Candidate]:
        """Others let go earlier."""

        def grace(row: int) -> int | None:
            own = self.said(row).grace
            return self.tree.grace[row] if own is None else own

        yield from self._shorter("reclaim_grace", grace)
        yield from self._shorter("min_runtime", lambda row: self.said(row).min_runtime)

    def _shorter(self, key: str, stated: Callable[[int], int | None]) -> Iterator[Candidate]:
        """A duration of others, which go by that of the consumer above: each of the longest, and all together."""
        length = [0] * len(self.tree)
        for row in range(1, len(self.tree)):
            own = stated(row)
            length[row] = length[self.tree.parent[row]] if own is None else own
        others = [row for row in range(1, len(length)) if not self.tree.children[row] and row != self.row]
        others = sorted(
            (row for row in others if length[row] >= SECOND and self.row not in self._above(row)),
            key=lambda row: (-length[row], row),
        )
        for row in others[:MOST_GIVERS]:
            part = Part(self.place(row, key), length[row] // SECOND, -1, unit="s")
            words = f"{key} of {self.tree.paths[row]}"
            yield self._candidate(key, words, part.start, part.start, part)
        if len(others) > 1:
            longest = length[others[0]] // SECOND
            parts = [Part(self.place(row, key), longest, -1, most=length[row] // SECOND, unit="s") for row in others]
            yield self._candidate(key, f"{key} of all others", longest, longest, *parts)

    def _above(self, row: int) -> list[int]:
        found = []
        while row > 0:
            found.append(row)
            row = self.tree.parent[row]
        return found

    def _hosts(self) -> Iterator[Candidate]:
        """More slots, or more hosts like the first one; nodes of a cluster are no part of the plan."""
        for name in self.entry.resource_groups:
            group, place = self.plan.resource_groups[name], ("resource_groups", name)
            said = self.document["resource_groups"][name]
            if group.selector is not None:
                continue
            if group.hosts:
                first, at = dict(said["hosts"][0]), len(said["hosts"])
                parts = [Part((*place, "hosts", at, key), said=value) for key, value in first.items() if key != "name"]
                named = Part((*place, "hosts", at, "name"), said=f"{name}-more-[1-{{}}]")
                count = len(group.hosts)
                yield self._candidate("hosts", f"hosts of {name} like its first", count, count, named, *parts)
            elif group.slots:
                part = Part((*place, "slots"), group.slots, 1)
                yield self._candidate("hosts", f"slots of {name}", group.slots, group.slots, part)

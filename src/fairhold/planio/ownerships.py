"""What has to be right between the entries of `own:` and the graces of a policy entry of vectors (SPEC §6.1, §6.3)."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

from fairhold.kernels.vectors import beyond
from fairhold.model.plan import ConsumerSettings
from fairhold.model.tree import ROOT
from fairhold.model.vector import amount_text, decimal_text
from fairhold.planio.effectless import owns_nothing
from fairhold.planio.reach import Reach, count_of, largest, most_of, per_host_of, reach_of_all, together
from fairhold.planio.report import listed, shown
from fairhold.planio.sides import listed_by

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.errors import Place
    from fairhold.model.plan import Plan, PolicyEntry
    from fairhold.model.vector import Owning
    from fairhold.planio.report import Report

_DEFAULT = ConsumerSettings()
_Stated = list[tuple[int, int, "Owning"]]
"""Row of the owner, position under its `own:`, entry."""


def check_owning(report: Report, plan: Plan, at: int) -> None:
    """Report what does not go together in one policy entry; `at` is its position under `policies:`."""
    check = _OwnCheck(report, plan, at)
    if check.names_are_right():
        for group in plan.policies[at].resource_groups:
            check.group(group)


class _OwnCheck:
    """One entry: only consumers that own something are looked at."""

    def __init__(self, report: Report, plan: Plan, at: int) -> None:
        self.report = report
        self.plan = plan
        self.tree = plan.tree
        self.entry: PolicyEntry = plan.policies[at]
        self.at = at

    def names_are_right(self) -> bool:
        """Whether all groups and hosts that `own` names are there; a fault for each that is not."""
        faults = len(self.report.faults)
        of_host = {host.name: group.name for group in self.plan.resource_groups.values() for host in group.hosts}
        for row, position, own in self.owned():
            place = self.place(row, position)
            if own.resource_group not in self.entry.resource_groups:
                self._wrong_group(own.resource_group, (*place, "resource_group"))
                continue
            if own.names and self.plan.resource_groups[own.resource_group].selector is not None:
                what = f"the hosts of `{shown(own.resource_group)}` are nodes of a cluster, which come and go"
                self.report.fault("unknown-host", what, "write a number of hosts or a percentage", (*place, "hosts"))
                continue
            for name in own.names:
                if name not in of_host:
                    mend = self.report.suggest(name, list(of_host)[:5000], "name a host of the plan")
                    self.report.fault("unknown-host", f"there is no host `{shown(name)}`", mend, (*place, "hosts"))
                elif of_host[name] != own.resource_group:
                    what = f"the host `{shown(name)}` is in the resource group `{shown(of_host[name])}`"
                    mend = f"name a host of `{shown(own.resource_group)}`"
                    self.report.fault("wrong-host", what, mend, (*place, "hosts"))
        return len(self.report.faults) == faults

    def _wrong_group(self, group: str, place: Place) -> None:
        if group in self.plan.resource_groups:
            what = f"this policy entry does not share `{shown(group)}`"
            mend = f"name one of {listed(self.entry.resource_groups)}"
            self.report.fault("group-of-another-entry", what, mend, place)
        else:
            mend = self.report.suggest(group, self.entry.resource_groups, "name a group of this policy entry")
            what = f"there is no resource group `{shown(group)}`"
            self.report.fault("unknown-resource-group", what, mend, place)

    def group(self, name: str) -> None:
        """Check every family that owns of one group, from the top."""
        families: dict[int, _Stated] = {}
        for row, position, own in self.owned():
            if own.resource_group == name:
                families.setdefault(self.tree.parent[row], []).append((row, position, own))
        if not families:
            return
        if self.plan.resource_groups[name].has_unknown_hosts:
            return
        hosts, resources = self.plan.resource_groups[name].hosts, self.plan.resources
        of = {host.name: host.amounts for host in hosts}
        reach: dict[int, Reach] = {ROOT: reach_of_all(hosts)}
        # Parents stand before their children, so that what one has is known when its family's turn comes.
        for parent in sorted(families):
            if parent not in reach:
                self._owns_nothing(parent, name, families[parent])
                continue
            self._check_family(parent, name, families[parent], reach[parent])
            mine: dict[int, list[Owning]] = {}
            for row, _, own in families[parent]:
                mine.setdefault(row, []).append(own)
            reach |= {row: most_of(entries, reach[parent], of, resources) for row, entries in mine.items()}

    def _owns_nothing(self, parent: int, group: str, family: _Stated) -> None:
        path = shown(self.tree.paths[parent])
        for row, position, _ in family:
            what = f"`{shown(self.tree.paths[row])}` owns of `{shown(group)}`, and `{path}` above it owns nothing there"
            mend = f"let `{path}` own at least as much"
            self.report.fault("children-own-more", what, mend, self.place(row, position))

    def _check_family(self, parent: int, group: str, family: _Stated, reach: Reach) -> None:
        """Children of one parent: no host twice, `remaining` once, together no more than the parent has."""
        self._check_names(parent, family, reach)
        self._check_pairs(family)
        rest = [(row, position) for row, position, own in family if own.remaining]
        for row, position in rest[1:]:
            what = f"`remaining` is already used by `{shown(self.tree.paths[rest[0][0]])}`, which leaves nothing"
            self.report.fault(
                "remaining-twice", what, "write a number or a percentage", (*self.place(row, position), "hosts")
            )
        part = sum((own.percent or Fraction(0) for _, _, own in family), Fraction(0))
        if part > 1:
            self._more(parent, group, f"{decimal_text(part * 100)}% of the hosts", "100%", family)
            return
        hosts = sum(count_of(own, reach.number) or 0 for _, _, own in family)
        if reach.number is not None and hosts > reach.number:
            self._more(parent, group, "1 host" if hosts == 1 else f"{hosts} hosts", str(reach.number), family)
            return
        self._check_effect(family, reach, hosts)
        if hosts and any(own.per_host for _, _, own in family):
            what = (
                f"`{shown(group)}` is owned both as whole hosts and as a part of every host, and no host has room for"
            )
            what += " both; the best ranks get theirs"
            self.report.warn("overcommitted", what, "write parts alone, or whole hosts", self.place(*family[-1][:2]))
        self._check_amounts(parent, group, family, reach, hosts)

    def _check_effect(self, family: _Stated, reach: Reach, hosts: int) -> None:
        """Warn of entries that give nothing; hosts: whole ones that all of them ask for."""
        for row, position, own in family:
            others = hosts - (count_of(own, reach.number) or 0)
            why = owns_nothing(own, reach, self.plan.resources, others)
            if why:
                mend = "write more, or leave the entry out"
                self.report.warn("owns-nothing", why, mend, self.place(row, position))

    def _check_amounts(self, parent: int, group: str, family: _Stated, reach: Reach, hosts: int) -> None:
        """Compare what is owned of single resources, in all and of every host, beside so many whole hosts.

        The first one beyond is told; what depends on which hosts the parent has is not.
        """
        entries, resources = [own for _, _, own in family], self.plan.resources
        there = sum(number for _, number in reach.kinds)
        count = there if reach.number is None else reach.number
        asked = {vector: together(entries, vector, resources) for vector, _ in reach.kinds}
        free = largest(reach.kinds, count - hosts, lambda vector: beyond(vector, asked[vector]))
        per_host, parts = per_host_of(entries, len(resources))
        for at, resource in enumerate(resources):
            total = sum(dict(own.total).get(at, 0) for own in entries)
            room = min(free[at], reach.amounts[at])
            over = {vector: number for vector, number in reach.kinds if asked[vector][at] > vector[at]}
            name = f"of `{shown(resource.name)}`"
            if total > room:
                theirs, its = total + reach.amounts[at] - room, reach.amounts[at]
            elif per_host[at] > reach.per_host[at]:
                theirs, its, name = per_host[at], reach.per_host[at], f"{name} on a host"
            elif sum(over.values()) > there - count:
                most = max(over, key=lambda vector: asked[vector][at] - vector[at])
                theirs, its, name = asked[most][at], most[at], f"{name} on a host"
            elif parts[at] > 1:
                self._more(parent, group, f"{float(parts[at] * 100):g}% {name}", "100%", family)
                return
            else:
                continue
            self._more(parent, group, f"{amount_text(resource, theirs)} {name}", amount_text(resource, its), family)
            return

    def _check_names(self, parent: int, family: _Stated, reach: Reach) -> None:
        owner: dict[str, int] = {}
        for row, position, own in family:
            for name in own.names:
                place = (*self.place(row, position), "hosts")
                if name in owner:
                    what = f"the host `{shown(name)}` is owned by `{shown(self.tree.paths[owner[name]])}` already"
                    self.report.fault("duplicate-host", what, "name it once", place)
                elif reach.names is not None and name not in reach.names:
                    path = shown(self.tree.paths[parent])
                    what = f"`{path}` does not own the host `{shown(name)}`"
                    mend = f"name one that `{path}` owns, or let it own this one"
                    self.report.fault("children-own-more", what, mend, place)
                owner.setdefault(name, row)

    def _check_pairs(self, family: _Stated) -> None:
        """Two entries of one consumer are for different hosts, or differ in more than how much they ask for."""
        for (row, _, one), (other_row, position, other) in combinations(family, 2):
            if row != other_row:
                continue
            path, place = shown(self.tree.paths[row]), self.place(row, position)
            names = one.names or other.names
            if names and (one.per_host or other.per_host):
                what = f"`{path}` owns the host `{shown(names[0])}` whole in one entry, and a part of it in another"
                self.report.fault("owned-twice", what, "leave one of the two out", place)
            elif not (names or one.remaining) and _terms(one) == _terms(other) and _way(one) == _way(other):
                what = f"two entries of `{path}` for `{shown(one.resource_group)}` differ only in how much is owned"
                self.report.fault("owned-twice", what, "write one entry with the total", place)

    def _more(self, parent: int, group: str, theirs: str, its: str, family: _Stated) -> None:
        """Tell that children own more than their parent; of the group itself, as a warning: then ranks decide."""
        if parent == ROOT:
            what = f"{theirs} of the group `{shown(group)}` are owned on the first level"
            what += f", and it has {its}: the best ranks get all"
            self.report.warn("overcommitted", what, "lower what is owned, or add hosts", self.place(*family[-1][:2]))
            return
        path = shown(self.tree.paths[parent])
        what = f"the children of `{path}` own {theirs} of the group `{shown(group)}` together, more than its {its}"
        mend = f"lower what they own, or let `{path}` own more"
        # How many nodes a cluster has is no fault of the plan.
        tell = self.report.fault if self.plan.resource_groups[group].selector is None else self.report.warn
        tell("children-own-more", what, mend, self.place(*family[-1][:2]))

    def owned(self) -> Iterator[tuple[int, int, Owning]]:
        """All entries of `own:`, by row."""
        for row in sorted(self.entry.consumers):
            for position, own in enumerate(self.entry.consumers[row].own):
                yield row, position, own

    def place(self, row: int, position: int) -> Place:
        return ("policies", self.at, "consumers", self.tree.paths[row], "own", position)


def _terms(own: Owning) -> tuple[object, ...]:
    """All that an entry says but how much is owned."""
    return own.preference, own.reserved, own.lend_grace, own.reclaim_before_next_level


def _way(own: Owning) -> tuple[bool, ...]:
    """In which way an entry says how much is owned; a number and a percentage are one."""
    return bool(own.per_host), bool(own.total), own.remaining


def check_pools(report: Report, plan: Plan) -> None:
    """Report first-level consumers that two policy entries of vectors list for different groups.

    A request of theirs names no group, and would have pools of both.
    """
    tree = plan.tree
    entries = [(at, entry) for at, entry in enumerate(plan.policies) if entry.policy.shares_vectors]
    for (first, one), (second, other) in combinations(entries, 2):
        if set(one.resource_groups) & set(other.resource_groups):
            continue
        listed_in_one = listed_by(one, tree)
        for row in sorted(other.consumers):
            if tree.first_level[row] in listed_in_one:
                path = shown(tree.paths[row])
                what = f"`{path}` is in `policies[{first}]` and `policies[{second}]`, which share different groups"
                mend = "list all of its branch in one of them, or write one entry for all groups"
                report.fault("consumer-under-two", what, mend, ("policies", second, "consumers", tree.paths[row]))
                break

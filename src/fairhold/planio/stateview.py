"""What the readers of a state share: the plan's groups and hosts, and what was read so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.planio.names import find_leaf
from fairhold.planio.report import listed, shown
from fairhold.planio.resources import known
from fairhold.planio.sides import listed_by
from fairhold.planio.vectors import host_of_vector

if TYPE_CHECKING:
    from fairhold.errors import Place
    from fairhold.model.plan import Plan, PolicyEntry
    from fairhold.model.state import Request
    from fairhold.model.vector import Vector
    from fairhold.planio.report import Report
    from fairhold.planio.values import Value


def slot_groups(plan: Plan) -> tuple[str, ...]:
    """Resource groups whose slots a policy entry shares, in the entries' order."""
    entries = (entry for entry in plan.policies if not entry.policy.shares_vectors)
    return tuple(dict.fromkeys(name for entry in entries for name in entry.resource_groups))


def vector_entries(plan: Plan) -> list[PolicyEntry]:
    """Policy entries that share vectors."""
    return [entry for entry in plan.policies if entry.policy.shares_vectors]


def _room(plan: Plan, amounts: Vector) -> Vector:
    """What may be used of a host, `overcommit` times what it has, rounded down."""
    return tuple(int(units * each.overcommit) for units, each in zip(amounts, plan.resources, strict=True))


def _names(plan: Plan) -> frozenset[str]:
    """Paths of all consumers, which begin with `/`, and names of hosts that are shared in vectors."""
    groups = (plan.resource_groups[name] for entry in vector_entries(plan) for name in entry.resource_groups)
    return frozenset(plan.tree.paths) | {host.name for group in groups for host in group.hosts}


class StateView:
    """A state that is being read.

    shared   : resource groups whose slots a policy entry shares, in the entries' order
    vectors  : resource groups that are shared in vectors
    queues   : those of them that queues alone share
    room     : host of a vector group → base units of every resource that may be used
    amounts  : host of a vector group → base units of every resource that it has
    used     : host → base units that the allocations read so far use
    host     : name of a host → its resource group
    requests : id → request, None where the request itself is at fault
    counted  : resource group → first place that gives counts for it
    asked    : resource group → first place that gives a request for it
    stated   : resource group → first place that gives amounts of it without a request
    now      : instant of the state, 0 = not known
    gone     : paths of consumers, and hosts shared in vectors, that only the plan before had
    gone_hosts : those of them that the plan has not even with slots
    is_other : whether the state is of a plan before
    """

    def __init__(self, report: Report, plan: Plan, before: Plan | None = None) -> None:
        self.report = report
        self.plan = plan
        self.tree = plan.tree
        self.shared = slot_groups(plan)
        self.vectors = frozenset(name for entry in vector_entries(plan) for name in entry.resource_groups)
        others = (entry for entry in vector_entries(plan) if not entry.policy.has_queues)
        self.queues = self.vectors - {name for entry in others for name in entry.resource_groups}
        self.resources = known(plan.resources)
        self.amounts = {host.name: host.amounts for name in self.vectors for host in plan.resource_groups[name].hosts}
        self.room = {host: _room(plan, amounts) for host, amounts in self.amounts.items()}
        self.used: dict[str, list[int]] = {}
        self._groups: dict[int, tuple[str, ...]] = {}
        self.host = {host.name: group.name for group in plan.resource_groups.values() for host in group.hosts}
        self.requests: dict[str, Request | None] = {}
        self.counted: dict[str, Place] = {}
        self.asked: dict[str, Place] = {}
        self.stated: dict[str, Place] = {}
        self.now = 0
        self.is_other = before is not None
        self.gone = _names(before) - _names(plan) if before is not None else frozenset()
        self.gone_hosts = self.gone - set(self.host)

    def items(self, value: Value, place: Place, what: str) -> list[Value]:
        """Return the members of a section that may be left out."""
        return [] if value is None else self.report.sequence(value, place, what=what)

    def past(self, value: Value, place: Place, what: str) -> int:
        """Return an instant that is not after the state's own."""
        instant = self.report.instant(value, place)
        if self.now and instant > self.now:
            self.report.fault("later-than-now", f"{what} later than `now`", "give the earlier instant", place)
        return instant

    def leaf(self, value: Value, place: Place) -> int:
        """Return the row of a leaf, -1 with a fault where it is none."""
        path = self.report.text(value, place, what="the path of a consumer")
        return find_leaf(self.report, self.tree, path, place) if isinstance(value, str) else -1

    def group(self, name: str, place: Place) -> bool:
        """Whether a resource group is there and shared by a policy entry; a fault where not."""
        if name in self.shared:
            return True
        if name in self.vectors:
            what = f"`{shown(name)}` is shared in amounts of resources, and this counts slots"
            self.report.fault("vectors-need-requests", what, "write `requests:` with a `unit`", place)
        elif name in self.plan.resource_groups:
            what = f"no policy entry of the plan shares the resource group `{shown(name)}`"
            self.report.fault("group-without-policy", what, "leave it out, or add it to a policy entry", place)
        else:
            mend = self.report.suggest(name, self.plan.resource_groups, "name a resource group of the plan")
            self.report.fault("unknown-resource-group", f"there is no resource group `{shown(name)}`", mend, place)
        return False

    def group_of(self, node: dict[str, Value], place: Place) -> str:
        """Return the `resource_group` of a row, which may be left out where only one is shared; empty with a fault."""
        if "resource_group" in node:
            here = (*place, "resource_group")
            name = self.report.text(node["resource_group"], here, what="the name of a resource group")
            return name if name and self.group(name, here) else ""
        if len(self.shared) == 1:
            return self.shared[0]
        if not self.shared:
            what = "the plan shares amounts of resources, and this counts slots"
            self.report.fault("vectors-need-requests", what, "write `requests:` with a `unit`", place)
            return ""
        mend = f"add `resource_group:` with one of {listed(self.shared)}"
        self.report.fault("missing-key", "the plan shares several resource groups, and none is named", mend, place)
        return ""

    def has_hosts(self, group: str) -> bool:
        """Whether a resource group is made of hosts."""
        return bool(self.plan.resource_groups[group].hosts)

    def known_host(self, name: str, place: Place) -> bool:
        """Whether the plan has a host; a fault where not."""
        if name in self.host:
            return True
        otherwise = "name a host of the plan" if self.host else "the plan has no hosts: leave it out"
        mend = self.report.suggest(name, list(self.host)[:5000], otherwise)
        self.report.fault("unknown-host", f"there is no host `{shown(name)}`", mend, place)
        return False

    def host_of(self, node: dict[str, Value], group: str, place: Place) -> str:
        """Return the `host` of a row: needed where the group has hosts, empty where it has none."""
        if "host" not in node:
            if self.has_hosts(group):
                what = f"the resource group `{shown(group)}` has hosts, and none is named"
                self.report.fault("missing-key", what, "add `host:`", place)
            return ""
        here = (*place, "host")
        name = self.report.text(node["host"], here, what="the name of a host")
        if not isinstance(node["host"], str) or not self.known_host(name, here):
            return ""
        if self.host[name] != group:
            what = f"the host `{shown(name)}` is in the resource group `{shown(self.host[name])}`"
            self.report.fault("wrong-host", what, f"name a host of `{shown(group)}`", here)
        return name

    def host_for(self, node: dict[str, Value], request: Request, place: Place) -> str:
        """Return the `host` of a row about units of a request; empty where it has none, or with a fault."""
        if request.unit:
            return host_of_vector(self, node, request, place)
        return self.host_of(node, request.resource_group, place)

    def groups_of(self, consumer: int) -> tuple[str, ...]:
        """Resource groups on whose hosts a leaf's units of vectors may stand: those of its policy entries.

        Those are the entries that list somebody of its first-level branch, at whatever times; else all, if all share
        the same groups; else none.
        """
        top = self.tree.first_level[consumer]
        if top not in self._groups:
            entries = vector_entries(self.plan)
            mine = [entry for entry in entries if top in listed_by(entry, self.tree)]
            if not mine and len({frozenset(entry.resource_groups) for entry in entries}) == 1:
                mine = entries
            self._groups[top] = tuple(dict.fromkeys(name for entry in mine for name in entry.resource_groups))
        return self._groups[top]

    def has_queues(self, consumer: int) -> bool:
        """Whether a leaf's units of vectors are shared by `fair_share`, at whatever time."""
        groups = set(self.groups_of(consumer)) if consumer > 0 else set()
        queues = (entry for entry in vector_entries(self.plan) if entry.policy.has_queues)
        return any(groups & set(entry.resource_groups) for entry in queues)

    def request(self, value: Value, place: Place) -> Request | None:
        """Return the request of an id; None with a fault where there is none."""
        name = self.report.text(value, place, what="the id of a request")
        if isinstance(value, str) and name not in self.requests:
            mend = self.report.suggest(name, list(self.requests)[:5000], "name one of those under `requests:`")
            self.report.fault("unknown-request", f"there is no request `{shown(name)}`", mend, place)
        return self.requests.get(name)

    def check_modes(self) -> None:
        """Check that a group has counts or requests, and requests where ages or hosts matter (SPEC §11)."""
        for group, place in self.counted.items():
            if group in self.asked:
                what = f"`{shown(group)}` has counts here and requests elsewhere"
                self.report.fault("counts-and-requests", what, "give one of the two for a resource group", place)
        for entry in self.plan.policies:
            victims = entry.settings.victims
            for group in entry.resource_groups:
                if victims != "youngest" and group in self.counted and group not in self.asked:
                    what = (
                        f"the order of victims is `{victims}`, and counts in `{shown(group)}` have no age or priority"
                    )
                    mend = "write `requests:` and `allocations:`, or set `victims: youngest` in the plan"
                    self.report.fault("victims-need-requests", what, mend, self.counted[group])
                runtimes = (each.min_runtime for each in entry.consumers.values())
                if group in self.counted and group not in self.asked and any(runtimes):
                    what = f"`min_runtime` needs the run time of units, and counts in `{shown(group)}` do not have it"
                    mend = "write `requests:` and `allocations:`, or leave `min_runtime` out of the plan"
                    self.report.fault("runtime-needs-requests", what, mend, self.counted[group])
                if entry.settings.packing == "exclusive" and group in self.counted and group not in self.asked:
                    what = f"the packing of `{shown(group)}` is `exclusive`, and counts have no hosts"
                    mend = "write `requests:` and `allocations:`"
                    self.report.fault("packing-needs-requests", what, mend, self.counted[group])

"""Plans and states with one value changed: what is tried for a request that waits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fairhold.model.plan import ConsumerSettings
from fairhold.model.vector import amount

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.model.plan import Plan
    from fairhold.model.state import Request, State
    from fairhold.model.vector import Owning, Vector

Value = int | float | str | bool | tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Change:
    """One value of the plan or the state that is otherwise.

    what     : its key there; `amount` for a resource of a host or of a request's unit
    old, new : as files write them; None = not stated
    consumer, host, request, resource, resource_group : whose it is, as far as it is theirs
    """

    what: str
    old: Value
    new: Value
    consumer: str = ""
    host: str = ""
    request: str = ""
    resource: str = ""
    resource_group: str = ""

    def document(self) -> dict[str, Any]:
        """The change as data; who has nothing to do with it is left out."""
        found: dict[str, Any] = {"what": self.what, "old": self.old, "new": self.new}
        names = ("consumer", "host", "request", "resource", "resource_group")
        return found | {name: getattr(self, name) for name in names if getattr(self, name)}


@dataclass(frozen=True, slots=True)
class Trial:
    """A plan and a state after some changes."""

    plan: Plan
    state: State
    changes: tuple[Change, ...]


def with_settings(plan: Plan, at: int, row: int, **values: Any) -> Plan:  # noqa: ANN401 - settings of any type
    """The plan with other settings of a consumer in one policy entry."""
    entry = plan.policies[at]
    mine = replace(entry.consumers.get(row, ConsumerSettings()), **values)
    return _with_entry(plan, at, consumers={**entry.consumers, row: mine})


def with_entry_settings(plan: Plan, at: int, **values: Any) -> Plan:  # noqa: ANN401 - settings of any type
    """The plan with other settings of one policy entry."""
    return _with_entry(plan, at, settings=replace(plan.policies[at].settings, **values))


def _with_entry(plan: Plan, at: int, **values: Any) -> Plan:  # noqa: ANN401 - fields of any type
    policies = list(plan.policies)
    policies[at] = replace(plan.policies[at], **values)
    return replace(plan, policies=tuple(policies))


def with_owning(plan: Plan, at: int, row: int, group: str, **values: Any) -> tuple[Plan, list[Owning]]:  # noqa: ANN401
    """The plan with other values of what a consumer owns of a group, and the entries as they were."""
    own = plan.policies[at].consumers[row].own
    changed = tuple(replace(each, **values) if each.resource_group == group else each for each in own)
    return with_settings(plan, at, row, own=changed), [each for each in own if each.resource_group == group]


def with_host(plan: Plan, group: str, host: str, totals: Vector) -> tuple[Plan, tuple[Change, ...]]:
    """The plan with a host that has at least so much of every resource, overcommitment counted."""
    changes: list[Change] = []
    hosts = list(plan.resource_groups[group].hosts)
    place = next(at for at, each in enumerate(hosts) if each.name == host)
    amounts = list(hosts[place].amounts)
    for at, (resource, need) in enumerate(zip(plan.resources, totals, strict=True)):
        old = amounts[at]
        if int(old * resource.overcommit) < need:
            amounts[at] = int(-(-need // resource.overcommit))
            stated = amount(resource, old), amount(resource, amounts[at])
            changes.append(Change("amount", *stated, host=host, resource=resource.name))
    hosts[place] = replace(hosts[place], amounts=tuple(amounts))
    groups = {**plan.resource_groups, group: replace(plan.resource_groups[group], hosts=tuple(hosts))}
    return replace(plan, resource_groups=groups), tuple(changes)


def with_request(state: State, request: str, **values: Any) -> State:  # noqa: ANN401 - fields of any type
    """The state with one request that wants something else."""
    requests = tuple(replace(each, **values) if each.id == request else each for each in state.requests)
    return replace(state, requests=requests)


def with_fewer_labels(plan: Plan, state: State, request: Request) -> Iterator[Trial]:
    """A request with one label less that hosts are to have, or to have not; then with none of either kind."""
    siting = request.siting
    tried = [
        (key, labels, tuple(each for each in labels if each != label))
        for key, labels in (("need", siting.need), ("avoid", siting.avoid))
        for label in labels
    ]
    for key, labels, left in dict.fromkeys([*tried, *((key, labels, ()) for key, labels, _ in tried)]):
        change = Change(key, labels, left, request=request.id)
        fewer = siting._replace(need=left) if key == "need" else siting._replace(avoid=left)
        yield Trial(plan, with_request(state, request.id, siting=fewer), (change,))

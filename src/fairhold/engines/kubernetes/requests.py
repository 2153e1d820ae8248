"""What a pod asks for: containers, init containers, sidecars and overhead, as kube-scheduler counts them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.units import parse_quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fairhold.model.kubernetes import Amounts


Sums = dict[str, Fraction]
_HUGE = "hugepages-"
_PENDING = "PodResizePending"
"""Condition of a pod that its kubelet does not resize now, or never (`Infeasible`)."""


def amounts_of(spec: Mapping[str, Any], status: Mapping[str, Any] | None = None) -> Amounts:
    """The amounts that a node has to have free for a pod, by name of the resource.

    While a pod is resized, what its kubelet has given to a container counts where that is more than it asks for; alone
    where the kubelet says that it can never give what is asked for.

    A sidecar (an init container that is restarted always) runs beside all that starts after it. What a pod states for
    itself as a whole comes before the sum of its containers, where it may. One pod counts as one of `pods`.
    """
    given, together = _given(status or {}), Sums()
    for container in spec.get("containers") or ():
        _add(together, given.requests(container))
    sidecars, peak = Sums(), Sums()
    for container in spec.get("initContainers") or ():
        mine = given.requests(container)
        if container.get("restartPolicy") == "Always":
            _add(sidecars, mine)
            _add(together, mine)
            mine = {}
        _raise(peak, _sum(sidecars, mine))
    _raise(together, peak)
    together.update(_as_a_whole(spec.get("resources") or {}, together))
    _add(together, quantities(spec.get("overhead")))
    together["pods"] = Fraction(1)
    return tuple(sorted((name, amount) for name, amount in together.items() if amount > 0))


def quantities(stated: Mapping[str, Any] | None) -> Sums:
    """Resources and amounts of an object; what is no quantity is left out, as the API server lets none through."""
    found = ((name, parse_quantity(str(text))) for name, text in (stated or {}).items())
    return {name: amount for name, amount in found if amount is not None}


def less(there: Amounts, used: Iterable[Amounts]) -> Amounts:
    """What is left of some amounts, at least nothing."""
    left = dict(there)
    for amounts in used:
        for name, amount in amounts:
            if name in left:
                left[name] -= amount
    return tuple((name, max(Fraction(0), amount)) for name, amount in left.items())


def _as_a_whole(resources: Mapping[str, Any], sums: Sums) -> Sums:
    """What a pod states of itself: cores, memory and huge pages alone; a limit where nothing else says it."""
    limits = quantities(resources.get("limits"))
    found = {name: amount for name, amount in limits.items() if name not in sums or name.startswith(_HUGE)}
    found |= quantities(resources.get("requests"))
    return {name: amount for name, amount in found.items() if name in {"cpu", "memory"} or name.startswith(_HUGE)}


class _Given(NamedTuple):
    """What a kubelet has given to the containers of a pod, by name; is_final: it can never give what is asked for."""

    of: Mapping[str, Mapping[str, Any]]
    is_final: bool

    def requests(self, container: Mapping[str, Any]) -> Sums:
        """What counts of a container."""
        resources = container.get("resources") or {}
        asked = quantities(resources.get("limits")) | quantities(resources.get("requests"))
        if (status := self.of.get(container.get("name") or "")) is None:
            return asked
        given: Sums = {}
        for each in (status.get("allocatedResources"), (status.get("resources") or {}).get("requests")):
            _raise(given, quantities(each))
        if not self.is_final:
            _raise(asked, given)
            return asked
        return asked | given


def _given(status: Mapping[str, Any]) -> _Given:
    statuses = [*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ())]
    of = {each.get("name") or "": each for each in statuses if "allocatedResources" in each or "resources" in each}
    conditions = status.get("conditions") or () if of else ()
    final = (each for each in conditions if each.get("type") == _PENDING and each.get("reason") == "Infeasible")
    return _Given(of, any(each.get("status") == "True" for each in final))


def _add(into: Sums, more: Sums) -> None:
    for name, amount in more.items():
        into[name] = into.get(name, Fraction(0)) + amount


def _sum(one: Sums, other: Sums) -> Sums:
    found = dict(one)
    _add(found, other)
    return found


def _raise(into: Sums, least: Sums) -> None:
    for name, amount in least.items():
        into[name] = max(into.get(name, Fraction(0)), amount)

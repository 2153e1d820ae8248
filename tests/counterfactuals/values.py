"""Every single value of a plan and a state of resources that could be another, read off the files alone."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING, Any

from fairhold.units import format_duration, parse_duration, parse_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Json = dict[str, Any]
SPANS = ("preemption_delay", "reclaim_min_runtime", "preempt_min_runtime")


def paths_of(tree: Json, above: str = "") -> Iterator[str]:
    """All consumers of a tree: nested under `consumers`, or with paths as their names."""
    for name, node in tree.items():
        path = name if name.startswith("/") else f"{above}/{name}"
        yield path
        yield from paths_of((node or {}).get("consumers", {}), path)


class Values:
    """The values of one plan and state."""

    def __init__(self, plan: Json, state: Json) -> None:
        self.plan, self.state, self.entry = plan, state, plan["policies"][0]
        self.is_queues = self.entry["policy"] == "fair_share"
        self.said = {path: self.entry["consumers"].get(path) or {} for path in paths_of(plan["consumers"])}
        self.hosts = [(name, host) for name, group in plan["resource_groups"].items() for host in group["hosts"]]
        self.units = sum(request["count"] for request in state["requests"])
        self.total: dict[str, Fraction] = {
            name: sum((Fraction(str(host.get(name, 0))) for _, host in self.hosts), Fraction(0))
            for name in plan["resources"]
        }
        self.grain = {name: grain_of(self._amounts(name)) for name in plan["resources"]}
        now = parse_instant(state["now"]) or 0
        starts = [each["started"] for each in state.get("allocations", [])] + [state["now"]]
        submits = [each.get("submitted", state["now"]) for each in state["requests"]]
        self.ages, self.waits = ({now - (parse_instant(each) or 0) for each in some} for some in (starts, submits))

    def _amounts(self, name: str) -> Iterator[Fraction]:
        yield Fraction(str(self.plan["resources"][name].get("step", 1)))
        yield from (Fraction(str(host.get(name, 0))) for _, host in self.hosts)
        yield from (Fraction(str(request["unit"].get(name, 0))) for request in self.state["requests"])
        for said in self.said.values():
            stated = [said.get(key) for key in ("share_limit", "limit", "deserved")]
            stated += [own.get(key) for own in said.get("own", ()) for key in ("total", "per_host")]
            found = [each.get(name, 0) for each in stated if isinstance(each, dict)]
            yield from (Fraction(str(each)) for each in found if not isinstance(each, str))

    def all(self, request: str) -> Iterator[Json]:
        """Every single change; request: the one that is to have more."""
        yield from self._settings()
        for path in self.said:
            yield from ({**change, "consumer": path} for change in self._consumer(path))
        yield from self._of_hosts()
        for each in self.state["requests"]:
            mine = self._request(each, is_own=each["id"] == request)
            yield from ({**change, "request": each["id"]} for change in mine)

    def _grid(self, name: str, most: Fraction) -> list[int | float]:
        grain = self.grain[name]
        return [exact(each * grain) for each in range(int(most / grain) + 1)]

    def _settings(self) -> Iterator[Json]:
        said = self.entry.get("settings", {})
        if self.is_queues:
            numbers = [exact(Fraction(each, 10)) for each in range(41)]
            yield from changes("reclaimer_utilization_multiplier", said, 1, [each for each in numbers if each >= 1])
            if self.state.get("usage"):
                yield from changes("k", said, 0, numbers)
            yield from changes("consolidation", said, old=False, news=[True, False])
            yield from changes("division", said, "exact", ["exact", "kai"])
        else:
            graces = ["none", *self._spans("reclaim_grace", set())]
            yield from changes("public_pool_grace", said, "none", graces)
            yield from changes("victims", said, "youngest", ["youngest", "oldest", "lowest_priority"])
        yield from changes("max_reclaims", said, "none", [*range(1, self.units + 1), "none"])
        yield from changes("dead_zone", said, 0, range(self.units + 1))
        yield from changes("await_ends", said, "0s", ["0s", "1s"])
        yield from changes("observe_only", said, old=False, news=[True, False])
        yield from changes("packing", said, "stacked", ["stacked", "balanced", "exclusive"])

    def _spans(self, key: str, ages: set[int]) -> list[str]:
        stated = [said[key] for said in self.said.values() if key in said]
        return ["0s", *stated, *(format_duration(age + more) for age in ages if age >= 0 for more in (0, 1_000_000))]

    def _consumer(self, path: str) -> Iterator[Json]:
        said, others = self.said[path], self.said.values()
        users = sum(request["count"] for request in self.state["requests"] if request.get("user"))
        yield from changes("user_limit", said, None, [*range(1, users + 1), None])
        yield from changes("min_runtime", said, None, self._spans("min_runtime", self.ages))
        if self.is_queues:
            for key in SPANS:
                yield from changes(key, said, None, self._spans(key, self.waits if key == SPANS[0] else self.ages))
            yield from changes("priority", said, 100, beside(other.get("priority", 100) for other in others))
            for name in self.plan["resources"]:
                for key in ("limit", "deserved"):
                    yield from self._by_resource(key, path, name, [*self._grid(name, self.total[name]), None])
                yield from self._by_resource("over_quota_weight", path, name, self._weights(name))
            return
        ratios = [other.get("share_ratio", 1) for other in others]
        yield from changes("share_ratio", said, 1, range(min(64, (self.units + 1) * (max(ratios) + 1)) + 1))
        yield from changes("share_priority", said, 0, beside(other.get("share_priority", 0) for other in others))
        yield from changes("reclaim_grace", said, None, self._graces())
        yield from changes("rank", said, None, range(6))
        for name in self.plan["resources"]:
            yield from self._by_resource("share_limit", path, name, [*self._grid(name, self.total[name]), None])
        for own in said.get("own", ()):
            if sum(each["resource_group"] == own["resource_group"] for each in said["own"]) == 1:
                group = {"resource_group": own["resource_group"]}
                yield from (change | group for change in self._own(own))

    def _graces(self) -> list[str]:
        stated = [self.entry.get("settings", {}).get("public_pool_grace")]
        stated += [said.get("private_pool_grace") for said in self.said.values()]
        stated += [own.get("lend_grace") for said in self.said.values() for own in said.get("own", ())]
        return ["0s", *(each for each in stated if each not in {None, "none"})]

    def _own(self, own: Json) -> Iterator[Json]:
        yield from changes("reserved", own, old=False, news=[True, False])
        yield from changes("reclaim_before_next_level", own, old=False, news=[True, False])
        yield from changes("preference", own, None, range(1, 11))
        yield from changes("lend_grace", own, None, [None, *self._spans("reclaim_grace", set())])
        if isinstance(own.get("hosts"), int):
            yield from changes("hosts", own, 1, range(1, len(self.hosts) + 1))

    def _weights(self, name: str) -> list[int | float]:
        stated = [said.get("over_quota_weight", 1) for said in self.said.values()]
        found = [Fraction(str(each.get(name, 1) if isinstance(each, dict) else each)) for each in stated]
        step = grain_of([Fraction(1), *found])
        return [exact(each * step) for each in range(40)]

    def _by_resource(self, key: str, path: str, name: str, news: Iterable[Any]) -> Iterator[Json]:
        said = self.said[path].get(key)
        default = {"deserved": 0, "over_quota_weight": 1}.get(key)
        old = said.get(name, default) if isinstance(said, dict) else default if said is None else said
        yield from ({**change, "resource": name} for change in changes(key, {key: old}, old, news))

    def _of_hosts(self) -> Iterator[Json]:
        for key in ("hosts_down", "hosts_never_seen", "hosts_closed"):
            yield from ({"what": key, "old": True, "new": False, "host": name} for name in self.state.get(key, ()))
        for group, host in self.hosts:
            for name in self.plan["resources"]:
                old = Fraction(str(host.get(name, 0)))
                lacks = sum(Fraction(str(each["unit"].get(name, 0))) * each["count"] for each in self.state["requests"])
                news = [exact(old + each * self.grain[name]) for each in range(1, int(lacks / self.grain[name]) + 1)]
                change = {"what": "amount", "old": exact(old), "host": host["name"], "resource": name}
                yield from ({**change, "new": new} for new in news)
            number = sum(each == group for each, _ in self.hosts)
            change = {"what": "hosts", "old": number, "host": host["name"], "resource_group": group}
            yield from ({**change, "new": number + more} for more in range(1, 5))

    def _request(self, mine: Json, *, is_own: bool) -> Iterator[Json]:
        yield from changes("min_count", mine, 0, range(mine["count"] + 1))
        yield from changes("count", mine, 0, range(mine["count"] + 9))
        others = [each.get("priority", 0) for each in self.state["requests"]] + [100] * self.is_queues
        yield from changes("priority", mine, 0, beside(others, least=-9))
        if self.is_queues:
            old = mine.get("preemptible", mine.get("priority", 0) < 100)
            yield from changes("preemptible", {"preemptible": old}, old, [True, False])
        if not is_own:
            return
        for key in ("need", "avoid"):
            labels = mine.get(key, [])
            yield from ({"what": key, "old": labels, "new": []} for _ in labels[:1])
        yield from changes("place", mine, None, [None, "spread", "pack"])
        for name, old in mine["unit"].items():
            change = {"what": "amount", "old": old, "resource": name}
            fewer = [each for each in self._grid(name, Fraction(str(old))) if 0 < each < old]
            yield from ({**change, "new": new} for new in fewer)


def changes(what: str, said: Json, old: Any, news: Iterable[Any]) -> Iterator[Json]:
    """One value, and what else it could be; `none` is told as None."""
    was = said.get(what, old)
    for new in dict.fromkeys(news):
        if new != was:
            yield {"what": what, "old": None if was == "none" else was, "new": None if new == "none" else new}


def beside(values: Iterable[int], least: int = 0) -> list[int]:
    return sorted({each + more for each in values for more in (-1, 0, 1) if each + more >= least})


def grain_of(amounts: Iterable[Fraction]) -> Fraction:
    """The largest amount of which all are whole multiples."""
    found = [each for each in amounts if each]
    one = lcm(1, *(each.denominator for each in found))
    return Fraction(gcd(*(int(each * one) for each in found)) or 1, one)


def exact(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


def is_nearer(new: Any, told: Json) -> bool:
    """Whether a value is a smaller change of the same number or duration than the one that is told."""
    found = [size(each) for each in (told["old"], new, told["new"])]
    if None in found:
        return False
    old, mine, theirs = (each for each in found if each is not None)
    return 0 < abs(mine - old) < abs(theirs - old)


def size(value: Any) -> Fraction | None:
    if isinstance(value, str):
        span = parse_duration(value)
        return None if span is None else Fraction(span)
    return None if value is None or isinstance(value, bool | list | tuple) else Fraction(str(value))

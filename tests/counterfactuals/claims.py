"""What an explanation claims of every value that would help, checked one by one: true, smallest, complete."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

from fairhold.cycle.explain.pooled.document import explain_pools
from tests.counterfactuals.files import outcome
from tests.counterfactuals.values import Values, is_nearer
from tests.pools.strategies import read

Json = dict[str, Any]
CLAIMS = ("true", "smallest", "complete", "complete beside what helps")


class Claims:
    """The claims of some explanations: how many there are of each kind, and which do not hold.

    most : smaller changes, or single values, that are looked at for one claim; None = all
    """

    def __init__(self, most: int | None) -> None:
        self.most, self.random = most, Random(7)
        self.made: Counter[str] = Counter()
        self.broken: dict[str, list[str]] = {name: [] for name in CLAIMS}

    def check(self, situation: tuple[Json, Json]) -> None:
        """All that is told of one plan and state of resources."""
        plan, state = situation
        (told,) = explain_pools(*read(plan, state), "/")
        values = Values(plan, state)
        for request in told["requests"]:
            if "search" not in request:
                continue
            if not request["search"]["is_complete"]:
                self.made["stopped early"] += 1
            for promise in request["would_help"] or ():
                self._check_promise(plan, state, request, promise, values)
            if request["search"]["in_part"]:
                self.made["in part"] += 1
            elif request["would_help"] == [] or request["search"]["is_complete"]:
                self._check_others(plan, state, request, values)

    def _some(self, found: list[list[Json]]) -> list[list[Json]]:
        return found if self.most is None or len(found) <= self.most else self.random.sample(found, self.most)

    def _claim(self, kind: str, broken: str) -> None:
        self.made[kind] += 1
        if broken:
            self.broken[kind].append(broken)

    def _check_promise(self, plan: Json, state: Json, request: Json, promise: Json, values: Values) -> None:
        changes, has = promise["changes"], request["held"] + request["on_the_way"]
        found = outcome(plan, state, changes, request)
        is_true = found == (promise["held"], promise["on_the_way"]) and sum(found) > has
        self._claim("true", "" if is_true else f"{request['request']} after {changes}: {found}, not {promise}")
        if promise.get("is_smallest") is False:
            self.made["not the smallest for sure"] += 1
            return
        names = ("what", "consumer", "host", "request", "resource", "resource_group")
        smaller: list[list[Json]] = []
        for change in changes:
            others = [each for each in changes if each is not change]
            mine = {name: change.get(name) for name in names}
            alike = (
                each for each in values.all(request["request"]) if {name: each.get(name) for name in names} == mine
            )
            smaller += [[*others, each] for each in alike if is_nearer(each["new"], change)] + [others] * bool(others)
        worse = [each for each in self._some(smaller) if self._helps(plan, state, each, request)]
        self._claim("smallest", f"{request['request']}: {changes}, and {worse[0]} do, too" if worse else "")

    def _check_others(self, plan: Json, state: Json, request: Json, values: Values) -> None:
        """Of what was gone through every single value that helps is of a kind that is told."""
        told = {kind(promise["changes"][0]) for promise in request["would_help"]}
        left_out = request["search"]["left_out"]
        others = [
            [each]
            for each in values.all(request["request"])
            if group_of(each, request) not in left_out and kind(each) not in told
        ]
        if not others:
            self.made["only what the reasons point at"] += 1
            return
        helps = [each for each in self._some(others) if self._helps(plan, state, each, request)]
        name = "complete beside what helps" if told else "complete"
        self._claim(name, f"{request['request']} would have more with {helps}" if helps else "")

    @staticmethod
    def _helps(plan: Json, state: Json, changes: list[Json], request: Json) -> bool:
        found = outcome(plan, state, changes, request)
        return found is not None and sum(found) > request["held"] + request["on_the_way"]


def kind(change: Json) -> tuple[str, str]:
    """The key of a value, and of what it is one."""
    return change["what"], next((of for of in ("host", "request", "consumer") if change.get(of)), "")


def group_of(change: Json, request: Json) -> str:
    """The group of values to which one belongs, as seen from a request."""
    if "request" in change:
        return "request" if change["request"] == request["request"] else "other requests"
    if "consumer" in change:
        is_above = f"{request['consumer']}/".startswith(f"{change['consumer']}/")
        return "consumers" if is_above else "other consumers"
    return "hosts" if "host" in change else "settings"

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


class Claims:
    """The claims of some explanations: how many there are of each kind, and which do not hold.

    most : smaller changes, or single values, that are looked at for one claim; None = all
    """

    def __init__(self, most: int | None) -> None:
        self.most, self.random = most, Random(7)
        self.made: Counter[str] = Counter()
        self.broken: dict[str, list[str]] = {"true": [], "smallest": [], "complete": []}

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
            elif request["would_help"] == []:
                self._check_nothing(plan, state, request, values)

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

    def _check_nothing(self, plan: Json, state: Json, request: Json, values: Values) -> None:
        all_of_them = [[each] for each in values.all(request["request"])]
        helps = [each for each in self._some(all_of_them) if self._helps(plan, state, each, request)]
        self._claim("complete", f"{request['request']} would have more with {helps}" if helps else "")

    @staticmethod
    def _helps(plan: Json, state: Json, changes: list[Json], request: Json) -> bool:
        found = outcome(plan, state, changes, request)
        return found is not None and sum(found) > request["held"] + request["on_the_way"]

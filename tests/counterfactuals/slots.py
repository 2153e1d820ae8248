"""What an explanation of slots claims of one slot more, checked against the files: true, smallest, complete."""

from __future__ import annotations

import copy
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

from fairhold.cycle.explain import explain
from fairhold.errors import InputError
from tests.cycle.test_explain import cycle_of
from tests.cycle.test_what_if import applied, quota_of, smallest_of
from tests.properties.strategies import GROUP, Case

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.explain import Explanation

Json = dict[str, Any]
KEYS = ("owned", "reserved", "limit", "rank")
MOST = 16
"""Values of a key that are tried, from 0 on; what the plans have is less."""


class SlotClaims:
    """The claims of some explanations: how many there are of each kind, and which do not hold.

    most : single values that are looked at for one claim; None = all
    """

    def __init__(self, most: int | None) -> None:
        self.most, self.random = most, Random(7)
        self.made: Counter[str] = Counter()
        self.broken: dict[str, list[str]] = {"true": [], "smallest": [], "complete": []}

    def check(self, case: Case) -> None:
        """All that is told of one plan and state."""
        result = cycle_of(case)
        for path in case.plan.tree.paths[1:]:
            told = explain(case.plan, result, path)
            if told.counterfactual is None:
                self._claim("complete", [change for change in self._some(case) if _helps(case, told, change)])
                continue
            quota = quota_of(applied(case, told.counterfactual.changes), path)
            is_true = quota == told.counterfactual.quota and quota > told.quota
            self._claim("true", [] if is_true else [(path, told.counterfactual, quota)])
            smaller = smallest_of(case, path, min(told.counterfactual.size - 1, MOST))
            self._claim("smallest", [(path, told.counterfactual, smaller)] if smaller else [])

    def _claim(self, kind: str, broken: list[Any]) -> None:
        self.made[kind] += 1
        if broken:
            self.broken[kind].append(str(broken))

    def _some(self, case: Case) -> list[tuple[str, str, int]]:
        found = list(_every_change(case))
        return found if self.most is None or len(found) <= self.most else self.random.sample(found, self.most)


def _every_change(case: Case) -> Iterator[tuple[str, str, int]]:
    """Every other value of every consumer: its path, the key, the value."""
    stated = case.plan_document["policies"][0].get("consumers", {})
    for path in case.plan.tree.paths[1:]:
        for key in KEYS:
            mine = (stated.get(path) or {}).get(key)
            yield from ((path, key, value) for value in range(MOST) if value != mine)
        if case.plan.tree.is_leaf(case.plan.tree.rows[path]):
            yield from ((path, "demand", value) for value in range(MOST))


def _helps(case: Case, told: Explanation, change: tuple[str, str, int]) -> bool:
    path, key, value = change
    plan, state = copy.deepcopy(case.plan_document), copy.deepcopy(case.state_document)
    if key == "demand":
        state.setdefault("demand", {}).setdefault(path, {})[GROUP] = value
    else:
        stated = plan["policies"][0].setdefault("consumers", {})
        stated[path] = (stated.get(path) or {}) | {key: value}
    try:
        return quota_of(Case(plan, state), told.path) > told.quota
    except InputError:
        return False

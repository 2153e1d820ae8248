"""What an explanation of slots claims of one slot more, checked against the files: true, smallest, complete."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

from fairhold.cycle.explain import Change, explain
from fairhold.cycle.explain.whatif import GROUPS
from fairhold.errors import InputError
from tests.cycle.test_explain import cycle_of
from tests.cycle.test_what_if import applied, quota_of, smallest_of
from tests.properties.strategies import GROUP, Case

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.explain import Counterfactual, Explanation

Json = dict[str, Any]
KEYS = ("owned", "reserved", "limit", "rank")
MOST = 16
"""Values of a number that are tried, from 0 on; what the plans have is less."""
CLAIMS = ("true", "smallest", "complete", "complete beside what helps")


class SlotClaims:
    """The claims of some explanations: how many there are of each kind, and which do not hold.

    most : single values that are looked at for one claim; None = all
    """

    def __init__(self, most: int | None) -> None:
        self.most, self.random = most, Random(7)
        self.made: Counter[str] = Counter()
        self.broken: dict[str, list[str]] = {name: [] for name in CLAIMS}

    def check(self, case: Case) -> None:
        """All that is told of one plan and state."""
        result = cycle_of(case)
        for path in case.plan.tree.paths[1:]:
            told = explain(case.plan, result, path)
            assert told.what_if is not None
            if not told.what_if.search["is_complete"]:
                self.made["stopped early"] += 1
            for each in told.what_if.helps:
                quota = quota_of(applied(case, each.changes), path)
                is_true = quota == each.quota and quota > told.quota
                self._claim("true", [] if is_true else [(path, each, quota)])
                self._claim("smallest", self._smaller(case, told, each))
            self._check_others(case, told)

    def _smaller(self, case: Case, told: Explanation, found: Counterfactual) -> list[Any]:
        """Smaller changes that help, too: of all kinds, or of those that are to be made together each alone."""
        assert told.what_if is not None
        if not found.changes[0].what.startswith("hosts_") and told.what_if.search["left_out"] == list(GROUPS):
            smaller = smallest_of(case, told.path, min(found.size - 1, MOST))
            return [(told.path, found, smaller)] if smaller else []
        fewer = [
            (*(other for other in found.changes if other is not each), *nearer)
            for each in found.changes
            for nearer in ([], *([change] for change in _nearer(each)))
            if nearer or len(found.changes) > 1
        ]
        return [(told.path, found, each) for each in self._some(fewer) if _helps(case, told, each)]

    def _check_others(self, case: Case, told: Explanation) -> None:
        """Of what was gone through every single value that helps is of a kind that is told."""
        assert told.what_if is not None
        search, helps = told.what_if.search, told.what_if.helps
        kinds = {each.changes[0].what for each in helps}
        if search["in_part"]:
            self.made["in part, beyond what is looked at"] += 1
        if not search["is_complete"]:
            return
        left_out = search["left_out"]
        others: list[tuple[Change, ...]] = [
            (change,)
            for group, change in _every_change(case, told.path)
            if group not in left_out and change.what not in kinds
        ]
        if others:
            name = "complete beside what helps" if helps else "complete"
            self._claim(name, [(told.path, each) for each in self._some(others) if _helps(case, told, each)])

    def _claim(self, kind: str, broken: list[Any]) -> None:
        self.made[kind] += 1
        if broken:
            self.broken[kind].append(str(broken))

    def _some(self, found: list[tuple[Change, ...]]) -> list[tuple[Change, ...]]:
        return found if self.most is None or len(found) <= self.most else self.random.sample(found, self.most)


def _nearer(change: Change) -> Iterator[Change]:
    """The same value changed by less."""
    if isinstance(change.new, bool) or not isinstance(change.new, int) or change.old is None:
        return
    for more in range(1, min(MOST, abs(change.new - change.old))):
        yield from (replace(change, new=new) for new in (change.old - more, change.old + more) if new >= 0)


def _every_change(case: Case, path: str) -> Iterator[tuple[str, Change]]:
    """Every other value of the plan and the state with the group to which it belongs, seen from a consumer."""
    entry, group = case.plan_document["policies"][0], case.plan_document["resource_groups"][GROUP]
    for other in case.plan.tree.paths[1:]:
        is_near = f"{other}/".startswith(f"{path}/") or f"{path}/".startswith(f"{other}/")
        belongs = "consumers" if is_near else "other consumers"
        keys = (*KEYS, *(["demand"] if case.plan.tree.is_leaf(case.plan.tree.rows[other]) else []))
        yield from ((belongs, Change(key, None, value, consumer=other)) for key in keys for value in range(MOST))
        yield belongs, Change("limit", None, None, consumer=other)
    for name in case.state_document.get("hosts_down", []):
        yield "hosts", Change("hosts_down", old=True, new=False, host=name)
    for value in range(MOST):
        yield from (
            ("hosts", Change("slots", None, value, consumer="/", host=host["name"])) for host in group.get("hosts", [])
        )
        if "hosts" not in group:
            yield "hosts", Change("slots", None, value, consumer="/")
        yield "settings", Change("configured_slots", None, value, consumer="/")
    evenly = entry.get("settings", {}).get("distribute_evenly", False)
    yield "settings", Change("distribute_evenly", old=evenly, new=not evenly)


def _helps(case: Case, told: Explanation, changes: tuple[Change, ...]) -> bool:
    try:
        return quota_of(applied(case, changes), told.path) > told.quota
    except InputError:
        return False

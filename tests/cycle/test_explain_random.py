"""Whatever a plan and a state say together, an explanation names only what one of them says."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from fairhold.cli.words import in_words
from fairhold.cycle.explain import Bound, explain
from fairhold.cycle.explain.nouns import RULE_OF, RULE_OF_CONTROL, rule_of
from fairhold.cycle.explain.whatif import SlotSearch
from fairhold.cycle.open import open_books, settle
from fairhold.cycle.run import run
from fairhold.errors import InputError
from tests.cycle.test_what_if import quota_of
from tests.examples import FEW, FEWER
from tests.gangs.strategies import HOLD_AFTER, TIME_LIMITS
from tests.ownership.strategies import owning
from tests.properties.strategies import GROUP, Case, cases, leaves_of, now_and_then, sharing
from tests.restraint.strategies import EARLIER, SPANS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hypothesis.strategies import DrawFn

    from fairhold.cycle.explain import Explanation, Standing
    from tests.properties.strategies import Json

LABELS = ("zone=a", "zone=b", "ssd")


@st.composite
def everything(draw: DrawFn) -> Case:
    """Requests under any policy, with all that bounds or holds back: labels, gangs, users, budgets, controls."""
    case = draw(st.one_of(cases(requested=True), sharing(requested=True), owning(requested=True)))
    plan, state = case.plan_document, case.state_document
    hosts = plan["resource_groups"][GROUP].get("hosts", [])
    common: Json = {"observe_only": draw(now_and_then(4))}
    if hosts:
        common["packing"] = draw(st.sampled_from(["stacked", "balanced", "exclusive"]))
        if common["packing"] == "exclusive":
            state["held"] = []
    for host in hosts:
        host["labels"] = draw(st.sampled_from([[], ["zone=a"], ["zone=b", "ssd"]]))
    for entry in plan["policies"]:
        entry["settings"] = entry.get("settings", {}) | common | _controls(draw)
        for path, stated in entry["consumers"].items():
            _bound(draw, entry["policy"], path, stated, state)
    for request in state["requests"]:
        if hosts and draw(now_and_then(2)):
            request |= {draw(st.sampled_from(["need", "avoid"])): [draw(st.sampled_from(LABELS))]}
        if hosts and draw(now_and_then(3)):
            request["place"] = draw(st.sampled_from(["spread", "pack"]))
        if draw(now_and_then(3)):
            request["time_limit"] = draw(st.sampled_from(TIME_LIMITS))
    if draw(st.booleans()):
        state["shortages"] = [
            {"consumer": leaf, "resource_group": GROUP, "since": draw(st.sampled_from(EARLIER))}
            | ({"taking": True} if draw(st.booleans()) else {})
            for leaf in leaves_of(plan)
            if draw(st.booleans())
        ]
    return Case(plan, state)


def _controls(draw: DrawFn) -> Json:
    every = {
        "max_reclaims": st.integers(1, 4),
        "dead_zone": st.integers(0, 3),
        "await_ends": st.sampled_from(SPANS),
        "hold_after": st.sampled_from(HOLD_AFTER),
    }
    return {key: draw(each) for key, each in every.items() if draw(now_and_then(3))}


def _bound(draw: DrawFn, policy: str, path: str, stated: Json, state: Json) -> None:
    if draw(now_and_then(4)):
        stated["user_limit"] = draw(st.integers(1, 4))
    if draw(now_and_then(4)):
        stated["min_runtime"] = draw(st.sampled_from(SPANS))
    if draw(now_and_then(5)):
        thens = ["wait", "lowest_rank"] + ["borrow_only"] * (policy != "share_ratio")
        stated["budget"] = {"unit_hours": 2, "period": "day", "then": draw(st.sampled_from(thens))}
        state.setdefault("spent", {})[path] = {GROUP: draw(st.sampled_from([0, 7200]))}


class Said:
    """What plan and state say of a consumer."""

    def __init__(self, case: Case, path: str) -> None:
        plan, self.path = case.plan_document, path
        self.entries = plan["policies"]
        self.settings = [entry["settings"] for entry in self.entries]
        self.requests = [each for each in case.state_document["requests"] if self._is_below(each["consumer"])]
        self.spent = case.state_document.get("spent", {})

    def _is_below(self, other: str) -> bool:
        return f"{other}/".startswith(f"{self.path.rstrip('/')}/")

    def _is_above(self, other: str) -> bool:
        return f"{self.path}/".startswith(f"{other}/")

    def stated(self, key: str, *, above: bool, below: bool = False) -> list[Any]:
        """What is stated under a key for the consumer, or for one above or below it."""
        return [
            stated[key]
            for entry in self.entries
            for path, stated in entry["consumers"].items()
            if key in stated
            and (path == self.path or (above and self._is_above(path)) or (below and self._is_below(path)))
        ]

    def has(self, name: str) -> bool:
        """Whether a control, or what a bound stands for, is set for it."""
        says: dict[str, Callable[[], object]] = {
            "limit": lambda: self.stated("limit", above=False),
            "limit above": lambda: self.stated("limit", above=True),
            "limit of a branch": lambda: self.stated("limit", above=True),
            "reserve": lambda: any(self.stated("reserved", above=False, below=True)),
            "even": lambda: any(each.get("distribute_evenly") for each in self.settings),
            "ratio 0": lambda: 0 in self.stated("share_ratio", above=True) or self._has_no_ratio(),
            "lenders": lambda: self.stated("borrow_from", above=False, below=True),
            "budget": lambda: self._used_up("wait"),
            "only borrows": lambda: self._used_up("borrow_only"),
            "budget.wait": lambda: self._used_up("wait"),
            "budget.borrow_only": lambda: self._used_up("borrow_only"),
            "budget.lowest_rank": lambda: self._used_up("lowest_rank"),
            "whole hosts": lambda: any(each.get("packing") == "exclusive" for each in self.settings),
            "gangs": lambda: any(each.get("min_count") for each in self.requests),
            "gang": lambda: any(each.get("min_count") for each in self.requests),
            "hosts that will do": self._asks_for_hosts,
            "site.never": self._asks_for_hosts,
            "site.now": self._asks_for_hosts,
            "user limit": lambda: self.stated("user_limit", above=True),
            "user_limit": lambda: self.stated("user_limit", above=True),
            "min_runtime": lambda: self.stated("min_runtime", above=True),
        }
        if name in says:
            return bool(says[name]())
        return name not in self.KEYS or any(each.get(name) for each in self.settings)

    KEYS = ("max_reclaims", "dead_zone", "await_ends", "observe_only", "hold_after")

    def _has_no_ratio(self) -> bool:
        return any(entry["policy"] == "share_ratio" for entry in self.entries)

    def _asks_for_hosts(self) -> bool:
        return any({"need", "avoid", "place"} & each.keys() for each in self.requests)

    def _used_up(self, then: str) -> bool:
        found = self.stated("budget", above=True, below=True)
        return any(each["then"] == then for each in found) and any(each[GROUP] >= 7200 for each in self.spent.values())


def standings(told: Explanation) -> Iterator[Standing]:
    for level in told.levels:
        yield from level.siblings


def check(case: Case, told: Explanation) -> None:
    for row in standings(told):
        assert Said(case, row.path).has(row.bound.value), (row.path, row.bound)
        assert (row.bound is Bound.DEMAND) <= (row.quota >= row.demand), (row.path, "wants more")
    for control in told.controls:
        assert Said(case, control.consumer).has(control.name), control
        assert control.units > 0 or control.name.startswith("budget"), control
    text = in_words(told)
    named = {rule_of(row.bound) for row in standings(told)} | {RULE_OF_CONTROL[each.name] for each in told.controls}
    named |= {"R-LEND-2" for _ in told.loans}
    own = {*re.findall(r"R-[A-Z]+-\d", text)} & ({*RULE_OF.values()} | {*RULE_OF_CONTROL.values()})
    assert own <= named | {"R-GRANT-1", "R-NOTICE-1", "R-GRACE-1"}
    assert not re.search(r"\b1 (slots|tasks)\b|\b1 slot (are|that are)\b|\bslots? (is|that is)\b.* are\b|None", text)


@given(everything())
def test_each_bound_that_is_named_is_set(case: Case) -> None:
    """Under every policy, of every consumer, whatever bounds it; and nothing is left without words."""
    books = open_books(case.plan, case.state)
    settle(books, case.state)
    result = run(books[GROUP], case.state.now)
    for path in case.plan.tree.paths:
        check(case, explain(case.plan, result, path, what_if=False))


@FEWER
@given(everything(), st.data())
def test_one_slot_more_is_searched_for_under_all_of_them(case: Case, data: st.DataObject) -> None:
    """The quota that is told is larger, and each change is one."""
    books = open_books(case.plan, case.state)
    settle(books, case.state)
    result = run(books[GROUP], case.state.now)
    told = explain(case.plan, result, data.draw(st.sampled_from(case.plan.tree.paths[1:])))
    if told.counterfactual is not None:
        assert told.counterfactual.quota > told.quota
        for change in told.counterfactual.changes:
            assert change.old != change.new


def limited(case: Case, path: str) -> Case:
    """A plan in which the quota of one consumer is all that its limit allows, as far as what it owns lets it be."""
    plan = json.loads(json.dumps(case.plan_document))
    (stated,) = (entry["consumers"][path] for entry in plan["policies"] if path in entry["consumers"])
    stated["limit"] = max(quota_of(case, path), stated.get("owned", 0))
    return Case(plan, case.state_document)


@FEW
@given(everything(), st.data())
def test_a_full_limit_is_lifted_by_whatever_gives_one_slot_more(case: Case, data: st.DataObject) -> None:
    """So that nothing need be tried that leaves it as it is."""
    path = data.draw(
        st.sampled_from(sorted({*case.plan.tree.paths} & {*case.plan_document["policies"][0]["consumers"]}))
    )
    case = limited(case, path)
    try:
        books = open_books(case.plan, case.state)
    except InputError:  # it is below what those below it reserve
        return
    settle(books, case.state)
    search = SlotSearch(case.plan, books[GROUP], books[GROUP].rows.by_path[path], case.state.now)
    full, search._full = {each.key for each in search._full}, []
    smallest = search.smallest_of_all()
    for each in (*search.told(search.others()), *([] if smallest is None else [smallest])):
        assert full <= {(change.what, change.consumer, "", "", "", "") for change in each.changes}

"""A policy that divides in its own way: no shortcut of ours is taken, and it is checked and explained like ours."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cli.words import in_words
from fairhold.cycle.document import quota_document
from fairhold.cycle.explain import Change, Level, OwnBound, bound_by_need, explain, standing
from fairhold.cycle.invariants import check
from fairhold.cycle.open import open_books
from fairhold.cycle.run import run
from fairhold.cycle.verify import verify
from fairhold.lab.candidates import candidates
from fairhold.ledger.rows import lay_out
from fairhold.model.policy import OwnDivision, Policy
from fairhold.model.setting import Kind, Setting
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from fairhold.policies.hybrid.policy import HYBRID
from fairhold.policies.keys import OF_HOLDERS, OF_SLOTS
from fairhold.policies.registry import POLICIES, RefusedPolicyError, register
from fairhold.policies.rules import Rules
from fairhold.reference.quotas.level import Entitlement
from fairhold.runtime.explaining import as_document, sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fairhold.cycle.run import CycleResult
    from fairhold.ledger.draft import CycleContext
    from fairhold.ledger.snapshot import Snapshot
    from fairhold.model.plan import Plan
    from fairhold.reference.consumers import Consumers

PULL = Setting("pull", Kind.WHOLE, "Who pulls more has all that it wants before others have any.", most=9, default=0)
LATER = OwnBound("later", "PULL-1", "others pull more")


def assess(snapshot: Snapshot, draft: CycleContext) -> None:
    rows, need = snapshot.rows, draft.needs.need
    for row in range(len(rows) - 1, -1, -1):
        need[row] = snapshot.usable[row] or sum(need[rows.tree.first[row] : rows.tree.end[row]])


def divide(snapshot: Snapshot, draft: CycleContext) -> None:
    rows, quota = snapshot.rows, draft.quota
    quota[0] = snapshot.slots
    for parent in range(len(rows)):
        left = quota[parent]
        children = range(rows.tree.first[parent], rows.tree.end[parent])
        for child in sorted(children, key=lambda row: -PULL.of(rows.stated(row))):
            quota[child] = min(left, draft.needs.need[child])
            left -= quota[child]
    draft.entitled, draft.firm = quota, draft.needs.sure
    draft.exact, draft.most = lambda row: Fraction(quota[row]), quota.__getitem__


def derive(result: CycleResult, parent: int) -> Level:
    rows, draft = result.snapshot.rows, result.draft
    siblings = []
    for row in range(rows.tree.first[parent], rows.tree.end[parent]):
        quota, more = draft.quota[row], {"pull": PULL.of(rows.stated(row))}
        bound = LATER if quota < draft.needs.need[row] else bound_by_need(result, row)
        siblings.append(standing(result, row, floor=0, exact=Fraction(quota), bound=bound, more=more))
    columns = {"pull": "who comes first"}
    return Level(rows.path(parent), draft.quota[parent], Fraction(0), "pulled", (*siblings,), ", by pull", columns)


def recompute(consumers: Consumers, slots: int, demand: Mapping[str, int]) -> Entitlement:
    none = dict.fromkeys(consumers.order, 0)
    need: dict[str, int] = {}
    for path in consumers.upward:
        children = consumers[path].children
        need[path] = sum(need[child] for child in children) if children else demand[path]
    quota = {"/": slots}
    for path in consumers.order:
        left = quota[path]
        for child in sorted(consumers[path].children, key=lambda each: -consumers[each].stated.more.get("pull", 0)):
            quota[child] = min(left, need[child])
            left -= quota[child]
    quota["/"] = sum(quota[child] for child in consumers["/"].children)
    nothing = dict.fromkeys(consumers.order, Fraction(0))
    return Entitlement(demand, need, none, nothing, quota, ceiling=quota)


RULES = Rules(quotas=(assess, divide), moves=HYBRID.rules.moves)
PULLED = Policy("pulled", OF_SLOTS, (PULL, *OF_HOLDERS), rules=RULES, division=OwnDivision(derive, recompute, (PULL,)))
CONSUMERS: dict[str, Any] = {"A": {}, "B": {}, "C": {}, "D": {"consumers": {"E": {}, "F": {}}}}
STATED = {"/C": {"pull": 5}, "/D": {"pull": 3}, "/D/F": {"pull": 1}}
DEMAND = {"/A": 4, "/B": 4, "/C": 4, "/D/E": 3, "/D/F": 2}


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    register(PULLED)
    yield
    del POLICIES["pulled"]


def plan_of(stated: dict[str, Any]) -> Plan:
    entry = {"resource_groups": ["g"], "policy": "pulled", "consumers": stated}
    document = {"fairhold": 1, "resource_groups": {"g": {"slots": 10}}, "consumers": CONSUMERS, "policies": [entry]}
    return parse_plan(json.dumps(document), "plan.json")[0]


def result_of(plan: Plan, demand: dict[str, int]) -> CycleResult:
    wanted = {path: {"g": units} for path, units in demand.items()}
    state = {"fairhold_state": 1, "now": "2026-01-05T09:00:00Z", "demand": wanted}
    return run(open_books(plan, parse_state(json.dumps(state), plan, "state.json"))["g"], 0)


def quotas_of(result: CycleResult) -> dict[str, int]:
    rows = result.snapshot.rows
    return {rows.path(row): result.draft.quota[row] for row in range(1, len(rows))}


def test_its_quotas_are_no_fillings_and_pass_what_is_true_of_every_cycle() -> None:
    result = result_of(plan_of(STATED), DEMAND)
    assert quotas_of(result) == {"/C": 4, "/D": 5, "/D/F": 2, "/D/E": 3, "/A": 1, "/B": 0}
    assert check(result) == ()
    alike = result_of(plan_of({}), {"/A": 9, "/B": 9})
    assert quotas_of(alike)["/A"] - quotas_of(alike)["/B"] == 8, "siblings that are alike differ by more than one"
    assert check(alike) == ()


def test_no_shortcut_is_taken_but_what_it_allows() -> None:
    """Of two demands beyond the quotas the second is divided anew, unless the policy says that nothing changes."""
    rows = lay_out(plan_of(STATED), "g")
    assert (rows.is_plain, rows.is_filled, rows.is_steady) == (False, False, False)
    plan = plan_of(STATED)
    division = replace(PULLED.division, keeps_quotas=True)  # type: ignore[type-var]
    entry = replace(plan.policies[0], policy=replace(PULLED, division=division))
    rows = lay_out(replace(plan, policies=(entry,)), "g")
    assert (rows.is_plain, rows.is_filled, rows.is_steady) == (False, True, True)


def test_it_is_explained_in_its_own_words() -> None:
    plan = plan_of(STATED)
    result = result_of(plan, DEMAND)
    told = explain(plan, result, "/A")
    assert sentence(told) == "/A in g: quota 1, holds 0, wants 4: others pull more [PULL-1]."
    level = as_document(told)["levels"][0]
    assert level["columns"] == {"pull": "who comes first"}
    assert [(row["consumer"], row["pull"], row["bound"], row["rule"]) for row in level["siblings"]] == [
        ("/A", 0, "later", "PULL-1"),
        ("/B", 0, "later", "PULL-1"),
        ("/C", 5, "demand", "R-NEED-1"),
        ("/D", 3, "demand", "R-NEED-1"),
    ]
    text = in_words(told)
    assert "/ divides 10, by pull:" in text
    assert "pull: who comes first" in text
    assert "exact" not in text


def test_its_weights_are_raised_to_find_one_slot_more() -> None:
    """What owners are given by is not tried, as it reads no `owned`."""
    plan = plan_of(STATED)
    told = explain(plan, result_of(plan, DEMAND), "/B")
    assert told.counterfactual is not None
    assert told.counterfactual.changes == (Change("pull", 0, 1, consumer="/B"),)
    assert told.counterfactual.quota == 1
    assert "One slot more: with /B's pull at 1 instead of 0" in in_words(told)
    highest = plan_of(STATED | {"/B": {"pull": 9}, "/A": {"pull": 9}})
    told = explain(highest, result_of(highest, DEMAND | {"/A": 10}), "/B")
    assert told.counterfactual is not None
    assert told.counterfactual.changes == (Change("slots", 10, 11, consumer="/"),), "no number goes beyond its largest"


def test_its_weights_are_suggested_and_nothing_that_it_does_not_read() -> None:
    found = {
        each.words: each for each in candidates(plan_of(STATED), {"resource_groups": {"g": {"slots": 10}}}, "/D/E")
    }
    assert {"pull of /D/E", "pull of /D"} < found.keys()
    assert found["pull of /D"].most == 6, "up to the largest"
    assert not any(words.startswith(("owned", "reserved")) for words in found)


def test_verify_asks_its_twin() -> None:
    plan = plan_of(STATED)
    wanted = {path: {"g": units} for path, units in DEMAND.items()}
    state = {"fairhold_state": 1, "now": "2026-01-05T09:00:00Z", "demand": wanted, "allocated": {"/B": {"g": 3}}}
    read = parse_state(json.dumps(state), plan, "state.json")
    document = quota_document(plan, read)
    assert document["resource_groups"]["g"]["consumers"]["/A"]["quota"] == 1
    assert verify(plan, read, document) == ()
    document["resource_groups"]["g"]["consumers"]["/A"]["quota"] = 0
    document["resource_groups"]["g"]["consumers"]["/B"]["quota"] = 1
    assert {each.where for each in verify(plan, read, document)} == {"g /A quota", "g /B quota"}


@pytest.mark.parametrize("traits", [{"owns_exactly": True}, {"divides_by_ratio": True}, {"beside": {"hybrid": RULES}}])
def test_a_division_of_its_own_goes_with_no_other_way_to_divide(traits: dict[str, Any]) -> None:
    with pytest.raises(RefusedPolicyError) as caught:
        register(replace(PULLED, name="odd", **traits))
    assert "has a division of its own" in str(caught.value)
    assert "beside" in caught.value.mend

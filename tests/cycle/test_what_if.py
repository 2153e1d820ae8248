"""The change that explain says gives one slot more does, is valid, and is the smallest that there is."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.cli.words import in_words
from fairhold.cycle.explain import Change, explain
from fairhold.cycle.explain.changes import Inside, MoreOwned, kinds
from fairhold.cycle.explain.whatif import Search
from fairhold.cycle.open import open_books, settle
from fairhold.cycle.run import quotas
from fairhold.errors import InputError
from fairhold.model.tree import ROOT
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from tests.cycle.test_explain import cycle_of, explained
from tests.properties.strategies import GROUP, Case, cases, counts, plans

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hypothesis.strategies import DrawFn

    from fairhold.cycle.explain import Counterfactual, Explanation
    from fairhold.ledger.books import Books

FAR = 14
"""How large changes are tried one by one."""


def applied(case: Case, changes: tuple[Change, ...]) -> Case:
    """The documents with the changes written into them, as a user would."""
    plan, state = json.loads(json.dumps(case.plan_document)), json.loads(json.dumps(case.state_document))
    entry = plan["policies"][0].setdefault("consumers", {})
    for change in changes:
        if change.what == "demand":
            _set_demand(state, change)
        elif change.host:
            hosts = plan["resource_groups"][GROUP]["hosts"]
            next(host for host in hosts if host["name"] == change.host)["slots"] = change.new
        elif change.what == "slots" and "hosts" in plan["resource_groups"][GROUP]:
            last = plan["resource_groups"][GROUP]["hosts"][-1]  # no host is up: bring one up that has so many slots
            last["slots"] = change.new
            state["hosts_down"] = [name for name in state["hosts_down"] if name != last["name"]]
        elif change.what == "slots":
            state.setdefault("resource_groups", {})[GROUP] = {"slots": change.new}
        elif change.what == "configured_slots":
            plan["resource_groups"][GROUP]["configured_slots"] = change.new
        else:
            entry.setdefault(change.consumer, {})
            entry[change.consumer] = (entry[change.consumer] or {}) | {change.what: change.new}
    return Case(plan, state)


def _set_demand(state: dict[str, object], change: Change) -> None:
    requests = state.get("requests")
    if requests:
        assert isinstance(requests, list)
        more = {"id": "one-more", "consumer": change.consumer, "count": change.new - change.old}
        requests.append(more)
        return
    demand = state.setdefault("demand", {})
    assert isinstance(demand, dict)
    demand.setdefault(change.consumer, {})[GROUP] = change.new


def quota_of(case: Case, path: str) -> int:
    books = opened(case)
    return quotas(books, case.state.now).draft.quota[books.rows.by_path[path]]


def opened(case: Case) -> Books:
    books = open_books(case.plan, case.state)
    settle(books, case.state)
    return books[GROUP]


def told(case: Case) -> list[tuple[Explanation, Counterfactual | None]]:
    result = cycle_of(case)
    explanations = [explain(case.plan, result, path) for path in case.plan.tree.paths[1:4]]
    return [(explanation, explanation.counterfactual) for explanation in explanations]


@given(cases())
def test_the_change_that_gives_one_slot_more_does_so_and_no_smaller_one_of_its_kind_does(case: Case) -> None:
    for explanation, counterfactual in told(case):
        if counterfactual is None:
            continue
        assert quota_of(applied(case, counterfactual.changes), explanation.path) == counterfactual.quota
        assert counterfactual.quota > explanation.quota
        first, *others = counterfactual.changes
        if counterfactual.size > 1 and first.what in {"demand", "limit", "slots"}:
            smaller = replace(first, new=first.new - 1)
            assert quota_of(applied(case, (smaller, *others)), explanation.path) <= explanation.quota


@st.composite
def small_cases(draw: DrawFn) -> Case:
    """Few slots and few consumers, where every change can be tried."""
    plan = draw(plans(hosts=None, most=7, depth=2, aged=False))
    return Case(plan, draw(counts(plan, notices=False)))


def changes_of(case: Case, path: str, size: int) -> Iterator[tuple[Change, ...]]:
    """Every single change of a size as a user would write it, with what it needs above it; the plan may be invalid."""
    books, tree = opened(case), case.plan.tree
    rows, row = books.rows, books.rows.by_path[path]
    inside = [other for other in rows.by_path if f"{other}/".startswith(f"{path}/")]
    line = [path]
    while rows.tree.parent[rows.by_path[line[-1]]] > 0:
        line.append(rows.path(rows.tree.parent[rows.by_path[line[-1]]]))
    for leaf in inside:
        if tree.is_leaf(tree.rows[leaf]):
            demand = books.demand[rows.by_path[leaf]]
            yield (Change("demand", leaf, demand, demand + size),)
    for capped in (*inside, *line[1:]):
        limit = rows.plan.limit[rows.by_path[capped]]
        yield (Change("limit", capped, limit, limit + size),)
    for ranked in line:
        rank = rows.tree.rank[rows.by_path[ranked]]
        if rank >= size:
            yield (Change("rank", ranked, rank, rank - size),)
    for at, _ in enumerate(line):
        yield tuple(owning(books, line[at:], size))
    hosts = [host for host in rows.group.hosts if host.name not in case.state.hosts_down]
    for host in hosts[-1:]:
        yield (Change("slots", "/", host.slots, host.slots + size, host.name),)
    if not hosts:
        yield (Change("slots", "/", books.slots, books.slots + size),)
    assert row > ROOT


def owning(books: Books, line: list[str], size: int) -> Iterator[Change]:
    """One consumer owns more, and those above it as much more as their children need."""
    rows, below, more = books.rows, -1, size
    for path in line:
        row = rows.by_path[path]
        owned = rows.plan.owned[row]
        if below >= 0:
            together = sum(rows.plan.owned[rows.tree.first[row] : rows.tree.end[row]]) + more
            more = max(0, together - owned)
        if more:
            yield Change("owned", path, owned, owned + more)
        below = row
    first_level = sum(rows.plan.owned[rows.tree.first[0] : rows.tree.end[0]]) + more
    if rows.group.configured_slots is not None and first_level > rows.configured:
        yield Change("configured_slots", "/", rows.configured, first_level)


def smallest_of(case: Case, path: str, most: int) -> tuple[int, str] | None:
    """Size and kind of the smallest single change that helps, by writing every one into the files."""
    quota = quota_of(case, path)
    for size in range(1, most + 1):
        for changes in changes_of(case, path, size):
            try:
                if quota_of(applied(case, changes), path) > quota:
                    return size, changes[0].what
            except InputError:
                continue
    return None


@given(small_cases(), st.data())
def test_no_smaller_change_of_any_kind_helps_and_none_does_where_none_is_told(case: Case, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(case.plan.tree.paths[1:]))
    explanation = explain(case.plan, cycle_of(case), path)
    found = explanation.counterfactual
    if found is None:
        assert smallest_of(case, path, FAR) is None
        return
    by_trying = smallest_of(case, path, min(found.size, FAR))
    alone = len([change for change in found.changes if change.what == "demand"]) == (found.changes[0].what == "demand")
    if alone and found.size <= FAR:
        assert by_trying == (found.size, found.changes[0].what)
    else:
        assert by_trying is None


BETWEEN = """
fairhold: 1
resource_groups: {compute: {hosts: [{name: "h[1-3]", slots: 4}]}}
consumers: {A: {}, B: {}}
policies:
  - resource_groups: [compute]
    policy: hybrid
    consumers: {/A: {owned: %d}, /B: {owned: 6, limit: 9}}
"""
BOTH_WANT_12 = "fairhold_state: 1\nnow: 2026-01-05T09:00:00Z\ndemand: {/A: {compute: 12}, /B: {compute: 12}}\n"


def test_a_size_between_two_doublings_is_found_where_the_next_doubling_is_above_a_limit() -> None:
    plan, _ = parse_plan(BETWEEN % 6, "plan")
    books = open_books(plan, parse_state(BOTH_WANT_12, plan, "state"))["compute"]
    row = books.rows.by_path["/B"]
    (kind,) = (
        kind for kind in kinds(plan, books, row, Inside(row, -1)) if isinstance(kind, MoreOwned) and not kind.demand
    )
    assert kind.largest == 3
    found = Search(books, row, 6).smallest(kind, 1, kind.largest)
    assert found is not None
    assert found.changes == (Change("owned", "/B", 6, 9),)
    assert found.quota == 7


def test_where_no_host_is_up_the_slots_that_the_group_needs_are_told() -> None:
    down = BOTH_WANT_12 + "hosts_down: [h1, h2, h3]\n"
    found = explained(BETWEEN % 6, down, "/B").counterfactual
    assert found is not None
    assert found.changes == (Change("slots", "/", 0, 2),)


@given(cases())
def test_beyond_the_sizes_that_are_all_tried_one_less_gives_nothing(case: Case) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fairhold.cycle.explain.whatif._WORK", 0)
        found = told(case)
    for explanation, counterfactual in found:
        assert (counterfactual is None) <= (smallest_of(case, explanation.path, 1) is None)
        if counterfactual is None or counterfactual.size == 1:
            continue
        first, *others = counterfactual.changes
        if first.what in {"demand", "limit", "slots"}:
            assert quota_of(applied(case, counterfactual.changes), explanation.path) == counterfactual.quota
            smaller = replace(first, new=first.new - 1)
            assert quota_of(applied(case, (smaller, *others)), explanation.path) <= explanation.quota


def test_the_size_of_a_group_with_hosts_is_tried_on_its_last_host_that_is_up() -> None:
    state = BOTH_WANT_12 + "hosts_down: [h3]\n"
    explanation = explained(BETWEEN % 0, state.replace("/B: {compute: 12}", "/B: {compute: 6}"), "/A")
    assert explanation.counterfactual is not None
    assert explanation.counterfactual.changes == (Change("slots", "/", 4, 5, "h2"),)
    assert "with host h2's slots at 5 instead of 4, /A would have a quota of 3." in in_words(explanation)


@pytest.mark.parametrize("slots", [100, 10**12])
def test_numbers_as_large_as_a_file_may_hold_are_searched_in_few_trials(slots: int) -> None:
    plan = f"""
fairhold: 1
resource_groups: {{compute: {{slots: {slots}}}}}
consumers: {{A: {{}}, B: {{}}}}
policies: [{{resource_groups: [compute], policy: hybrid, consumers: {{/A: {{owned: 1}}, /B: {{owned: 1}}}}}}]
"""
    state = f"fairhold_state: 1\nnow: 2026-01-05T09:00:00Z\ndemand: {{/A: {{compute: {slots}}}, /B: {{compute: 1}}}}\n"
    explanation = explained(plan, state, "/A")
    assert explanation.quota == slots - 1
    assert (explanation.counterfactual is None) == (slots == 10**12)  # a file may not hold more slots

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
from fairhold.cycle.explain.changes import more_owned
from fairhold.cycle.explain.whatif import GROUPS, SlotSearch, one_more
from fairhold.cycle.open import open_books, settle
from fairhold.cycle.run import quotas
from fairhold.errors import InputError
from fairhold.model.tree import ROOT
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from tests.cycle.test_explain import cycle_of, explained
from tests.examples import FEW
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
    group, entry = plan["resource_groups"][GROUP], plan["policies"][0]
    for change in changes:
        if change.what.startswith("hosts_"):
            state[change.what] = [name for name in state[change.what] if name != change.host]
        elif change.request:
            next(each for each in state["requests"] if each["id"] == change.request)[change.what] = change.new
        elif change.what == "demand":
            _set_demand(state, change)
        elif change.host:
            next(host for host in group["hosts"] if host["name"] == change.host)["slots"] = change.new
        elif change.what == "slots":
            state.setdefault("resource_groups", {})[GROUP] = {"slots": change.new}
        elif change.what == "configured_slots":
            group["configured_slots"] = change.new
        elif not change.consumer:
            entry.setdefault("settings", {})[change.what] = change.new
        else:
            stated = entry.setdefault("consumers", {})
            new = "none" if change.new is None else change.new
            stated[change.consumer] = (stated.get(change.consumer) or {}) | {change.what: new}
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
            yield (Change("demand", demand, demand + size, consumer=leaf),)
    for capped in (*inside, *line[1:]):
        limit = rows.plan.limit[rows.by_path[capped]]
        yield (Change("limit", limit, limit + size, consumer=capped),)
    for ranked in line:
        rank = rows.tree.rank[rows.by_path[ranked]]
        if rank >= size:
            yield (Change("rank", rank, rank - size, consumer=ranked),)
    for at, _ in enumerate(line):
        yield tuple(owning(books, line[at:], size))
    hosts = [host for host in rows.group.hosts if host.name not in case.state.hosts_down]
    for host in hosts[-1:]:
        yield (Change("slots", host.slots, host.slots + size, consumer="/", host=host.name),)
    if not rows.group.hosts:
        yield (Change("slots", books.slots, books.slots + size, consumer="/"),)
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
            yield Change("owned", owned, owned + more, consumer=path)
        below = row
    first_level = sum(rows.plan.owned[rows.tree.first[0] : rows.tree.end[0]]) + more
    if rows.group.configured_slots is not None and first_level > rows.configured:
        yield Change("configured_slots", rows.configured, first_level, consumer="/")


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
    what_if = explain(case.plan, cycle_of(case), path).what_if
    assert what_if is not None
    pointed = what_if.helps if what_if.search["left_out"] == list(GROUPS) else ()
    sized = [each for each in pointed if not each.changes[0].what.startswith("hosts_")]
    if not sized:
        assert smallest_of(case, path, FAR) is None
        return
    (found,) = sized
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
    search = SlotSearch(plan, books, row)
    kind = more_owned(search.parameters, row)
    assert (kind.largest, search.quota) == (3, 6)
    found = search.smallest(kind, 1, kind.largest)
    assert found is not None
    assert found.changes == (Change("owned", 6, 9, consumer="/B"),)
    assert found.quota == 7


def test_hosts_that_could_be_up_come_first() -> None:
    down = BOTH_WANT_12 + "hosts_down: [h1, h3]\nhosts_never_seen: [h2]\n"
    told_of = explained(BETWEEN % 6, down, "/B")
    assert told_of.what_if is not None
    (first,) = told_of.what_if.helps
    assert (first.changes, first.quota) == ((Change("hosts_down", old=True, new=False, host="h1"),), 2)
    down = BOTH_WANT_12.replace("/B: {compute: 12}", "/B: {compute: 6}") + "hosts_never_seen: [h3]\n"
    told_of = explained(BETWEEN % 0, down, "/A")
    assert told_of.what_if is not None
    up, larger = (each.changes for each in told_of.what_if.helps)
    assert up == (Change("hosts_never_seen", old=True, new=False, host="h3"),)
    assert larger == (Change("slots", 4, 5, consumer="/", host="h2"),)
    text = in_words(told_of)
    assert "One slot more: with h3 up, which was never seen, /A would have a quota of 6." in text
    assert "Or with host h2's slots at 5 instead of 4: a quota of 3." in text
    assert "These are the values that the reasons name; because they help, no others were tried." in text


def test_as_many_hosts_are_brought_up_as_it_takes() -> None:
    small = BETWEEN.replace("slots: 4", "slots: 1").replace("h[1-3]", "h[1-5]") % 0
    wants = BOTH_WANT_12.replace("/B: {compute: 12}", "/B: {compute: 2}")
    told_of = explained(small, wants + "hosts_down: [h1, h2, h3, h4, h5]\n", "/A")
    assert told_of.what_if is not None
    (first,) = told_of.what_if.helps
    assert ([each.host for each in first.changes], first.quota) == (["h1", "h2", "h3"], 1)
    assert "h1 up instead of down and h2 up instead of down and h3 up instead of down" in in_words(told_of)


TOGETHER = """
fairhold: 1
resource_groups: {compute: {slots: 20}}
consumers: {A: {consumers: {x: {}, y: {}}}, B: {}}
policies:
  - resource_groups: [compute]
    policy: %s
    consumers: {/A: {limit: 4}, /A/x: {limit: 4}, /B: {%s}}
"""
WANTS = "fairhold_state: 1\nnow: 2026-01-05T09:00:00Z\ndemand: {/A/x: {compute: 12}, /B: {compute: 3}}\n"


@pytest.mark.parametrize(("policy", "stated"), [("hybrid", "owned: 1"), ("share_ratio", "share_ratio: 1")])
def test_limits_that_bar_together_are_raised_together_as_little_as_it_takes(policy: str, stated: str) -> None:
    told_of = explained(TOGETHER % (policy, stated), WANTS, "/A/x")
    assert told_of.what_if is not None
    (both,) = told_of.what_if.helps
    assert {(each.what, each.consumer, each.old, each.new) for each in both.changes} == {
        ("limit", "/A/x", 4, 5),
        ("limit", "/A", 4, 5),
    }
    assert both.quota == 5
    text = in_words(told_of)
    assert "One slot more: with /A/x's limit at 5 instead of 4 and /A's limit at 5 instead of 4, /A/x would" in text


def test_what_leaves_a_full_limit_as_it_is_is_not_tried() -> None:
    full = TOGETHER.replace("/A: {limit: 4}", "/A: {limit: 0}").replace("/A/x: {limit: 4}", "/A/x: {limit: 0}")
    told_of = explained(full % ("hybrid", "owned: 20"), WANTS.replace("/B: {compute: 3}", "/B: {compute: 20}"), "/A/x")
    assert told_of.what_if is not None
    search = told_of.what_if.search
    assert (told_of.what_if.helps, search["is_complete"], search["only"], search["left_out"]) == ((), True, "limit", [])
    assert {*search["of"]} <= {"limit", "demand"}
    assert in_words(told_of).endswith("/A/x has all that a limit allows, so other values were not tried.")


DOWN = """
fairhold: 1
resource_groups: {compute: {hosts: [{name: h0, slots: 2}, {name: h1, slots: 1}]}}
consumers: {A: {}, B: {}}
policies:
  - resource_groups: [compute]
    policy: hybrid
    consumers: {/A: {owned: 1}, /B: {owned: 2}}
"""


@pytest.mark.parametrize("away", ["hosts_down: [h0]\n", "hosts_never_seen: [h0]\n", "hosts_down: [h0, h1]\n"])
def test_slots_of_a_host_that_is_not_up_are_not_tried(away: str) -> None:
    plan, _ = parse_plan(DOWN, "plan")
    state = parse_state(BOTH_WANT_12 + away, plan, "state")
    books = open_books(plan, state)["compute"]
    search = SlotSearch(plan, books, books.rows.by_path["/A"], state.now, state.hosts_never_seen)
    every = [each.change for group in search.parameters.groups(search.row).values() for each in group]
    sized = [*every, *(each.change for each in search.parameters.more_slots())]
    gone = {"h0", "h1"} if "h1" in away else {"h0"}
    assert {each.host for each in sized if each.what == "slots"} == {"h0", "h1"} - gone
    assert {each.host for each in every if each.what.startswith("hosts_")} == gone


SIZES = """
fairhold: 1
resource_groups: {compute: {hosts: [{name: "h[01-09]", slots: 1}, {name: "big[1-2]", slots: 4}]}}
consumers: {A: {}, B: {rank: 1}}
policies:
  - {resource_groups: [compute], policy: ownership, consumers: {/A: {owned: 6}, /B: {owned: 4}}}
"""


@pytest.mark.parametrize(
    ("plan", "up"),
    [
        (SIZES, 2),  # the large ones; of the small ones it takes seven
        (SIZES.replace("slots: 4", "slots: 1").replace("owned: 6", "owned: 8"), 9),
    ],
)
def test_of_hosts_that_are_down_as_few_come_up_as_it_takes(plan: str, up: int) -> None:
    parsed, _ = parse_plan(plan, "plan")
    state = parse_state(BOTH_WANT_12 + 'hosts_down: ["h[01-09]", "big[1-2]"]\n', parsed, "state")
    books = open_books(parsed, state)["compute"]
    first = one_more(parsed, books, books.rows.by_path["/B"], state.now).helps[0]
    assert len(first.changes) == len({change.host for change in first.changes}) == up


@FEW
@given(st.data())
def test_every_value_that_is_told_with_hosts_down_is_true(data: st.DataObject) -> None:
    plan = data.draw(plans(hosts=True, most=7, depth=2, aged=False))
    hosts = [host["name"] for host in plan["resource_groups"][GROUP]["hosts"]]
    down = data.draw(st.lists(st.sampled_from(hosts), min_size=1, unique=True))
    case = Case(plan, data.draw(counts(plan, notices=False)) | {"hosts_down": down})
    for path in case.plan.tree.paths[1:]:
        books = opened(case)
        search = SlotSearch(case.plan, books, books.rows.by_path[path], case.state.now)
        for each in search.told(search.others()):
            assert quota_of(applied(case, each.changes), path) == each.quota > search.quota


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
    assert explanation.what_if is not None
    assert explanation.what_if.helps[-1].changes == (Change("slots", 4, 5, consumer="/", host="h2"),)


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
    assert explanation.what_if is not None
    changes = {
        (change.what, change.consumer, change.new) for each in explanation.what_if.helps for change in each.changes
    }
    mine = {("slots", "/", 101)}
    assert changes == (
        mine if slots == 100 else {("owned", "/B", 0), ("demand", "/B", 0)}
    )  # a file holds no more slots

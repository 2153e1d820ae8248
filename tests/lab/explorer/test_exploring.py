"""What changes do: the numbers of `quota`, the same in one go and one after the other, and faults that name them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.document import quota_document
from fairhold.errors import InputError
from fairhold.lab.explorer import Explorer, parse_change
from fairhold.lab.explorer.numbers import differences, numbers
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from tests.examples import FEW
from tests.lab.explorer.scenes import ASKED, MIXED, SCENES, Experiment

by_scene = pytest.mark.parametrize("name", SCENES)


def faults(experiment: Experiment, *changes: str) -> list[tuple[str, str, str, str]]:
    with pytest.raises(InputError) as caught:
        experiment.explorer().explore(changes)
    return [(each.code, each.file, each.where(), each.mend) for each in caught.value.faults]


@by_scene
def test_a_plan_without_changes_differs_in_nothing(name: str) -> None:
    explorer = SCENES[name].explorer()
    explored = explorer.explore([])
    assert (explored.differences, explored.findings, explored.changed()) == ([], (), [])
    assert explored.quotas == explorer.quotas
    assert (explored.plan_document, explored.state_document) == (explorer.plan_document, explorer.state_document)


@by_scene
def test_every_change_fits_alone_and_leaves_what_was_read_as_it_was(name: str) -> None:
    explorer = SCENES[name].explorer()
    before = json.dumps([explorer.plan_document, explorer.state_document])
    for change in SCENES[name].changes:
        explored = explorer.explore([change])
        assert explored.findings == (), change
        assert [explored.plan_document, explored.state_document] != json.loads(before), change
    assert json.dumps([explorer.plan_document, explorer.state_document]) == before


@FEW
@given(st.data())
def test_one_after_the_other_is_all_at_once_and_what_quota_prints(data: st.DataObject) -> None:
    experiment = SCENES[data.draw(st.sampled_from([*SCENES]))]
    changes = data.draw(st.lists(st.sampled_from(experiment.changes), max_size=4))
    explorer = experiment.explorer()
    at_once = explorer.explore(changes)
    assert at_once.findings == ()
    plan, state = json.dumps(explorer.plan_document), json.dumps(explorer.state_document)
    for change in changes:
        explored = Explorer(plan, "p", state, "s").explore([change])
        plan, state = json.dumps(explored.plan_document), json.dumps(explored.state_document)
    assert (json.loads(plan), json.loads(state)) == (at_once.plan_document, at_once.state_document)
    read = parse_plan(plan, "p")[0]
    printed = json.loads(json.dumps(quota_document(read, parse_state(state, read, "s"))))
    assert printed == json.loads(json.dumps(at_once.quotas))
    check_differences(explorer.quotas, printed, at_once.differences)


def check_differences(before: dict[str, Any], after: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    """Every row is a number of both results, and every number that differs has a row."""
    old, new = numbers(before), numbers(after)
    found = {}
    for row in rows:
        where = tuple(row.get(name, "") for name in ("resource_group", "pool", "consumer", "key"))
        found[where] = (row.get("before", "absent"), row.get("after", "absent"))
    wanted = {
        tuple(where): (old.get(where, "absent"), new.get(where, "absent"))
        for where in {**old, **new}
        if (where in old, old.get(where)) != (where in new, new.get(where))
    }
    assert found == wanted
    assert len(found) == len(rows)


def test_the_largest_change_of_what_one_is_entitled_to_comes_first() -> None:
    rows = SCENES["hybrid"].explorer().explore(["/Research:demand=20"]).differences
    assert rows[0] == {"resource_group": "compute", "consumer": "/", "key": "quota", "before": 100, "after": 70}
    assert [row["key"] for row in rows[:2]] == ["quota", "quota"]
    assert all(row["key"] != "quota" for row in rows[2:])


def test_what_is_there_only_before_or_only_after_has_one_end() -> None:
    def result(**pools: int) -> dict[str, Any]:
        inner = {pool: {"amounts": {"gpu": gpus}, "consumers": {}} for pool, gpus in pools.items()}
        return {"resource_groups": {}, "pools": {"main": inner}}

    rows = differences(result(**{"/": 1, "/A": 2}), result(**{"/": 1, "/B": 3}))
    assert rows == [
        {"resource_group": "main", "pool": "/A", "key": "amounts.gpu", "before": 2},
        {"resource_group": "main", "pool": "/B", "key": "amounts.gpu", "after": 3},
    ]


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ("/Bank/Risk:owned=6", ("policies", 0, "consumers", "/Bank/Risk", "owned")),
        ("/Bank/FX:owned=1", ("policies", 0, "consumers", "/Bank/FX", "owned")),  # beside others of its branch
        ("/Lab:owned=6", ("policies", 1, "consumers", "/Lab", "owned")),
        ("/Bank/Risk:reclaim_grace=9s", ("policies", 0, "consumers", "/Bank/Risk", "reclaim_grace")),
        ("/Web/Search:priority=9", ("policies", 4, "consumers", "/Web/Search", "priority")),
        ("policies[3]/Lab:share_ratio=9", ("policies", 3, "consumers", "/Lab", "share_ratio")),
        ("settings:enforce=parent", ("policies", 2, "settings", "enforce")),
        ("compute:slots=99", ("resource_groups", "compute", "slots")),
        ("gpu:hosts[0].gpu=5", ("resource_groups", "gpu", "hosts", 0, "gpu")),
        ("/Web:deserved.gpu=1", ("policies", 4, "consumers", "/Web", "deserved", "gpu")),
    ],
)
def test_where_a_change_goes(change: str, place: tuple[Any, ...]) -> None:
    explored = SCENES["mixed"].explorer().explore([change])
    node: Any = explored.plan_document
    for step in place:
        node = node[step]
    assert node == parse_change(change).value


def test_a_rank_that_stands_in_the_tree_alone_changes_there() -> None:
    plan = MIXED.replace("FX: {}", "FX: {rank: 4}")
    explored = Explorer(plan, "p", ASKED, "s").explore(["/Bank/FX:rank=2"])
    assert explored.plan_document["consumers"]["Bank"]["consumers"]["FX"] == {"rank": 2}


def test_an_empty_value_takes_a_setting_away() -> None:
    explored = SCENES["hybrid"].explorer().explore(["/Trading:limit="])
    assert "limit" not in explored.plan_document["policies"][0]["consumers"]["/Trading"]


def test_demand_comes_to_the_last_request_and_goes_from_the_last_ones_down_to_what_they_hold() -> None:
    def counts(change: str) -> list[int]:
        found = SCENES["mixed"].explorer().explore([change]).state_document["requests"]
        return [each["count"] for each in found if each["consumer"] == "/Lab" and each["resource_group"] == "compute"]

    assert [counts(f"/Lab:demand.compute={units}") for units in (20, 12, 8, 7, 6)] == [
        *([3, 17], [3, 9], [3, 5], [3, 4], [2, 4])
    ]
    ((code, file, _, mend),) = faults(SCENES["mixed"], "/Lab:demand.compute=5")
    assert (code, file, mend) == (
        "change",
        "/Lab:demand.compute=5",
        "write 6 or more; what is held comes from the state",
    )


def test_who_has_no_request_gets_one_of_slots_and_none_of_resources() -> None:
    explored = SCENES["mixed"].explorer().explore(["/Bank/FX:demand.compute=2", "/Bank/FX:demand.compute=3"])
    assert explored.state_document["requests"][-1] == {
        "id": "demand of /Bank/FX in compute",
        "consumer": "/Bank/FX",
        "resource_group": "compute",
        "count": 3,
    }
    ((*_, mend),) = faults(SCENES["mixed"], "/Bank/FX:demand.gpu=2")
    assert mend == "add one to the state, with `unit:` and `count:`"


def test_slots_that_the_state_says_a_group_has_change_with_the_plan() -> None:
    experiment = SCENES["hybrid"]
    state = experiment.state + "\nresource_groups: {compute: {slots: 90}}\n"
    explored = Explorer(experiment.plan, "p", state, "s").explore(["compute:slots=80"])
    assert explored.quotas["resource_groups"]["compute"]["slots"] == 80


@pytest.mark.parametrize(
    ("name", "change", "code", "mend"),
    [
        ("hybrid", "nothing", "change", "write `/Trading:owned=8`"),
        ("hybrid", "/Research.owned=3", "change", "did you mean `/Research:owned=3`?"),
        ("fair_share", "/Research.limit.gpu=3", "change", "did you mean `/Research:limit.gpu=3`?"),
        ("hybrid", "/Reserch:owned=3", "change", "did you mean `/Research`?"),
        ("hybrid", "/Research:ownd=3", "change", "did you mean `owned`?"),
        ("hybrid", "comput:slots=3", "change", "did you mean `compute`?"),
        ("hybrid", "/Research:share_ratio=3", "change", "name a setting"),
        ("hybrid", "policies[1]/Research:owned=3", "change", "the plan has 1 of them"),
        ("hybrid", "/Trading:demand=3", "change", "name a leaf"),
        ("hybrid", "/Research:demand=-1", "change", "write a whole number from 0 on"),
        ("hybrid", "/Research:demand.comput=1", "change", "did you mean `compute`?"),
        ("hybrid", "/Research:owned=x", "not-whole", "write a whole number"),
        ("hybrid", "/Research:owned=[1", "change", "write `/Trading:owned=8`"),
        ("hybrid", "/Trading:owned=50", "children-own-more", "raise `owned`"),
        ("hybrid", "settings:victims=oldest", "victims-need-requests", "write `requests:`"),
        ("multidimensional", "/Trading:own[1].hosts=2", "change", "it has 1, from 0 on"),
        ("multidimensional", "/Research:demand=3", "change", "write 15 or more"),
        ("fair_share", "voices:colour=3", "change", "name a key"),
        ("fair_share", "/Research:limit.fpga=3", "unknown-resource", ""),
        ("mixed", "/Lab:demand=3", "change", "write `/Lab:demand.compute=N`"),
        ("windows", "window[Sat 08:00-10:00]/Trading:owned=3", "change", "name a window: `Mon-Fri 08:00-18:00, q"),
        ("hybrid", "window[Sat 08:00-10:00]/Trading:owned=3", "change", "there is no window"),
        ("mixed", "gpu:slots=3", "change", "name another group or key"),
    ],
)
def test_a_fault_names_the_change_and_how_to_mend_it(name: str, change: str, code: str, mend: str) -> None:
    found = faults(SCENES[name], change)
    assert {(each[0], each[1]) for each in found} == {(code, change)}
    assert found[0][3].startswith(mend)


WEEK = "Mon-Fri 08:00-18:00, quarter_end 06:00-24:00"


def owned(explored: Any, path: str) -> list[int]:
    """What the entries of the changed plan say."""
    return [entry["consumers"][path]["owned"] for entry in explored.plan_document["policies"]]


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (f"window[{WEEK}]/Trading:owned=70", [70, 20]),
        (f"window[ {WEEK.replace(' ', '  ')}]./Trading:owned=70", [70, 20]),
        ("window[]/Trading:owned=10", [80, 10]),
        ("policies[1]/Trading:owned=10", [80, 10]),
    ],
)
def test_a_change_of_one_window_leaves_the_others_and_says_nothing(change: str, wanted: list[int]) -> None:
    explored = SCENES["windows"].explorer().explore([change])
    assert owned(explored, "/Trading") == wanted
    assert [each for each in explored.warnings if each.code == "all-windows"] == []


def test_a_change_of_a_value_that_differs_by_window_says_that_it_changes_all_of_them() -> None:
    explored = SCENES["windows"].explorer().explore(["/Trading:owned=10", "/Trading:owned=15"])
    assert owned(explored, "/Trading") == [15, 15]
    (told,) = (each for each in explored.warnings if each.code == "all-windows")  # the second time it was the same
    assert told.file == "/Trading:owned=10"
    assert told.what == (
        f"it changes the value in every window: policies[0] ({WEEK}): 80; policies[1] (without a window): 20"
    )
    assert told.mend == f"name one window to change it there alone: `window[{WEEK}]/Trading:owned=10`"


def test_entries_without_windows_are_changed_together_and_nothing_is_said() -> None:
    explored = SCENES["mixed"].explorer().explore(["/Lab:limit=9"])
    assert [each for each in explored.warnings if each.code == "all-windows"] == []


def test_a_fault_that_no_change_made_alone_names_them_all() -> None:
    changes = ("settings:victims=oldest", "/Trading:limit=90")
    assert {each[1] for each in faults(SCENES["hybrid"], *changes)} == {", ".join(changes)}


def test_why_is_what_explain_tells_before_and_after() -> None:
    for experiment in SCENES.values():
        explorer = experiment.explorer()
        explored = explorer.explore(experiment.changes[:1])
        for path in ("/", *explored.changed()[:2]):
            for told in (explorer.why(path), explorer.why(path, explored)):
                assert all(each["consumer"] == path for each in told)
    quotas = [each.why("/Research", of)[0]["quota"] for each, of in _research()]
    assert quotas == [50, 20]
    with pytest.raises(InputError, match="no consumer"):
        SCENES["hybrid"].explorer().why("/Nobody")


def _research() -> list[tuple[Explorer, Any]]:
    explorer = SCENES["hybrid"].explorer()
    return [(explorer, None), (explorer, explorer.explore(["/Research:demand=20"]))]

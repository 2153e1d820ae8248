"""Fair shares of totals without hosts, and of amounts without requests (SPEC §11)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.cli.files import print_cycle, verify_result
from fairhold.cli.queue_tables import queue_table
from fairhold.cycle.document import quota_document
from fairhold.cycle.explain.pooled.document import explain_pools
from fairhold.cycle.verify import verify
from fairhold.errors import InputError
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state, state_document
from fairhold.runtime.explaining_pools import as_document
from tests.examples import FEW
from tests.pools.test_verify import quota_of
from tests.queues.small import NOW, Cluster

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.model.plan import Plan

Json = dict[str, Any]
TOTALS = {"capacity": {"gpu": 16, "cpu": 64}}
HOSTS = {"hosts": [{"name": f"h{at}", "gpu": 8, "cpu": 32} for at in range(2)]}
DEMAND = {"/P/a": {"g": {"gpu": 12, "cpu": 3.5}}, "/P/b": {"g": {"gpu": 6}}, "/Q": {"g": {"gpu": 8}}}
HELD = {"/P/a": {"g": {"gpu": 10}}, "/Q": {"g": {"gpu": 9}}}


def plan_document(group: Json, division: str = "exact") -> Json:
    queues = {
        "/P": {"deserved": {"gpu": 8}},
        "/P/a": {"deserved": {"gpu": 4}, "over_quota_weight": 2},
        "/P/b": {"deserved": {"gpu": 4}},
        "/Q": {"deserved": {"gpu": 4}, "priority": 50},
    }
    entry = {"resource_groups": ["g"], "policy": "fair_share", "settings": {"division": division}, "consumers": queues}
    return {
        "fairhold": 1,
        "resources": {"gpu": {}, "cpu": {}},
        "resource_groups": {"g": group},
        "consumers": {path: {} for path in queues},
        "policies": [entry],
    }


def plan_of(group: Json, division: str = "exact") -> Plan:
    return parse_plan(json.dumps(plan_document(group, division)), "plan.json")[0]


def faults(plan: Plan, **sections: object) -> list[str]:
    try:
        parse_state(json.dumps({"fairhold_state": 1, "now": NOW, **sections}), plan, "state.json")
    except InputError as error:
        return [fault.code for fault in error.faults]
    return []


@pytest.mark.parametrize("division", ["exact", "kai"])
@pytest.mark.parametrize("group", [TOTALS, HOSTS], ids=["totals", "hosts"])
def test_amounts_are_enough_for_fair_shares(group: Json, division: str) -> None:
    plan = plan_of(group, division)
    document = {"fairhold_state": 1, "now": NOW, "demand": DEMAND, "allocated": HELD}
    state = parse_state(json.dumps(document), plan, "state.json")
    table = quota_document(plan, state)["resource_groups"]["g"]
    assert table["amounts"] == {"gpu": 16, "cpu": 64}
    rows = table["consumers"]
    assert {path: row["fair_share"]["gpu"] for path, row in rows.items()} == {
        "/": 16, "/P": 12, "/P/a": 7, "/P/b": 5, "/Q": 4,
    }  # fmt: skip
    assert rows["/Q"]["requested"] == {"gpu": 9}  # it has more than it wants
    assert (rows["/P"]["allocated"], rows["/P"]["saturation"]["gpu"]) == ({"gpu": 10}, "5/6")
    assert rows["/P/a"]["fair_share"]["cpu"] == 3.5
    assert verify(plan, state, quota_of(plan, state)) == ()
    assert parse_state(json.dumps(state_document(plan, state)), plan, "state.json") == state
    (told,) = [as_document(each) for each in explain_pools(plan, state, "/P/a")]
    assert told["sentence"].startswith("/P/a in g: fair share gpu 7 of 16")
    assert "holds 10" in told["sentence"]
    assert [(row["consumer"], row["held"]) for row in told["over_fair_share"]] == [("/P/a", 10), ("/Q", 9)]


def test_a_unit_larger_than_all_is_not_waited_for_and_none_can_stand() -> None:
    plan = plan_of(TOTALS)
    requests = [
        {"id": "fits", "consumer": "/P/a", "unit": {"gpu": 2}, "count": 3},
        {"id": "large", "consumer": "/P/b", "unit": {"gpu": 17}, "count": 1},
    ]
    state = parse_state(json.dumps({"fairhold_state": 1, "now": NOW, "requests": requests}), plan, "state.json")
    rows = quota_document(plan, state)["resource_groups"]["g"]["consumers"]
    assert (rows["/P/a"]["fair_share"]["gpu"], rows["/P/b"]["fair_share"]["gpu"]) == (6, 0)
    assert verify(plan, state, quota_of(plan, state)) == ()
    (told,) = [as_document(each) for each in explain_pools(plan, state, "/P/a")]
    assert told["sentence"].endswith(
        "3 units of request fits wait: only totals are known, and units need hosts [R-QUEUE-1]."
    )


def test_totals_may_be_others_now() -> None:
    plan = plan_of(TOTALS)
    document = {"fairhold_state": 1, "now": NOW, "demand": DEMAND, "resource_groups": {"g": {"capacity": {"gpu": 8}}}}
    state = parse_state(json.dumps(document), plan, "state.json")
    assert quota_document(plan, state)["resource_groups"]["g"]["amounts"] == {"gpu": 8}
    assert verify(plan, state, quota_of(plan, state)) == ()
    assert parse_state(json.dumps(state_document(plan, state)), plan, "state.json") == state


@pytest.mark.parametrize(
    ("sections", "code"),
    [
        ({"demand": {"/P/a": {"g": {"gpu": -1}}}}, "negative"),
        ({"demand": {"/P/a": {"g": {"gpu": 0.0005}}}}, "no-multiple"),
        ({"demand": {"/P/a": {"g": {"gpus": 1}}}}, "unknown-resource"),
        ({"demand": {"/P/a": {"g": {"gpu": "many"}}}}, "not-a-number"),
        ({"demand": {"/P/a": {"g": {"gpu": 1e300}}}}, "out-of-range"),
        ({"demand": {"/P/a": {"g": 5}}}, "wrong-type"),
        ({"demand": {"/P/a": {"h": {"gpu": 5}}}}, "unknown-resource-group"),
        ({"demand": {"/P": {"g": {"gpu": 1}}}}, "not-a-leaf"),
        ({"allocated": {"/": {"g": {"gpu": 1}}}}, "not-a-leaf"),
        (
            {"demand": DEMAND, "requests": [{"id": "r", "consumer": "/Q", "unit": {"gpu": 1}, "count": 1}]},
            "counts-and-requests",
        ),
        ({"resource_groups": {"g": {"slots": 8}}}, "slots-and-vectors"),
        ({"resource_groups": {"g": {}}}, "missing-key"),
        ({"resource_groups": {"g": {"capacity": {}}}}, "out-of-range"),
        ({"resource_groups": {"g": {"capacity": {"gpu": -8}}}}, "negative"),
    ],
)
def test_bad_amounts_of_a_state_are_refused(sections: Json, code: str) -> None:
    assert faults(plan_of(TOTALS), **sections) == [code]


def test_totals_of_a_state_are_of_groups_that_have_totals() -> None:
    assert faults(plan_of(HOSTS), resource_groups={"g": {"capacity": {"gpu": 8}}}) == ["slots-and-hosts"]


@pytest.mark.parametrize(
    ("group", "code"),
    [
        ({"capacity": {"gpu": 8}, **HOSTS}, "slots-and-hosts"),
        ({"capacity": {"gpu": 8}, "slots": 8}, "slots-and-vectors"),
        ({"capacity": {"gpu": 8}, "configured_slots": 8}, "slots-and-vectors"),
        ({"capacity": {"gpu": -8}}, "negative"),
        ({"capacity": {"gpu": 0.0001}}, "no-multiple"),
        ({"capacity": {"gpus": 8}}, "unknown-resource"),
        ({"capacity": {"gpu": 0}}, "out-of-range"),
        ({"capacity": None}, "out-of-range"),
        ({"capacity": 8}, "wrong-type"),
    ],
)
def test_bad_totals_of_a_plan_are_refused(group: Json, code: str) -> None:
    with pytest.raises(InputError) as caught:
        plan_of(group)
    assert [fault.code for fault in caught.value.faults] == [code]


@pytest.mark.parametrize("policy", ["multidimensional", "hybrid"])
def test_only_queues_share_totals(policy: str) -> None:
    document = plan_document(TOTALS)
    document["policies"][0] = {"resource_groups": ["g"], "policy": policy}
    with pytest.raises(InputError) as caught:
        parse_plan(json.dumps(document), "plan.json")
    assert [fault.code for fault in caught.value.faults] == ["slots-and-vectors"]


@pytest.mark.parametrize(("group", "code"), [(TOTALS, "needs-hosts"), (HOSTS, "needs-requests")])
def test_what_places_units_says_what_it_needs(group: Json, code: str, tmp_path: Path) -> None:
    plan, state, result = (tmp_path / name for name in ("plan.json", "state.json", "result.json"))
    plan.write_text(json.dumps(plan_document(group)))
    state.write_text(json.dumps({"fairhold_state": 1, "now": NOW, "demand": DEMAND}))
    result.write_text(json.dumps({"resource_groups": {}, "grants": []}))
    with pytest.raises(InputError) as caught:
        print_cycle(plan, state, None, as_json=True)
    assert [(fault.code, fault.line > 0) for fault in caught.value.faults] == [(code, True)]
    with pytest.raises(InputError) as caught:
        verify_result(plan, state, result, as_json=True)
    assert [(fault.code, fault.line > 0) for fault in caught.value.faults] == [(code, True)]


AMOUNTS = st.fixed_dictionaries(
    {}, optional={"gpu": st.integers(0, 20), "cpu": st.integers(0, 80).map(lambda n: n / 2)}
)
STATED = st.dictionaries(st.sampled_from(["/P/a", "/P/b", "/Q"]), st.fixed_dictionaries({"g": AMOUNTS}))


@FEW
@given(STATED, STATED, st.sampled_from([TOTALS, HOSTS]), st.sampled_from(["exact", "kai"]))
def test_any_amounts_are_verified_and_read_back(demand: Json, held: Json, group: Json, division: str) -> None:
    plan = plan_of(group, division)
    document = {"fairhold_state": 1, "now": NOW, "demand": demand, "allocated": held}
    state = parse_state(json.dumps(document), plan, "state.json")
    assert verify(plan, state, quota_of(plan, state)) == ()
    assert parse_state(json.dumps(state_document(plan, state)), plan, "state.json") == state


@pytest.mark.parametrize(
    ("queues", "told"),
    [
        ({"A": {"deserved": "unlimited"}, "B": {"deserved": {"gpu": 2}}}, "`/A` all of it beside them"),
        ({"A": {"deserved": "unlimited"}, "B": {"deserved": {"gpu": 9}}}, "there are 8"),
        ({"A": {"deserved": "unlimited"}, "B": {}}, ""),
        ({"A": {"deserved": "unlimited"}, "A/x": {"deserved": {"gpu": 5}}, "A/y": {"deserved": {"gpu": 4}}}, "most 8"),
        ({"A": {"deserved": "unlimited", "limit": {"gpu": 4}}, "A/x": {"deserved": {"gpu": 5}}}, "at most 4"),
        ({"A": {"deserved": "unlimited"}, "A/x": {"deserved": {"gpu": 8}}}, ""),
        ({"A": {"deserved": {"gpu": 3}}, "A/x": {"deserved": {"gpu": 4}}}, "`/A` deserves 3"),
        ({"A": {}, "A/x": {"deserved": {"gpu": 1}}}, "`/A` deserves 0"),
    ],
)
def test_more_is_deserved_than_there_is_where_one_deserves_all(queues: Json, told: str) -> None:
    plan: Json = {
        "fairhold": 1,
        "cluster": "c",
        "resources": {"gpu": {}},
        "resource_groups": {"g": {"capacity": {"gpu": 8}}},
        "consumers": {f"/{name}": {} for name in queues},
        "policies": [
            {
                "resource_groups": ["g"],
                "policy": "fair_share",
                "consumers": {f"/{name}": each for name, each in queues.items()},
            }
        ],
    }
    found = [each.what for each in parse_plan(json.dumps(plan), "plan.json")[1] if each.code == "oversubscribed"]
    assert [told in what for what in found] == [True] * bool(told)


@pytest.mark.parametrize(("key", "word"), [("deserved", "unlimited"), ("limit", "none")])
def test_who_writes_minus_one_as_in_kai_is_told_the_word(key: str, word: str) -> None:
    with pytest.raises(InputError) as caught:
        Cluster([4], {"/A": {key: {"gpu": -1}}})
    (fault,) = caught.value.faults
    assert (fault.code, fault.mend) == ("negative", f"write 0 or more, or `{word}` for no bound")


@pytest.mark.parametrize(
    ("place", "stated", "code", "mend"),
    [
        ("limit", {"gpu": "unlimited"}, "unknown-word", "write `none` here, or an amount"),
        ("deserved", {"gpu": "none"}, "unknown-word", "write `unlimited` here, or an amount"),
        ("deserved", {"gpu": None}, "not-a-number", "write a number"),
        ("deserved", {"gpu": 5}, "deserved-above-limit", "raise `limit`, or lower `deserved`"),
        ("priority", 10**9 + 1, "out-of-range", "write a number from 0 to 1000000000"),
        ("priority", -1, "negative", "write a number from 0 to 1000000000"),
        ("over_quota_weight", -1, "negative", "write 0 or more"),
        ("over_quota_weight", "much", "not-a-number", "write a number such as 1.5"),
    ],
)
def test_what_a_queue_may_not_state_has_its_place_and_what_to_write(
    place: str, stated: object, code: str, mend: str
) -> None:
    with pytest.raises(InputError) as caught:
        Cluster([8], {"/A": {"limit": {"gpu": 4}} | {place: stated}})
    (fault,) = caught.value.faults
    assert (fault.code, fault.mend, fault.place[:4]) == (code, mend, ("policies", 0, "consumers", "/A"))


@pytest.mark.parametrize(
    ("key", "stated", "code", "mend"),
    [
        ("reclaimer_utilization_multiplier", 0.99, "out-of-range", "write 1 or more"),
        ("reclaimer_utilization_multiplier", -2, "negative", "write 1 or more"),
        ("k", -0.5, "negative", "write 0 or more"),
        ("k", True, "not-a-number", "write a number such as 1.5"),
        ("k", 10**7, "out-of-range", "write a smaller or a rounder number"),
        ("usage_window", "year", "unknown-word", "write `day`, `week`, `month`, or a time such as `7d`"),
        ("usage_window", "weekly", "unknown-word", "did you mean `week`?"),
        ("usage_window", {"tumbling": "0s"}, "out-of-range", "write a time such as `7d`"),
        ("half_life", "0s", "out-of-range", "write a time such as `7d`"),
    ],
)
def test_what_a_policy_may_not_state_has_its_place_and_what_to_write(
    key: str, stated: object, code: str, mend: str
) -> None:
    with pytest.raises(InputError) as caught:
        Cluster([8], {"/A": {}}, **{key: stated})
    (fault,) = caught.value.faults
    assert (fault.code, fault.mend, fault.place[:4]) == (code, mend, ("policies", 0, "settings", key))


def test_quota_tells_the_history_that_counts_and_the_independent_check_knows_it_s4_10() -> None:
    queues: Json = {"/P": {}, "/P/a": {}, "/P/b": {}, "/Q": {}}
    cluster = Cluster([16], queues, k=1).ask("x", "/P/a", 20).ask("y", "/Q", 20)
    cluster.document["usage"] = {"/P/a": {"gpu": 0.25}, "/P/b": {"gpu": 0.125}}
    state = parse_state(json.dumps(cluster.document), cluster.plan, "state.json")
    result = quota_document(cluster.plan, state)
    group = result["resource_groups"]["g"]
    used = {path: row["usage"]["gpu"] for path, row in group["consumers"].items()}
    assert used == {"/": 0.375, "/P": 0.375, "/P/a": 0.25, "/P/b": 0.125, "/Q": 0}
    assert verify(cluster.plan, state, result) == ()
    group["consumers"]["/P"]["usage"]["gpu"] = 0.5
    assert len(verify(cluster.plan, state, result)) == 1
    header, line = queue_table("g", group).splitlines()[1:3]
    assert (header.split()[-1], line.split()[-1]) == ("history", "0.500")
    plain = Cluster([16], queues).ask("x", "/P/a", 20)
    plain.document["usage"] = cluster.document["usage"]
    state = parse_state(json.dumps(plain.document), plain.plan, "state.json")
    assert "usage" not in quota_document(plain.plan, state)["resource_groups"]["g"]["consumers"]["/P"]

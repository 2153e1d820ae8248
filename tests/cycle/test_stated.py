"""What a new plan says otherwise is told, whichever setting it is."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cli.differing import diff_text
from fairhold.cycle.plan_diff import differences
from fairhold.cycle.settings_format import said
from fairhold.cycle.window_preview import calendar_document
from fairhold.model.kubernetes import KubernetesSettings, Node
from fairhold.model.plan import ConsumerSettings, Host, Plan, PolicyEntry, PolicySettings, ResourceGroup
from fairhold.model.tree import ConsumerTree
from fairhold.model.vector import Resource
from fairhold.planio.plan import parse_plan
from fairhold.units import format_duration, parse_duration

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.properties.strategies import Json

PLAN: Json = {
    "fairhold": 1,
    "time_zone": "Europe/Zurich",
    "resources": {"cpu": {}, "memory": {"unit": "GiB"}},
    "resource_groups": {
        "c": {"hosts": [{"name": "h1", "slots": 4}, {"name": "h2", "slots": 4}]},
        "d": {"slots": 5},
        "v": {"hosts": [{"name": "v1", "cpu": 8, "memory": 64}, {"name": "v2", "cpu": 8, "memory": 64}]},
        "q": {"hosts": [{"name": "q1", "cpu": 8, "memory": 64}]},
        "t": {"capacity": {"cpu": 8}},
    },
    "consumers": {"A": {"consumers": {"a1": {}, "a2": {}}}, "B": {}},
    "special_days": {"quarter_end": {"dates": ["2026-03-31"]}},
    "policies": [
        {
            "resource_groups": ["c"],
            "policy": "hybrid",
            "window": "Mon-Fri 08:00-18:00, quarter_end 00:00-24:00",
            "settings": {},
            "consumers": {"/A": {"owned": 4}, "/B": {"owned": 4}},
        },
        {"resource_groups": ["c"], "policy": "ownership", "settings": {}, "consumers": {"/A/a1": {}, "/B": {}}},
        {"resource_groups": ["d"], "policy": "share_ratio", "settings": {}, "consumers": {}},
        {"resource_groups": ["v"], "policy": "multidimensional", "settings": {}, "consumers": {}},
        {"resource_groups": ["q"], "policy": "fair_share", "settings": {}, "consumers": {}},
        {"resource_groups": ["t"], "policy": "fair_share", "settings": {}, "consumers": {}},
    ],
}
TUMBLING = {"tumbling": "1d", "start": "2026-01-01T00:00:00Z"}
SETTINGS: list[tuple[int, str, object, list[object]]] = [
    (0, "distribute_evenly", True, [False, True]),
    (0, "disable_reclaim_own", True, [False, True]),
    (0, "packing", "balanced", ["stacked", "balanced"]),
    (0, "victims", "oldest", ["youngest", "oldest"]),
    (0, "within", "fifo", ["users", "fifo"]),
    (2, "enforce", "parent", ["leaf", "parent"]),
    (2, "entitlement", "fixed", ["planned", "fixed"]),
    (0, "lead", "auto", ["0s", "auto"]),
    (0, "max_reclaims", 3, [None, 3]),
    (0, "dead_zone", 2, [0, 2]),
    (0, "await_ends", "90s", ["0s", "1m30s"]),
    (0, "observe_only", True, [False, True]),
    (0, "hold_after", "1h", [None, "1h"]),
    (3, "public_pool_grace", "90s", [None, "1m30s"]),
    (3, "rebalance_interval", "90s", ["0s", "1m30s"]),
    (4, "division", "kai", ["exact", "kai"]),
    (4, "reclaimer_utilization_multiplier", 1.25, [1, 1.25]),
    (4, "k", 0.5, [0, 0.5]),
    (4, "half_life", "90s", [None, "1m30s"]),
    (4, "usage_window", "1d", ["7d", "1d"]),
    (4, "usage_window", "month", ["7d", "month"]),
    (4, "usage_window", TUMBLING, ["7d", TUMBLING]),
    (4, "consolidation", True, [False, True]),
]
OWN = [
    {"resource_group": "v", "hosts": "50%", "preference": 1, "lend_grace": "1m", "reserved": True},
    {"resource_group": "v", "per_host": {"cpu": "12.5%", "memory": 0.5}, "reclaim_before_next_level": True},
]
BUDGET = {"unit_hours": 5, "period": "day", "then": "wait"}
OF_CONSUMERS: list[tuple[int, str, object, list[object]]] = [
    (0, "owned", 3, [4, 3]),
    (0, "reserved", 1, [0, 1]),
    (0, "limit", 7, [None, 7]),
    (0, "rank", 2, [None, 2]),
    (0, "reclaim_grace", "250ms", [None, "0.25s"]),
    (2, "share_ratio", 2, [None, 2]),
    (0, "budget", BUDGET, [None, BUDGET]),
    (0, "max_run_time", "1s", [None, "1s"]),
    (0, "max_run_time", "none", [None, "none"]),
    (0, "user_limit", 1, [None, 1]),
    (0, "user_limit", "none", [None, "none"]),
    (0, "min_runtime", "2d", [None, "2d"]),
    (3, "own", OWN, [None, OWN]),
    (3, "share_priority", 5, [0, 5]),
    (3, "share_limit", {"cpu": 2, "memory": 1.5}, [None, {"cpu": 2, "memory": 1.5}]),
    (3, "private_pool_grace", "0.5s", [None, "0.5s"]),
    (4, "deserved", {"cpu": 2, "memory": "unlimited"}, [None, {"cpu": 2, "memory": "unlimited"}]),
    (4, "deserved", {"cpu": 0}, [None, None]),
    (4, "limit", {"cpu": "none", "memory": 1.5}, [None, {"memory": 1.5}]),
    (4, "over_quota_weight", {"cpu": 2.5, "memory": 1}, [None, {"cpu": 2.5}]),
    (4, "over_quota_weight", 0, [None, {"cpu": 0, "memory": 0}]),
    (4, "priority", 50, [100, 50]),
    (4, "reclaim_min_runtime", "90s", [None, "1m30s"]),
    (4, "preempt_min_runtime", "1s", [None, "1s"]),
    (4, "preemption_delay", "1s", [None, "1s"]),
]
LISTS = {"lend_to": "/A/a1", "borrow_from": "/B"}


def plan_of(document: Json) -> Plan:
    return parse_plan(json.dumps(document), "plan")[0]


def told(change: Callable[[Json], Any], moved: dict[str, str] | None = None) -> dict[str, list[object]]:
    document = deepcopy(PLAN)
    change(document)
    found = differences(plan_of(PLAN), plan_of(document), moved or {})
    assert len(found) == len({row["place"] for row in found})
    return {row["place"]: [row["old"], row["new"]] for row in found}


def test_the_same_plan_differs_in_nothing() -> None:
    assert told(lambda document: document) == {}
    assert "Changed in the plan: nothing" in diff_text(
        {"settings": [], "resource_groups": {}, "reclaims": {"added": [], "removed": []}}
    )


def shown(old: object, new: object) -> list[str]:
    rows = [{"place": "p", "old": old, "new": new}]
    text = diff_text({"settings": rows, "resource_groups": {}, "reclaims": {"added": [], "removed": []}})
    return re.split("  +", text.splitlines()[2])


def test_of_long_lists_what_differs_is_shown() -> None:
    """Twelve entries of `own`: the seventh is another, one more comes at the end, the last one goes."""
    entries: list[Json] = [{"resource_group": "gpu", "hosts": at} for at in range(12)]
    other = [*entries[:6], entries[6] | {"hosts": 77}, *entries[7:]]
    assert shown(entries, other) == ["p", "…resource_group: gpu, hosts: 6…", "…resource_group: gpu, hosts: 77…"]
    assert shown(entries, [*entries, {"hosts": 2}]) == ["p", "…", "…hosts: 2"]
    assert shown(entries, entries[:-1]) == ["p", "…resource_group: gpu, hosts: 11", "…"]


def test_of_one_long_entry_what_differs_is_shown() -> None:
    names = [f"host{at:03d}" for at in range(40)]
    old, new = ([{"resource_group": "gpu", "hosts": each}] for each in (names, [*names[:20], "other", *names[21:]]))
    place, one, other = shown(old, new)
    assert (place, "host020" in one, "other" in other) == ("p", True, True)
    assert max(len(one), len(other)) <= 60


@pytest.mark.parametrize(("at", "key", "value", "expected"), SETTINGS)
def test_settings_of_an_entry(at: int, key: str, value: object, expected: list[object]) -> None:
    def change(document: Json) -> None:
        is_of_group = key in {"packing", "observe_only"}
        for entry in document["policies"]:
            if entry["resource_groups"] == ["c"] if is_of_group else entry is document["policies"][at]:
                entry["settings"][key] = value

    assert told(change)[f"policies[{at}].settings.{key}"] == expected


@pytest.mark.parametrize(("at", "key", "value", "expected"), OF_CONSUMERS)
def test_settings_of_a_consumer(at: int, key: str, value: object, expected: list[object]) -> None:
    path = "/A" if key == "private_pool_grace" else "/B"  # a leaf has no private pool
    found = told(lambda document: document["policies"][at]["consumers"].setdefault(path, {}).update({key: value}))
    assert found == ({f"policies[{at}].consumers.{path}.{key}": expected} if expected != [None, None] else {})


def test_lists_of_peers() -> None:
    def change(document: Json) -> None:
        stated = document["policies"][1]["consumers"]
        stated["/B"]["lend_to"] = [{"consumer": "/A/a1", "limit": 2}]
        stated["/A/a1"]["borrow_from"] = [{"consumer": "/B"}]

    assert told(change) == {
        "policies[1].consumers./B.lend_to": [[], [{"consumer": "/A/a1", "limit": 2}]],
        "policies[1].consumers./A/a1.borrow_from": [[], [{"consumer": "/B", "limit": None}]],
    }


TOP: list[tuple[Callable[[Json], Any], str, list[object]]] = [
    (lambda plan: plan.update(cluster="x"), "cluster", [None, "x"]),
    (lambda plan: plan.update(time_zone="UTC"), "time_zone", ["Europe/Zurich", "UTC"]),
    (lambda plan: plan.update(default_rank=2), "default_rank", [0, 2]),
    (
        lambda plan: plan["special_days"]["quarter_end"]["dates"].extend(["2026-04-01", "2026-06-30"]),
        "special_days.quarter_end.dates",
        [["2026-03-31"], ["2026-03-31..2026-04-01", "2026-06-30"]],
    ),
    (lambda plan: plan["resource_groups"]["d"].update(slots=6), "resource_groups.d.slots", [5, 6]),
    (
        lambda plan: plan["resource_groups"]["d"].update(configured_slots=6),
        "resource_groups.d.configured_slots",
        [None, 6],
    ),
    (
        lambda plan: plan["resource_groups"]["t"].update(capacity={"cpu": 9, "memory": 1.5}),
        "resource_groups.t.capacity",
        [{"cpu": 8}, {"cpu": 9, "memory": 1.5}],
    ),
    (
        lambda plan: plan["resource_groups"]["c"]["hosts"].reverse(),
        "resource_groups.c.hosts",
        [["h1", "h2"], ["h2", "h1"]],
    ),
    (lambda plan: plan["resource_groups"]["c"]["hosts"][0].update(slots=5), "resource_groups.c.hosts.h1.slots", [4, 5]),
    (
        lambda plan: plan["resource_groups"]["c"]["hosts"][0].update(labels={"zone": "a"}),
        "resource_groups.c.hosts.h1.labels",
        [None, {"zone": "a"}],
    ),
    (
        lambda plan: plan["resource_groups"]["v"]["hosts"][0].update(memory=0.5),
        "resource_groups.v.hosts.v1.amounts",
        [{"cpu": 8, "memory": 64}, {"cpu": 8, "memory": 0.5}],
    ),
    (
        lambda plan: plan["resources"].update(gpu={}),
        "resources",
        [["cpu", "memory"], ["cpu", "memory", "gpu"]],
    ),
    (lambda plan: plan["resources"]["memory"].update(unit="MiB"), "resources.memory.unit", ["GiB", "MiB"]),
    (lambda plan: plan["resources"]["cpu"].update(base=0.5), "resources.cpu.base", [0.001, 0.5]),
    (lambda plan: plan["resources"]["cpu"].update(step=0.25), "resources.cpu.step", [1, 0.25]),
    (lambda plan: plan["resources"]["cpu"].update(overcommit=1.5), "resources.cpu.overcommit", [1, 1.5]),
    (lambda plan: plan["consumers"]["B"].update(rank=1), "consumers./B.rank", [None, 1]),
    (lambda plan: plan["consumers"]["B"].update(reclaim_grace="1m"), "consumers./B.reclaim_grace", [None, "1m"]),
    (
        lambda plan: plan["consumers"]["A"]["consumers"].update(a3={}),
        "consumers./A.consumers",
        [["a1", "a2"], ["a1", "a2", "a3"]],
    ),
    (lambda plan: plan["policies"][2].update(policy="hybrid"), "policies[2].policy", ["share_ratio", "hybrid"]),
    (
        lambda plan: plan["policies"][0].update(window="Mon-Fri 08:00-17:00, quarter_end 00:00-24:00"),
        "policies[0].window",
        ["Mon-Fri 08:00-18:00, quarter_end 00:00-24:00", "Mon-Fri 08:00-17:00, quarter_end 00:00-24:00"],
    ),
    (
        lambda plan: plan["policies"].pop(2),
        "policies[2]",
        [{"resource_groups": ["d"], "policy": "share_ratio", "window": None}, None],
    ),
]


@pytest.mark.parametrize(("change", "place", "expected"), TOP)
def test_all_else(change: Callable[[Json], Any], place: str, expected: list[object]) -> None:
    assert told(change)[place] == expected


def test_no_field_of_a_plan_is_left_out() -> None:
    """A setting that is added to the nouns has to be added to the tables above."""
    assert {key for _, key, _, _ in SETTINGS} == set(said(PolicySettings(), ()))
    assert {key for _, key, _, _ in OF_CONSUMERS} | {*LISTS} == set(said(ConsumerSettings(), ()))
    assert {field.name for field in fields(PolicyEntry)} == {
        *("resource_groups", "policy", "settings", "consumers", "window", "spans"),
        "waiting",  # which no plan states
    }
    assert {field.name for field in fields(ResourceGroup)} == {
        *("name", "slots", "configured_slots", "hosts", "capacity", "selector", "slot"),
    }
    assert {field.name for field in fields(Host)} == {"name", "slots", "labels", "amounts"}
    assert {field.name for field in fields(Resource)} == {"name", "unit", "base", "step", "overcommit"}
    assert {field.name for field in fields(ConsumerTree)} == {"name", "parent", "rank", "grace"}
    assert {field.name for field in fields(Plan) if field.compare} == {
        *("cluster", "time_zone", "default_rank", "tree", "resource_groups", "policies", "calendar", "zone"),
        *("resources", "kubernetes", "prices"),
    }
    assert {*KubernetesSettings._fields} == {"resources", "pods", "start_within", "deleted_nodes_lost_after"}


def test_prices_are_compared() -> None:
    def plan(*rates: Json) -> Plan:
        document = {
            "fairhold": 1,
            "resource_groups": {"g": {"slots": 4}},
            "consumers": {"A": {}},
            "policies": [{"resource_groups": ["g"], "policy": "hybrid"}],
        }
        if rates:
            document["prices"] = {"currency": "CHF", "rates": [*rates]}
        return parse_plan(json.dumps(document), "plan")[0]

    rate = {"resource": "slots", "per_hour": 2.5, "consumer": "/A", "from": "2026-03-01T00:00:00Z"}
    before, after = plan(), plan(rate)
    assert differences(after, after, {}) == []
    assert {row["place"]: (row["old"], row["new"]) for row in differences(before, after, {})} == {
        "prices.currency": (None, "CHF"),
        "prices.rates": (None, [rate | {"per_hour": "2.5"}]),
    }


def test_what_a_plan_says_of_a_cluster_is_compared() -> None:
    """Which nodes there are is no part of the plan."""

    def plan(nodes: Json, **kubernetes: object) -> Plan:
        document = {
            "fairhold": 1,
            "resources": {"gpu": {}},
            "resource_groups": {"g": {"nodes": nodes}},
            "kubernetes": kubernetes,
            "consumers": {"A": {}},
            "policies": [{"resource_groups": ["g"], "policy": "fair_share"}],
        }
        return parse_plan(json.dumps(document), "plan", nodes=[Node(f"n{len(kubernetes)}")])[0]

    rule = {"namespace": "ml-*", "labels": {"a": "b"}, "consumer": "/A"}
    before, after = plan({"pool": "x"}), plan({"pool": "y"}, pods=[rule], resources={"gpu": "amd.com/gpu"})
    assert differences(before, before, {}) == []
    assert {row["place"]: (row["old"], row["new"]) for row in differences(before, after, {})} == {
        "resource_groups.g.nodes": ({"pool": "x"}, {"pool": "y"}),
        "kubernetes.pods": (None, [rule]),
        "kubernetes.resources.gpu": (None, "amd.com/gpu"),
    }


def test_amounts_are_compared_as_they_are_written() -> None:
    """Finer base units, or resources in another order, change no amount of hosts and of what is owned."""

    def finer(document: Json) -> None:
        document["resources"]["cpu"]["base"] = 0.0005

    def turned(document: Json) -> None:
        document["resources"] = dict(reversed(document["resources"].items()))

    stated = {"own": OWN, "share_limit": {"cpu": 2}}
    before = deepcopy(PLAN)
    before["policies"][3]["consumers"]["/B"] = stated
    for change, places in ((finer, {"resources.cpu.base"}), (turned, {"resources"})):
        after = deepcopy(before)
        change(after)
        assert {row["place"] for row in differences(plan_of(before), plan_of(after), {})} == places


def test_a_host_that_is_new_is_told_with_what_it_has_and_with_no_labels_that_it_has_not() -> None:
    assert told(lambda plan: plan["resource_groups"]["v"]["hosts"].append({"name": "v3", "cpu": 4})) == {
        "resource_groups.v.hosts": [["v1", "v2"], ["v1", "v2", "v3"]],
        "resource_groups.v.hosts.v3.amounts": [None, {"cpu": 4}],
    }


def test_an_entry_that_is_put_in_front_changes_no_other() -> None:
    def change(document: Json) -> None:
        window = "Sat-Sun 00:00-24:00"
        new = {"resource_groups": ["c"], "policy": "hybrid", "window": window, "settings": {"dead_zone": 1}}
        document["policies"].insert(0, new)

    assert told(change) == {
        "policies[0].resource_groups": [None, ["c"]],
        "policies[0].policy": [None, "hybrid"],
        "policies[0].window": [None, "Sat-Sun 00:00-24:00"],
        "policies[0].settings.dead_zone": [0, 1],
    }


def test_a_consumer_that_is_called_otherwise_keeps_its_settings() -> None:
    def change(document: Json) -> None:
        document["consumers"]["C"] = document["consumers"].pop("B")
        for entry in document["policies"]:
            if "/B" in entry["consumers"]:
                entry["consumers"]["/C"] = entry["consumers"].pop("/B")

    assert told(change, {"/B": "/C"}) == {}
    assert told(change)["policies[0].consumers./C.owned"] == [0, 4]


@pytest.mark.parametrize("text", ["0s", "1m30s", "1h", "0.25s", "2d3h", "1m0.000001s"])
def test_durations_are_written_as_a_file_has_them(text: str) -> None:
    micros = parse_duration(text)
    assert micros is not None
    assert format_duration(micros) == text


def test_a_switch_tells_settings_in_words_of_the_plan() -> None:
    """R-WINDOW-2: budgets and durations too, as JSON."""
    document = deepcopy(PLAN)
    document["policies"][0]["consumers"]["/B"] |= {"budget": BUDGET, "reclaim_grace": "1m"}
    begin = 1_767_600_000_000_000
    found = json.loads(json.dumps(calendar_document(plan_of(document), begin, begin + 86_400_000_000)))
    changed = found["switches"][0]["consumers"]["/B"]
    assert sorted(map(json.dumps, changed["budget"])) == sorted(map(json.dumps, [BUDGET, None]))
    assert set(changed["reclaim_grace"]) == {"1m", None}

"""Names, texts and statuses of the objects that a service keeps in a cluster."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from fairhold.engines.kubernetes.custom_resources import NUMBERS, custom_resources, text_of
from fairhold.errors import Fault
from fairhold.ports import PlanVersion
from fairhold.runtime.live.consumer_status import LONGEST, merge, name_of, names_of, statuses_of
from fairhold.runtime.live.plan_objects import author_of, is_same, title_of
from fairhold.runtime.live.plan_status import MOST_FAULTS, Outcome, is_said, status_of
from fairhold.units import SECOND
from tests.faults.house import plan as a_plan

DNS = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


def document(generation: int = 1, **status: Any) -> dict[str, Any]:
    return {"metadata": {"name": "estate", "uid": "u", "generation": generation}, "status": status}


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/risk", "risk"),
        ("/Risk/Desk 1", "risk.desk-1"),
        ("/a_b/c.d", "a-b.c-d"),
        ("/-x-/é", "x.x"),
        ("/Forschung & Lehre", "forschung-lehre"),
    ],
)
def test_a_path_becomes_a_dns_name(path: str, name: str) -> None:
    assert name_of(path) == name


def test_names_are_valid_and_differ_whatever_the_paths_are() -> None:
    long = "/" + "/".join(["n" * 60] * 6)
    paths = ["/a", "/A", "/A-2", "/a_", "/ä", "/x", "/é/é", long, long + "!", long.upper()]
    names = names_of(paths)
    assert len(set(names.values())) == len(paths)
    assert all(DNS.fullmatch(name) and len(name) <= LONGEST for name in names.values())
    assert names == names_of(reversed(paths))
    assert (names["/A"], names["/a"], names["/A-2"], names["/a_"]) == ("a", "a-3", "a-2", "a-4")


def row(path: str, amounts: dict[str, Any] | None = None, **numbers: int) -> dict[str, Any]:
    return {"path": path, "amounts": amounts} | dict.fromkeys(NUMBERS, 0) | numbers


def test_a_consumer_has_amounts_of_resources_and_slots_by_group() -> None:
    amounts = {"owned": {"gpu": 4}, "allocated": {"gpu": 4, "cpu": 0.5}, "entitled": {"gpu": "1/3"}}
    groups = {
        "all": {"consumers": [row("/"), row("/a", amounts)]},
        "cpus": {"consumers": [row("/"), row("/a", owned=2, quota=3), row("/b")]},
        "gpu": {"consumers": [row("/a", owned=1)]},
    }
    found = statuses_of({"resource_groups": groups})
    assert list(found) == ["/a", "/b"]
    assert found["/a"]["owned"] == {"gpu": 4, "cpus": 2, "gpu.slots": 1}
    assert found["/a"]["quota"] == {"gpu": "1/3", "cpus": 3}
    assert found["/a"]["shown"]["allocated"] == "gpu 4, cpu 0.5"
    assert found["/b"]["shown"] == dict.fromkeys(NUMBERS, "0")


def test_a_merge_patch_makes_one_of_the_other() -> None:
    before = {"path": "/a", "owned": {"gpu": 4, "cpu": 1}, "lent": {"gpu": 1}, "old": 1}
    after = {"path": "/a", "owned": {"gpu": 4, "cpu": 2}, "lent": {}, "new": {"a": 1}}
    assert merge(before, after) == {"owned": {"cpu": 2}, "lent": {"gpu": None}, "old": None, "new": {"a": 1}}
    assert merge(after, after) == {}


def test_the_last_manager_of_the_object_is_the_author() -> None:
    entries = [
        {"manager": "ann", "time": "2026-01-05T09:00:00Z"},
        {"manager": "argocd", "time": "2026-01-05T10:00:00Z"},
        {"manager": "fairhold", "time": "2026-01-05T11:00:00Z", "subresource": "status"},
    ]
    assert author_of({"metadata": {"managedFields": entries}}) == "argocd"
    assert author_of({"metadata": {}}) == "kubernetes"


def test_a_text_does_not_depend_on_the_order_of_keys() -> None:
    one, other = {"spec": {"a": 1, "b": {"ä": 2, "c": 3}}}, {"spec": {"b": {"c": 3, "ä": 2}, "a": 1}}
    assert text_of(one) == text_of(other)
    assert "ä" in text_of(one)
    assert text_of({}) == "{}"
    assert title_of(document(3)) == "Plan estate generation 3"


def test_plans_are_the_same_where_they_say_the_same() -> None:
    in_force = PlanVersion(1, 0, "ann", "", a_plan())
    assert is_same(in_force, a_plan())
    assert is_same(in_force, "# a comment\n" + a_plan())
    assert is_same(in_force, text_of({"spec": yaml.safe_load(a_plan())}))
    assert not is_same(in_force, a_plan(grace="1s"))
    assert not is_same(in_force._replace(text="no plan"), a_plan())


def test_a_status_says_what_is_in_force_and_what_is_wrong() -> None:
    faults = [Fault("not-whole", "write a whole\nnumber", "as 3", ("policies", 0, "rank"))] * (MOST_FAULTS + 1)
    plan = PlanVersion(4, 90 * SECOND + 1, "ann", "", "")
    found = status_of(document(7), Outcome(faults, is_plan=False), plan, 100 * SECOND + 5)
    assert (found["observedGeneration"], found["version"], found["faultCount"]) == (7, 4, MOST_FAULTS + 1)
    assert len(found["faults"]) == MOST_FAULTS
    assert found["faults"][0] == {
        "code": "not-whole",
        "what": "write a whole\\nnumber",
        "mend": "as 3",
        "place": "policies[0].rank",
    }
    assert found["inForceSince"] == "1970-01-01T00:01:30Z"
    (condition,) = found["conditions"]
    assert (condition["status"], condition["reason"]) == ("False", "Faulty")
    message = "plan 4 stays in force: policies[0].rank: write a whole\\nnumber (and 100 faults more)"
    assert condition["message"] == message


def test_a_condition_keeps_its_instant_while_its_status_is_the_same() -> None:
    plan = PlanVersion(4, 0, "ann", "", "")
    before = status_of(document(), Outcome(), plan, SECOND)
    has = document(**before)
    assert is_said(has, status_of(has, Outcome(), plan, 9 * SECOND))
    after = status_of(has, Outcome(in_force=False), plan, 9 * SECOND)["conditions"][0]
    assert (after["reason"], after["lastTransitionTime"]) == ("Replaced", "1970-01-01T00:00:01Z")
    refused = status_of(has, Outcome([Fault("consumer-in-use", "no")]), plan, 9 * SECOND)["conditions"][0]
    assert (refused["status"], refused["reason"]) == ("False", "Refused")
    assert refused["lastTransitionTime"] == "1970-01-01T00:00:09Z"


def test_without_a_plan_in_force_a_status_names_no_version() -> None:
    found = status_of(document(), Outcome([Fault("empty", "it is empty")], is_plan=False), None, 0)
    assert found["version"] is found["inForceSince"] is None
    assert found["conditions"][0]["message"] == "no plan is in force yet: it is empty"
    has = document(**{name: value for name, value in found.items() if value is not None})
    assert is_said(has, found)


def test_both_kinds_are_defined_for_the_whole_cluster() -> None:
    found = {each["metadata"]["name"]: each["spec"] for each in custom_resources()}
    assert list(found) == ["plans.fairhold.io", "consumers.fairhold.io"]
    assert {spec["scope"] for spec in found.values()} == {"Cluster"}
    columns = [each["name"] for each in found["consumers.fairhold.io"]["versions"][0]["additionalPrinterColumns"]]
    assert columns == ["Path", *(name.capitalize() for name in NUMBERS)]

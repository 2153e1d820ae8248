"""ClusterQueues and Cohorts of Kueue become a plan: trees, quotas, flavors, what is not carried over or refused."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from fairhold.cycle.document import quota_document
from fairhold.model.kubernetes import PodRule
from fairhold.planio.state import parse_state
from fairhold.units import SECOND
from tests.planio.importing import (
    Json,
    bounds,
    cluster_queue,
    faults,
    imported,
    kueue_object,
    plan_of,
    quotas,
    settings,
    stream,
    told,
)

TEAM = [
    kueue_object("Cohort", "all", resourceGroups=quotas(nominalQuota=2)),
    kueue_object("Cohort", "research", parentName="all", resourceGroups=quotas(nominalQuota=1, borrowingLimit=3)),
    cluster_queue("vision", "research", resourceGroups=quotas(nominalQuota="4500m", borrowingLimit=2)),
    cluster_queue("speech", "research", resourceGroups=quotas(nominalQuota=3), fairSharing={"weight": "500m"}),
    cluster_queue("web", "all", resourceGroups=quotas(nominalQuota=6)),
    cluster_queue("alone", resourceGroups=quotas(nominalQuota=8)),
]


def test_trees_are_those_of_the_cohorts_and_sums_are_theirs() -> None:
    result = imported("kueue", stream(*TEAM))
    plan = plan_of(result)
    assert plan.tree.paths == (
        "/", "/all", "/all/research", "/all/research/vision", "/all/research/speech", "/all/web", "/alone"
    )  # fmt: skip
    deserved = {path: bounds(plan, path, "deserved").get("cpu") for path in plan.tree.paths[1:]}
    assert deserved == {
        "/all": 16_500,
        "/all/research": 8500,
        "/all/research/vision": 4500,
        "/all/research/speech": 3000,
        "/all/web": 6000,
        "/alone": 8000,
    }
    assert told(result.notes) == []
    assert result.warnings == ()
    assert plan.resource_groups["cluster"].capacity == (24_500,)


def test_a_tree_holds_what_it_has_and_a_queue_what_it_may_borrow() -> None:
    plan = plan_of(imported("kueue", stream(*TEAM)))
    limits = {path: bounds(plan, path, "limit").get("cpu") for path in plan.tree.paths[1:]}
    assert limits == {
        "/all": 16_500,
        "/all/research": 11_500,
        "/all/research/vision": 6500,
        "/all/research/speech": None,
        "/all/web": None,
        "/alone": 8000,
    }
    assert [weight for _, weight in settings(plan, "/all/research/speech").queue.weight] == [Fraction(1, 2)]


def test_shares_are_what_kueue_would_lend() -> None:
    plan = plan_of(imported("kueue", stream(*TEAM)))
    wanted = {f"/all/{name}": {"cluster": {"cpu": 100}} for name in ("research/vision", "web")}
    state = {"fairhold_state": 1, "now": "2026-01-05T09:00:00Z", "demand": wanted}
    found = quota_document(plan, parse_state(json.dumps(state), plan, "state.json"))
    shares = found["resource_groups"]["cluster"]["consumers"]
    got = {name: shares[f"/all/{name}"]["fair_share"]["cpu"] for name in ("research/vision", "web", "research")}
    assert got == {"research/vision": 6.5, "web": 10, "research": 6.5}


@pytest.mark.parametrize(("version", "key"), [("v1beta1", "cohort"), ("v1beta2", "cohortName")])
def test_a_cohort_that_is_only_named_is_there(version: str, key: str) -> None:
    spec: Json = {key: "team", "resourceGroups": quotas(nominalQuota=1), "preemption": {}}
    plan = plan_of(imported("kueue", stream(kueue_object("ClusterQueue", "a", version, **spec))))
    assert plan.tree.paths == ("/", "/team", "/team/a")


def test_the_other_versions_key_of_a_cohort_is_told() -> None:
    wrong = cluster_queue("a", cohort="team", resourceGroups=quotas(nominalQuota=1))
    wrong["spec"]["cohort"] = wrong["spec"].pop("cohortName")
    result = imported("kueue", stream(wrong))
    assert plan_of(result).tree.paths == ("/", "/a")
    assert told(result.notes) == [("not-carried", "spec.cohort")]


def flavored(*pairs: tuple[str, str, object]) -> list[Json]:
    """Resource groups, one for each resource, with its flavors."""
    resources = dict.fromkeys(resource for _, resource, _ in pairs)
    return [
        {
            "coveredResources": [resource],
            "flavors": [
                {"name": flavor, "resources": [{"name": resource, "nominalQuota": amount}]}
                for flavor, of, amount in pairs
                if of == resource
            ],
        }
        for resource in resources
    ]


def test_a_resource_of_several_flavors_is_several_resources() -> None:
    groups = flavored(("spot", "cpu", 4), ("fixed", "cpu", 6), ("disk", "nvidia.com/gpu", 8))
    result = imported("kueue", stream(cluster_queue("a", resourceGroups=groups)))
    plan = plan_of(result)
    assert bounds(plan, "/a", "deserved") == {"spot.cpu": 4000, "fixed.cpu": 6000, "gpu": 8}
    assert told(result.notes) == [
        ("not-carried", "spec.resourceGroups.0.flavors"),
        ("carried-otherwise", "spec.resourceGroups.0.flavors.0.resources.0.name"),
        ("carried-otherwise", "spec.resourceGroups.0.flavors.1.resources.0.name"),
        ("carried-otherwise", "spec.resourceGroups.1.flavors.0.resources.0.name"),
    ]


def test_names_of_resources_are_told_apart() -> None:
    pairs = (("f", "nvidia.com/gpu", 1), ("g", "amd.com/gpu", 2), ("h", "x.org/slots", 3), ("i", "name", 4))
    plan = plan_of(imported("kueue", stream(cluster_queue("a", resourceGroups=flavored(*pairs)))))
    assert bounds(plan, "/a", "deserved") == {"nvidia.com.gpu": 1, "amd.com.gpu": 2, "slots-2": 3, "name-2": 4}


def test_who_has_no_quota_of_a_flavor_gets_nothing_of_it() -> None:
    one = cluster_queue("one", "team", resourceGroups=flavored(("f", "cpu", 1)))
    two = cluster_queue("two", "team", resourceGroups=flavored(("g", "gpu", 1)))
    plan = plan_of(imported("kueue", stream(one, two)))
    assert bounds(plan, "/team/one", "limit") == {"gpu": 0}
    assert bounds(plan, "/team/two", "limit") == {"cpu": 0}


@pytest.mark.parametrize(
    ("amounts", "unit", "base", "expected"),
    [
        (("1Gi", "300Mi"), "GiB", 1024, (1024, 300)),
        (("2G", "500M"), "GB", 1000, (2000, 500)),
        (("1Gi", "3Ki"), "GiB", 2**20, (2**20, 3)),
        (("1k", "7k"), "GB", 10**6, (1, 7)),
        (("0", "0"), "GiB", 1024, (0, 0)),
        ((str(2**30), "1Mi"), "GiB", 1024, (1024, 1)),
    ],
)
def test_sizes_are_exact_where_one_unit_divides_them_all(
    amounts: tuple[str, str], unit: str, base: int, expected: tuple[int, int]
) -> None:
    queues = [
        cluster_queue(name, resourceGroups=quotas("memory", nominalQuota=amount))
        for name, amount in zip("ab", amounts, strict=True)
    ]
    result = imported("kueue", stream(*queues))
    plan = plan_of(result)
    assert (plan.resources[0].unit, plan.resources[0].base) == (unit, base)
    assert tuple(bounds(plan, f"/{name}", "limit")["memory"] for name in "ab") == expected
    assert told(result.notes) == []


def test_sizes_that_fit_no_unit_are_rounded_down_and_told() -> None:
    groups = quotas("memory", nominalQuota="1Gi", borrowingLimit="1500001")
    result = imported("kueue", stream(cluster_queue("a", "b", resourceGroups=groups)))
    assert bounds(plan_of(result), "/b/a", "limit") == {"memory": 1025}
    assert told(result.notes) == [("rounded", "spec.resourceGroups.0.flavors.0.resources.0.borrowingLimit")]


NEVER: list[tuple[Json, bool, Json, list[str]]] = [
    ({}, True, {"delay": 366}, ["carried-otherwise"]),
    ({}, False, {"inside": 366}, ["carried-otherwise"]),
    ({"reclaimWithinCohort": "Any"}, True, {"inside": 366}, ["carried-otherwise"]),
    ({"reclaimWithinCohort": "Any"}, False, {"inside": 366}, ["carried-otherwise"]),
    ({"withinClusterQueue": "LowerPriority"}, True, {}, ["not-carried"]),
    ({"withinClusterQueue": "LowerPriority"}, False, {}, []),
    ({"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}, True, {}, []),
    ({"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "LowerPriority"}, True, {}, ["not-carried"]),
    ({"withinClusterQueue": "LowerOrNewerEqualPriority"}, False, {}, ["not-carried"]),
    (
        {
            "withinClusterQueue": "LowerPriority",
            "reclaimWithinCohort": "Any",
            "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 100},
        },
        True,
        {},
        ["not-carried", "not-carried"],
    ),
]


@pytest.mark.parametrize(("stated", "has_cohort", "expected", "codes"), NEVER)
def test_preemption_is_carried_over_as_near_as_can_be(
    stated: Json, *, has_cohort: bool, expected: Json, codes: list[str]
) -> None:
    spec = {"preemption": stated, "resourceGroups": quotas(nominalQuota=1)}
    result = imported("kueue", stream(cluster_queue("a", "team" if has_cohort else "", **spec)))
    found = settings(plan_of(result), "/team/a" if has_cohort else "/a").queue
    days = 86_400 * SECOND
    assert found.preemption_delay == (expected["delay"] * days if "delay" in expected else None)
    assert found.preempt_min_runtime == (expected["inside"] * days if "inside" in expected else None)
    assert [code for code, _ in told(result.notes)] == codes


HERE = "spec.resourceGroups.0.flavors.0.resources.0"
LIMITS = ("lendingLimit", "lendingLimit", "borrowingLimit")


def test_limits_without_meaning_or_place_are_told() -> None:
    lent = quotas(nominalQuota=4, lendingLimit=1)
    all_lent = quotas(nominalQuota=4, lendingLimit=4)
    outside = quotas(nominalQuota=4, lendingLimit=1, borrowingLimit=2)
    queues = [
        cluster_queue("a", "team", resourceGroups=lent),
        cluster_queue("b", "team", resourceGroups=all_lent),
        cluster_queue("c", resourceGroups=outside),
    ]
    result = imported("kueue", stream(*queues))
    assert told(result.notes) == [("not-carried", f"{HERE}.{key}") for key in LIMITS]
    assert bounds(plan_of(result), "/c", "limit") == {"cpu": 4000}


def test_every_other_field_is_told() -> None:
    spec: Json = {
        "queueingStrategy": "StrictFIFO",
        "namespaceSelector": {"matchLabels": {"team": "a"}},
        "flavorFungibility": {"whenCanBorrow": "TryNextFlavor"},
        "stopPolicy": "Hold",
        "admissionChecksStrategy": {"admissionChecks": [{"name": "prov"}]},
        "admissionScope": {"admissionMode": "UsageBasedAdmissionFairSharing"},
        "concurrentAdmissionPolicy": {"migration": {"mode": "RetainFirstAdmission"}},
        "fairSharing": {"weight": 1, "more": 2},
        "unheardOf": 1,
    }
    objects = [
        cluster_queue("a", "team", resourceGroups=quotas(nominalQuota=1), **spec),
        kueue_object("LocalQueue", "lq", namespace="team-a", clusterQueue="a", stopPolicy="Hold"),
        kueue_object("LocalQueue", "lq", namespace="team-b", clusterQueue="elsewhere"),
        kueue_object("ResourceFlavor", "default", nodeLabels={"gpu": "a100"}, nodeTaints=[{"key": "spot"}]),
        kueue_object("ResourceFlavor", "unused", topologyName="racks"),
        kueue_object("Topology", "racks", levels=[]),
        kueue_object("Cohort", "team", unheardOf=2),
    ]
    result = imported("kueue", stream(*objects))
    found = [each for each in result.notes if each.code == "not-carried"]
    assert {place for _, place in told(tuple(found))} == {
        *(f"spec.{key}" for key in spec if key != "fairSharing"),
        *("spec.fairSharing.more", "spec.clusterQueue", "spec.nodeLabels", "spec.nodeTaints", "spec.topologyName"),
        *("metadata.name", "kind"),
    }
    assert len(found) == 17
    assert all(each.mend for each in found)
    local = [each for each in found if "LocalQueue" in each.what and each.place == ("spec", "clusterQueue")]
    assert [each.mend for each in local] == ["give the file of the ClusterQueue, too"]


def test_a_local_queue_says_whose_a_pod_is() -> None:
    """By the label of pods; without it of the only queue of their namespace, or of the one called `default`."""
    objects = [
        cluster_queue("a", "team", resourceGroups=quotas(nominalQuota=1)),
        kueue_object("LocalQueue", "default", namespace="team-a", clusterQueue="a"),
        kueue_object("LocalQueue", "nights", namespace="team-a", clusterQueue="a"),
        kueue_object("LocalQueue", "all", namespace="team-b", clusterQueue="a"),
        kueue_object("LocalQueue", "lost", clusterQueue="a"),
    ]
    result = imported("kueue", stream(*objects))
    label = "kueue.x-k8s.io/queue-name"
    assert plan_of(result).kubernetes.pods == (
        PodRule("team-a", "", ((label, "default"),), "/team/a", ""),
        PodRule("team-a", "", ((label, "nights"),), "/team/a", ""),
        PodRule("team-a", "", (), "/team/a", ""),
        PodRule("team-b", "", (), "/team/a", ""),
    )
    assert [each.mend for each in result.notes if "LocalQueue" in each.what] == ["write `namespace` below `metadata`"]


def test_what_means_the_same_is_not_told() -> None:
    spec: Json = {"queueingStrategy": "BestEffortFIFO", "stopPolicy": "None", "namespaceSelector": None}
    queue = cluster_queue("a", resourceGroups=quotas(nominalQuota=1), **spec)
    assert told(imported("kueue", stream(queue)).notes) == []


def test_a_cluster_of_nothing_has_one_of_each() -> None:
    plan = plan_of(imported("kueue", stream(cluster_queue("a", resourceGroups=quotas(nominalQuota=0)))))
    assert plan.resource_groups["cluster"].capacity == (1,)


def one(**amounts: Any) -> str:
    return stream(cluster_queue("a", resourceGroups=quotas(**amounts)))


def spec(**keys: Any) -> str:
    stated: Json = {"resourceGroups": quotas(nominalQuota=1)} | keys
    return stream(cluster_queue("a", **stated))


def groups(*given: object) -> str:
    return stream(cluster_queue("a", resourceGroups=list(given)))


GOOD = quotas(nominalQuota=1)[0]
TWO = stream(kueue_object("Cohort", "a", parentName="b"), kueue_object("Cohort", "b", parentName="a"))
BROKEN: list[tuple[str, str, str]] = [
    (one(nominalQuota="4 cores"), "import-quantity", f"{HERE}.nominalQuota"),
    (one(nominalQuota=[1]), "import-quantity", f"{HERE}.nominalQuota"),
    (one(nominalQuota=True), "import-quantity", f"{HERE}.nominalQuota"),
    (one(nominalQuota=-1), "negative", f"{HERE}.nominalQuota"),
    (one(nominalQuota=None), "missing-key", HERE),
    (one(nominalQuota=1, borrowingLimit="-1Gi"), "negative", f"{HERE}.borrowingLimit"),
    (one(nominalQuota="1E"), "out-of-range", f"{HERE}.nominalQuota"),
    (groups(GOOD, GOOD), "import-twice", "spec.resourceGroups.1.coveredResources"),
    (groups(GOOD, GOOD), "import-twice", "spec.resourceGroups.1.flavors.0.name"),
    (groups(GOOD | {"coveredResources": ["cpu", "gpu"]}), "missing-key", "spec.resourceGroups.0.flavors.0"),
    (groups(GOOD | {"coveredResources": ["gpu"]}), "unknown-resource", f"{HERE}.name"),
    (groups({"flavors": []}), "missing-key", "spec.resourceGroups.0"),
    (groups(4), "wrong-type", "spec.resourceGroups.0"),
    (groups(GOOD | {"flavors": [{"name": "a/b", "resources": []}]}), "name", "spec.resourceGroups.0.flavors.0.name"),
    (groups(GOOD | {"flavors": [{"resources": []}]}), "missing-key", "spec.resourceGroups.0.flavors.0"),
    (groups(GOOD | {"flavors": [{"name": 4}]}), "not-a-string", "spec.resourceGroups.0.flavors.0.name"),
    (spec(resourceGroups={}), "wrong-type", "spec.resourceGroups"),
    (spec(fairSharing={"weight": "heavy"}), "import-quantity", "spec.fairSharing.weight"),
    (spec(fairSharing={"weight": -1}), "negative", "spec.fairSharing.weight"),
    (spec(fairSharing={"weight": "2M"}), "out-of-range", "spec.fairSharing.weight"),
    (spec(queueingStrategy="FIFO"), "unknown-word", "spec.queueingStrategy"),
    (spec(stopPolicy="Stop"), "unknown-word", "spec.stopPolicy"),
    (spec(preemption={"withinClusterQueue": "Any"}), "unknown-word", "spec.preemption.withinClusterQueue"),
    (spec(preemption=4), "wrong-type", "spec.preemption"),
    (spec(cohortName=4), "not-a-string", "spec.cohortName"),
    (stream(cluster_queue("a"), cluster_queue("a")), "import-twice", "metadata.name"),
    (stream(*[kueue_object("LocalQueue", "a", namespace="n", clusterQueue="b")] * 2), "import-twice", "metadata.name"),
    (stream(kueue_object("LocalQueue", "a", namespace="n")), "missing-key", "spec"),
    (stream(kueue_object("Cohort", "a", parentName="a")), "import-loop", "spec.parentName"),
    (TWO, "import-loop", "spec.parentName"),
    (stream(kueue_object("Cohort", "a"), cluster_queue("a")), "import-same-path", "spec.cohortName"),
    (stream(cluster_queue("a"), cluster_queue("b", "a")), "import-same-path", "spec.cohortName"),
    (stream(kueue_object("Cohort", "a", "v1alpha1")), "import-kind", "apiVersion"),
    (stream(kueue_object("ClusterQeue", "a")), "import-kind", "kind"),
    (stream({"apiVersion": "scheduling.run.ai/v2", "kind": "Queue"}), "import-other-system", "apiVersion"),
    (stream(kueue_object("Cohort", "a")), "import-nothing", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "place"), BROKEN, ids=[f"{at}-{each[1]}" for at, each in enumerate(BROKEN)])
def test_broken_input_is_a_fault_with_its_place_and_how_to_mend_it(text: str, code: str, place: str) -> None:
    found = faults("kueue", text)
    assert (code, place) in told(found)
    assert all(each.mend for each in found)


def test_sums_that_no_plan_can_hold_are_faults() -> None:
    queues = [
        cluster_queue(name, cohort, resourceGroups=quotas("pods", nominalQuota="600G"))
        for name, cohort in (("a", "x"), ("b", "y"))
    ]
    cohorts = [kueue_object("Cohort", name, parentName="all") for name in ("x", "y")]
    assert told(faults("kueue", stream(*queues, *cohorts))) == [("out-of-range", f"{HERE}.nominalQuota")]
    assert plan_of(imported("kueue", stream(*queues))).resource_groups["cluster"].capacity == (10**12,)


def test_null_is_as_good_as_left_out() -> None:
    empty = cluster_queue(
        "a", cohortName=None, fairSharing=None, stopPolicy=None, resourceGroups=quotas(nominalQuota=1)
    )
    assert plan_of(imported("kueue", stream(empty))).tree.paths == ("/", "/a")

"""Queues of KAI-Scheduler become a plan: numbers, units, defaults, what is not carried over, what is refused."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from fairhold.units import SECOND, UNLIMITED
from tests.planio.importing import Json, bounds, faults, imported, plan_of, queue, settings, stream, told

TREE = """\
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: research}
spec:
  displayName: Research
  resources:
    gpu: {quota: 8, limit: 16, overQuotaWeight: 1}
    cpu: {quota: 1500, limit: -1, overQuotaWeight: 1}
    memory: {quota: -1, limit: 64000, overQuotaWeight: 1}
---
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: vision}
spec:
  parentQueue: research
  priority: 200
  preemptMinRuntime: 10m
  reclaimMinRuntime: 1h30m
  resources:
    gpu: {quota: 0.5, limit: -1, overQuotaWeight: 2.5}
    cpu: {quota: 0, limit: -1, overQuotaWeight: 0}
    memory: {quota: 512, limit: -1, overQuotaWeight: 1}
"""


def test_numbers_are_in_the_units_of_a_plan() -> None:
    plan = plan_of(imported("kai", TREE))
    assert plan.tree.paths == ("/", "/research", "/research/vision")
    assert [(each.name, each.unit, each.base, each.step) for each in plan.resources] == [
        ("cpu", "", 1000, 1), ("memory", "GB", 1000, 1), ("gpu", "", 1000, 1000)
    ]  # fmt: skip
    assert bounds(plan, "/research", "deserved") == {"cpu": 1500, "memory": UNLIMITED, "gpu": 8000}
    assert bounds(plan, "/research", "limit") == {"memory": 64_000, "gpu": 16_000}
    assert bounds(plan, "/research/vision", "deserved") == {"cpu": 0, "memory": 512, "gpu": 500}
    vision = settings(plan, "/research/vision").queue
    assert [weight for _, weight in vision.weight] == [0, 1, Fraction(5, 2)]
    assert (vision.priority, vision.preempt_min_runtime) == (200, 600 * SECOND)
    assert vision.reclaim_min_runtime == 5400 * SECOND
    switches = plan.policies[0].settings.fair_share
    assert switches is not None
    assert switches.division == "kai"


def test_a_title_is_told_and_stands_as_a_comment() -> None:
    result = imported("kai", TREE)
    assert told(result.notes) == [("not-carried", "spec.displayName")]
    note = result.notes[0]
    assert (note.file, note.line) == ("a.yaml", 5)
    assert "`Research` is not carried over" in note.what
    assert "\n# a.yaml:5: spec.displayName: Queue `research`: `Research` is not carried over: " in result.text


def test_null_is_as_good_as_left_out() -> None:
    empty = queue("a", parentQueue=None, displayName=None, priority=None, reclaimMinRuntime=None)
    result = imported("kai", stream(empty))
    assert (plan_of(result).tree.paths, told(result.notes)) == (("/", "/a"), [])


def test_defaults_are_not_written() -> None:
    result = imported("kai", stream(queue("a", resources={"gpu": {"quota": 1}}), queue("b", "a", priority=100)))
    assert "/a/b" not in result.text.split("policies:")[1]
    assert "priority" not in result.text


def test_what_is_left_out_is_0_as_in_kai_and_told() -> None:
    only_quota = queue("a")
    only_quota["spec"]["resources"] = {"gpu": {"quota": 2}, "cpu": {"limit": -1}}
    result = imported("kai", stream(only_quota))
    plan = plan_of(result)
    assert bounds(plan, "/a", "limit") == {"memory": 0, "gpu": 0}
    assert {weight for _, weight in settings(plan, "/a").queue.weight} == {0}
    assert [(each.place[-1], "Weight" in each.what) for each in result.notes if each.code == "left-out"] == [
        *(("memory", False), ("gpu", False), ("gpu", True), ("cpu", True))
    ]
    assert [each.code for each in result.warnings] == ["limit-below-deserved"]


def test_the_capacity_is_what_all_quotas_need() -> None:
    assert plan_of(imported("kai", TREE)).resource_groups["cluster"].capacity == (1500, 1000, 8000)
    below = [queue(name, "all", resources={"gpu": {"quota": 3}}) for name in ("a", "b")]
    result = imported("kai", stream(queue("all", resources={"gpu": {"quota": -1}}), *below, queue("c")))
    assert plan_of(result).resource_groups["cluster"].capacity == (1000, 1000, 6000)
    assert "oversubscribed" not in {each.code for each in result.warnings}


def test_older_queues_come_first_where_all_say_when_they_were_made() -> None:
    young, old, same = queue("young"), queue("old"), queue("also-old")
    for each, day in ((young, 9), (old, 2), (same, 2)):
        each["metadata"]["creationTimestamp"] = f"2026-01-0{day}T00:00:00Z"
    assert plan_of(imported("kai", stream(young, old, same))).tree.paths[1:] == ("/also-old", "/old", "/young")
    del old["metadata"]["creationTimestamp"]
    assert plan_of(imported("kai", stream(young, old, same))).tree.paths[1:] == ("/young", "/old", "/also-old")


def test_what_the_server_writes_is_nobodys_setting() -> None:
    each = queue("a")
    each["status"] = {"allocated": {"gpu": 3}}
    each["metadata"] |= {"uid": "1", "resourceVersion": "7", "generation": 1, "managedFields": [{"manager": "kubectl"}]}
    each["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "owner": "ann"}
    each["metadata"]["labels"] = {"kai.scheduler/node-pool": "a100"}
    each["metadata"]["namespace"] = "kai"
    result = imported("kai", json.dumps({"apiVersion": "v1", "kind": "List", "items": [each]}))
    assert told(result.notes) == [
        ("not-carried", "items.0.metadata.annotations.owner"),
        ("not-carried", "items.0.metadata.labels.kai.scheduler/node-pool"),
    ]


def test_fields_that_nobody_knows_are_told() -> None:
    each = queue("a", weight=3)
    each["spec"]["resources"]["gpu"]["lendingLimit"] = 1
    each["spec"]["resources"]["npu"] = {"quota": 2}
    each["extra"] = [1, {"a": {"b": {"c": {"d": 1}}}}]
    assert sorted(told(imported("kai", stream(each)).notes)) == [
        ("not-carried", "extra"),
        ("not-carried", "spec.resources.gpu.lendingLimit"),
        ("not-carried", "spec.resources.npu"),
        ("not-carried", "spec.weight"),
    ]


def test_finer_numbers_are_rounded_down_and_told() -> None:
    finer = {"gpu": {"quota": 0.33333, "overQuotaWeight": 0.12345678912}, "cpu": {"limit": 10.5}}
    result = imported("kai", stream(queue("a", resources=finer, preemptMinRuntime="1500ns")))
    plan = plan_of(result)
    assert bounds(plan, "/a", "deserved")["gpu"] == 333
    assert bounds(plan, "/a", "limit") == {"cpu": 10}
    assert dict(settings(plan, "/a").queue.weight)[2] == Fraction(123456789, 10**9)
    assert settings(plan, "/a").queue.preempt_min_runtime == 1
    assert {code for code, _ in told(result.notes)} == {"rounded"}
    assert len(told(result.notes)) == 4


def test_names_need_no_care_of_the_reader() -> None:
    names = ["null", "true", "1", "1.5", "no", 'a"b', "ä: #x", "{a}", "x" * 253]
    plan = plan_of(imported("kai", stream(*map(queue, names))))
    assert [path[1:] for path in plan.tree.paths[1:]] == names


def test_paths_may_be_longer_than_a_key_of_yaml() -> None:
    names = [f"{level:03}{'x' * 200}" for level in range(20)]
    chain = [queue(name, names[at - 1] if at else "", priority=5) for at, name in enumerate(names)]
    plan = plan_of(imported("kai", stream(*chain)))
    assert plan.tree.paths[-1] == "/" + "/".join(names)
    assert settings(plan, plan.tree.paths[-1]).queue.priority == 5


def wrong(**numbers: object) -> str:
    return stream(queue("a", resources={"gpu": numbers}))


def loop(*names: str) -> str:
    return stream(*(queue(name, names[at - 1]) for at, name in enumerate(names)))


def without(key: str) -> str:
    each = queue("a")
    del each[key]
    return stream(each)


def renamed(**keys: object) -> str:
    return stream(queue("a") | keys)


def metadata(**keys: object) -> str:
    return stream(queue("a") | {"metadata": keys})


DEEP = stream(*(queue(f"q{at}", f"q{at - 1}" if at else "") for at in range(150)))
BROKEN: list[tuple[str, str, str]] = [
    ("a: [", "yaml-syntax", ""),
    ('{"a": ', "json-syntax", ""),
    ("a: 1\na: 2\n", "duplicate-key", "a"),
    ("just text", "import-no-object", ""),
    ("- 1\n- 2\n", "import-no-object", ""),
    ("a: 1\n", "import-no-object", ""),
    (without("kind"), "import-no-object", ""),
    (without("metadata"), "missing-key", ""),
    (without("spec"), "missing-key", "spec"),
    (metadata(), "missing-key", "metadata"),
    (metadata(name=""), "name", "metadata.name"),
    (metadata(name=3), "not-a-string", "metadata.name"),
    (metadata(name="a/b"), "name", "metadata.name"),
    (metadata(name="a\nb"), "name", "metadata.name"),
    (metadata(name="x" * 254), "name", "metadata.name"),
    (renamed(kind="Quue"), "import-kind", "kind"),
    (renamed(apiVersion="scheduling.run.ai/v1"), "import-kind", "apiVersion"),
    (renamed(apiVersion="scheduling.volcano.sh/v1beta1"), "import-other-system", "apiVersion"),
    (renamed(apiVersion="kueue.x-k8s.io/v1beta2"), "import-other-system", "apiVersion"),
    (renamed(kind="Namespace", apiVersion="v1"), "import-nothing", ""),
    ("# nothing\n---\n", "import-nothing", ""),
    (stream(queue("a"), queue("a")), "import-twice", "metadata.name"),
    (stream(queue("a", "b")), "import-no-parent", "spec.parentQueue"),
    (loop("a"), "import-loop", "spec.parentQueue"),
    (loop("a", "b", "c"), "import-loop", "spec.parentQueue"),
    (stream(queue("x"), queue("y", "a"), *map(json.loads, ["{}"])), "import-no-object", ""),
    (DEEP, "import-too-deep", "spec.parentQueue"),
    (wrong(quota=-2), "negative", "spec.resources.gpu.quota"),
    (wrong(limit=-0.5), "negative", "spec.resources.gpu.limit"),
    (wrong(overQuotaWeight=-1), "negative", "spec.resources.gpu.overQuotaWeight"),
    (wrong(overQuotaWeight=10**7), "out-of-range", "spec.resources.gpu.overQuotaWeight"),
    (wrong(quota=10**15), "out-of-range", "spec.resources.gpu.quota"),
    (wrong(quota=1e300), "out-of-range", "spec.resources.gpu.quota"),
    (wrong(quota="4"), "not-a-number", "spec.resources.gpu.quota"),
    (wrong(quota=True), "not-a-number", "spec.resources.gpu.quota"),
    (wrong(quota=[4]), "not-a-number", "spec.resources.gpu.quota"),
    (stream(queue("a", priority=-1)), "negative", "spec.priority"),
    (stream(queue("a", priority="high")), "not-whole", "spec.priority"),
    (stream(queue("a", reclaimMinRuntime="10")), "duration", "spec.reclaimMinRuntime"),
    (stream(queue("a", reclaimMinRuntime="-5m")), "duration", "spec.reclaimMinRuntime"),
    (stream(queue("a", reclaimMinRuntime="9000h")), "duration", "spec.reclaimMinRuntime"),
    (stream(queue("a", parentQueue=4)), "not-a-string", "spec.parentQueue"),
    (stream(queue("a") | {"spec": {"resources": [1]}}), "wrong-type", "spec.resources"),
    (stream(queue("a") | {"spec": {"resources": {"gpu": 4}}}), "wrong-type", "spec.resources.gpu"),
    (stream(queue("a") | {"spec": 4}), "wrong-type", "spec"),
    (json.dumps({"kind": "List", "apiVersion": "v1", "items": 3}), "wrong-type", "items"),
]


@pytest.mark.parametrize(("text", "code", "place"), BROKEN, ids=[f"{at}-{each[1]}" for at, each in enumerate(BROKEN)])
def test_broken_input_is_a_fault_with_its_place_and_how_to_mend_it(text: str, code: str, place: str) -> None:
    found = faults("kai", text)
    assert (code, place) in told(found)
    for each in found:
        assert each.mend or each.code in {"json-syntax", "yaml-syntax"}, each


def test_all_faults_of_all_files_are_told_at_once_by_file_and_line() -> None:
    found = faults("kai", wrong(quota=-2) + wrong(limit=-3), "a: [", stream(queue("b", "nobody")))
    assert [(each.file, each.code) for each in found] == [
        ("a.yaml", "negative"),
        ("a.yaml", "import-twice"),
        ("a.yaml", "negative"),
        ("b.yaml", "yaml-syntax"),
        ("c.yaml", "import-no-parent"),
    ]
    assert [each.line for each in found[:3]] == [3, 6, 6]


def test_a_circle_is_told_once_with_those_in_it() -> None:
    (fault,) = faults("kai", loop("a", "b", "c") + stream(queue("d", "a"), queue("e", "d")))
    assert "`a` is its own ancestor: a -> c -> b -> a" in fault.what
    (long,) = faults("kai", loop(*(f"q{at}" for at in range(50))))
    assert len(long.what) < 120


def test_objects_of_other_groups_and_kinds_are_told() -> None:
    others: list[Json] = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}},
        {"apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": {"name": "p"}},
        {"apiVersion": "kai.scheduler/v1", "kind": "SchedulingShard", "metadata": {"name": "s"}, "spec": {"kValue": 1}},
    ]
    result = imported("kai", stream(queue("a"), *others))
    assert told(result.notes) == [("not-carried", "kind")] * 3
    assert [each.line for each in result.notes[:3]] == [6, 9, 12]
    assert "write its `kValue` as `k`" in result.notes[2].mend

"""Queue files of KAI-Scheduler, read with its defaults: what is left out is 0."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fairhold.cli.linting import lint_files
from fairhold.planio.kaifiles import Linted, lint_kai
from fairhold.planio.kaifound import FINDINGS
from fairhold.planio.kaiqueues import RESOURCES

ROOT = Path(__file__).parents[2]

GOOD = """\
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: research}
spec:
  resources:
    gpu: {quota: 16, overQuotaWeight: 1, limit: -1}
    cpu: {quota: -1, overQuotaWeight: 1, limit: -1}
    memory: {quota: -1, overQuotaWeight: 1, limit: -1}
---
# a child
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: vision}
spec:
  parentQueue: research
  priority: 200
  resources:
    gpu: {quota: 8, overQuotaWeight: 2, limit: 12}
    cpu: {quota: 64, overQuotaWeight: 1, limit: -1}
    memory: {quota: 512, overQuotaWeight: 1, limit: -1}
---
kind: PodGroup
metadata: {name: training}
spec: {queue: vision, priorityClassName: inference}
"""


def linted(text: str) -> Linted:
    return lint_kai([(lambda: text, "queues.yaml")])


def codes(text: str) -> list[tuple[int, str]]:
    found = linted(text)
    assert found.unread == ()
    return [(fault.line, fault.code) for fault in found.findings]


def test_a_good_file_has_no_findings() -> None:
    assert linted(GOOD) == ((), 3, ())


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("limit: 12}", "}", (18, "kai-limit-missing")),
        (
            "overQuotaWeight: 1, limit: -1}\n    cpu: {quota: -1",
            "limit: -1}\n    cpu: {quota: -1",
            (6, "kai-no-weight"),
        ),
        ("quota: 8", "quota: 17, limit: 20, x: 1}\n    gpu2: {quota: 8", (18, "kai-key-not-read")),
        (
            "quota: 8, overQuotaWeight: 2, limit: 12",
            "quota: 17, overQuotaWeight: 2, limit: 20",
            (6, "kai-children-above"),
        ),
        (
            "quota: 8, overQuotaWeight: 2, limit: 12",
            "quota: 13, overQuotaWeight: 2, limit: 12",
            (18, "kai-quota-above-limit"),
        ),
        ("    memory: {quota: 512, overQuotaWeight: 1, limit: -1}\n", "", (17, "kai-resource-missing")),
        ("parentQueue: research", "parentQueue: reserch", (15, "kai-no-parent")),
        ("queue: vision", "queue: research", (24, "kai-work-in-parent")),
        ("queue: vision", "queue: nowhere", (24, "kai-no-queue")),
        ("quota: 8", "quota: 0", (24, "kai-fixed-without-quota")),
        ("priority: 200", "weight: 200", (16, "kai-key-not-read")),
        ("metadata: {name: vision}", "metadata: {name: research}", (13, "kai-queue-twice")),
        ("quota: 8", "quota: -2", (18, "kai-negative")),
        ("quota: 8", "quota: eight", (18, "kai-no-number")),
        ("quota: 16", "quota: 0", (24, "kai-fixed-without-quota")),
        ("cpu: {quota: 64", "cpu: {quota: 0", (24, "kai-fixed-without-quota")),
        ("memory: {quota: -1", "memory: {quota: 0", (24, "kai-fixed-without-quota")),
        ("cpu: {quota: -1", "cpu: {quota: 63", (7, "kai-children-above")),
        ("priority: 200", "priority: high", (16, "kai-no-number")),
        ("priority: 200", "reclaimMinRuntime: 10", (16, "kai-no-duration")),
        ("priority: 200", "displayName: 7", (16, "kai-no-text")),
        ("parentQueue: research", "parentQueue: 7", (15, "kai-no-text")),
        ("parentQueue: research", "parentQueue: vision", (15, "kai-parent-loop")),
        ("cpu: {quota: 64, overQuotaWeight: 1, limit: -1}", "cpu: 8", (19, "kai-no-mapping")),
        ("metadata: {name: vision}", "metadata: vision", (13, "kai-no-mapping")),
        ("kind: PodGroup", "kind: PodGruop", (22, "kai-no-kind")),
        ("kind: PodGroup", "kind: [PodGroup]", (22, "kai-no-object")),
    ],
)
def test_what_is_not_meant_is_found_with_its_line(old: str, new: str, found: tuple[int, str]) -> None:
    assert old in GOOD
    assert found in codes(GOOD.replace(old, new, 1))


def test_two_siblings_with_all_as_their_quota_and_a_multiplier_that_is_not_read() -> None:
    text = (
        GOOD.replace("quota: 16", "quota: -1")
        + "---\n"
        + GOOD.replace("research", "other").replace("quota: 16", "quota: -1").replace("vision", "sound")
    )
    assert "kai-unlimited-twice" in [code for _, code in codes(text)]
    shard = {"kind": "SchedulingShard", "spec": {"plugins": {"proportion": {"reclaimerUtilizationMultiplier": "1.2"}}}}
    assert [code for _, code in codes(json.dumps(shard))] == ["kai-key-not-read"]


def unlimited(resource: str, third: int) -> list[str]:
    """What is found where two of three queues have all of a resource as their quota."""
    queues = [
        {
            "kind": "Queue",
            "metadata": {"name": name},
            "spec": {"resources": {each: {"quota": 1, "overQuotaWeight": 1, "limit": -1} for each in RESOURCES}},
        }
        for name in "abc"
    ]
    for queue, quota in zip(queues, (-1, -1, third), strict=True):
        queue["spec"]["resources"][resource]["quota"] = quota  # type: ignore[index]
    return [code for _, code in codes(json.dumps({"kind": "List", "items": queues}))]


def test_two_that_have_all_are_told_of_every_resource_that_somebody_counts() -> None:
    for resource in RESOURCES:
        assert unlimited(resource, 5) == ["kai-unlimited-twice"]
    assert unlimited("gpu", -1) == ["kai-unlimited-twice", "kai-unlimited-twice"]
    assert unlimited("cpu", -1) == []


def test_work_for_good_needs_quota_of_what_it_asks_for() -> None:
    none = GOOD.replace("cpu: {quota: 64", "cpu: {quota: 0")

    def found(more: str) -> list[str]:
        return [code for _, code in codes(none.replace("inference}", f"inference, {more}}}"))]

    def pod(requests: str) -> list[str]:
        return found(f"containers: [{{resources: {{limits: {requests}}}}}]")

    assert pod("{nvidia.com/gpu: 1, memory: 1Gi}") == []
    assert pod("{nvidia.com/gpu: 1, cpu: 4}") == ["kai-fixed-without-quota"]
    assert found("containers: []") == ["kai-fixed-without-quota"]
    shared = GOOD.replace("gpu: {quota: 8", "gpu: {quota: 0").replace(
        "inference}", "inference, containers: [{resources: {requests: {cpu: 1}}}]}"
    )
    assert codes(shared) == []
    with_part = shared.replace("{name: training}", "{name: training, annotations: {gpu-fraction: '0.5'}}")
    assert [code for _, code in codes(with_part)] == ["kai-fixed-without-quota"]


def test_lists_are_looked_through_and_bad_syntax_is_refused_with_its_line() -> None:
    items = {"kind": "List", "items": [{"kind": "Queue", "metadata": {}}, 5]}
    assert [code for _, code in codes(json.dumps(items))] == ["kai-no-name", "kai-no-object"]
    found = linted(GOOD.replace("limit: 12}", "}") + "---\nkind: [\n")
    assert ([fault.code for fault in found.findings], found.objects) == (["kai-limit-missing"], 3)
    assert [(fault.code, fault.line >= 26) for fault in found.unread] == [("yaml-syntax", True)]


@pytest.mark.parametrize(
    "text", ["7", "[1, 2]", "hello: world", "kind: {}", "kind: List\nitems: 5", "kind: List", "- kind: Queue", "''"]
)
def test_junk_is_no_object(text: str) -> None:
    assert {code for _, code in codes(text)} == {"kai-no-object"}


@pytest.mark.parametrize(
    "text",
    [
        "kind: Queue\nmetadata: [x]\nspec: 7",
        "kind: Queue\nmetadata: {name: a}\nspec: {resources: 7}",
        "kind: Queue\nmetadata: {name: a}\nspec: {resources: {gpu: [], cpu: {limit: {}}, memory: null}}",
        "kind: SchedulingShard\nspec: 7",
        "kind: Pod\nmetadata: {labels: 7}\nspec: [x]",
        "kind: PodGroup\nspec: {queue: 7, priorityClassName: [x]}",
        "kind: PodGroup\nmetadata: {labels: {kai.scheduler/queue: {}}}\nspec: {preemptibility: 7, priority: x}",
    ],
)
def test_junk_inside_of_objects_is_told_or_passed_over(text: str) -> None:
    for code, line in ((code, line) for line, code in codes(text)):
        assert (code in FINDINGS, line > 0) == (True, True)


def test_two_queues_that_are_above_each_other_are_found() -> None:
    text = GOOD.replace("metadata: {name: research}\nspec:", "metadata: {name: research}\nspec:\n  parentQueue: vision")
    assert [code for _, code in codes(text)].count("kai-parent-loop") == 2


def test_every_finding_is_explained() -> None:
    page = (ROOT / "docs/reference/lint.md").read_text()
    source = "".join(path.read_text() for path in (ROOT / "src/fairhold/planio").glob("kai*.py"))
    assert [code for code in FINDINGS if f"| `{code}` |" not in page] == []
    assert set(re.findall(r'"(kai-[a-z-]+)"', source)) == set(FINDINGS)


def test_the_command_prints_findings_and_exits_with_1(tmp_path: Path) -> None:
    path = tmp_path / "queues.yaml"
    path.write_text(GOOD.replace("limit: 12}", "}"))
    done = subprocess.run(
        [sys.executable, "-m", "fairhold", "lint", str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stdout.splitlines()[0].startswith(f"{path}:18: spec.resources.gpu: `limit` is left out")
    path.write_text(GOOD)
    done = subprocess.run(
        [sys.executable, "-m", "fairhold", "lint", "--json", str(path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, json.loads(done.stdout)) == (0, {"objects": 3, "findings": [], "unread": []})


def test_a_file_that_cannot_be_read_keeps_nobody_from_seeing_what_is_in_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, last = tmp_path / "a.yaml", tmp_path / "z.yaml"
    first.write_text(GOOD.replace("limit: 12}", "}"))
    last.write_text(GOOD.replace("parentQueue: research", "parentQueue: reserch"))
    broken, binary, missing = tmp_path / "broken.yaml", tmp_path / "bin.yaml", tmp_path / "none.yaml"
    broken.write_text("kind: Queue\n  metadata: [\n")
    binary.write_bytes(b"\xff\xfe")
    paths = [broken, first, binary, missing, last]
    assert lint_files(paths, as_json=False) == 1
    told = capsys.readouterr()
    assert "kai-limit-missing" in told.out
    assert "kai-no-parent" in told.out
    assert "objects that cannot be read in 3 files were ignored" in told.out
    assert [code in told.err for code in ("[yaml-syntax]", "[not-utf-8]", "[cannot-read]")] == [True, True, True]
    assert lint_files(paths, as_json=True) == 1
    document = json.loads(capsys.readouterr().out)
    assert {Path(fault["file"]).name for fault in document["unread"]} == {"broken.yaml", "bin.yaml", "none.yaml"}
    assert document["objects"] == 6
    assert lint_files([missing], as_json=False) == 1

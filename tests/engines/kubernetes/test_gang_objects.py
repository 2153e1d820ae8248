"""What pods and objects of a cluster say of pods that start together."""

from __future__ import annotations

from typing import Any

import pytest

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.gangs import COSCHEDULING, JOB_SETS, JOBS, KAI, NATIVE, Gang, gangs_of, least_of
from fairhold.engines.kubernetes.pods import Owner

ALL = {names.GANG_SIZE: "all"}
LABELLED = {"scheduling.x-k8s.io/pod-group": "g"}
OF_JOB = Owner("Job", "j", "j1")


def job_spec(**said: Any) -> dict[str, Any]:
    return {"template": {"metadata": {"annotations": ALL}}} | said


@pytest.mark.parametrize(
    ("meta", "spec", "owner", "expected"),
    [
        ({}, {}, None, ()),
        ({"labels": LABELLED}, {}, None, (Gang(COSCHEDULING, "g"),)),
        ({"annotations": {"pod-group-name": "k"}}, {}, None, (Gang(KAI, "k"),)),
        ({}, {"schedulingGroup": {"podGroupName": "w"}}, None, (Gang(NATIVE, "w"),)),
        ({}, {"schedulingGroup": {}}, None, ()),
        (
            {"labels": LABELLED, "annotations": {"pod-group-name": "k"}},
            {"schedulingGroup": {"podGroupName": "w"}},
            None,
            (Gang(NATIVE, "w"), Gang(COSCHEDULING, "g"), Gang(KAI, "k")),
        ),
        ({"annotations": ALL, "labels": LABELLED}, {}, OF_JOB, (Gang(JOBS, "j"),)),
        ({"annotations": ALL, "labels": {"jobset.sigs.k8s.io/jobset-name": "s"}}, {}, OF_JOB, (Gang(JOB_SETS, "s"),)),
        ({"annotations": ALL}, {}, Owner("ReplicaSet", "r", "r1"), (Gang("", ""),)),
        ({"annotations": {names.GANG_SIZE: "4"}}, {}, OF_JOB, (Gang("", "j1", 4),)),
        ({"annotations": {names.GANG_SIZE: "4", names.GANG: "g"}, "labels": LABELLED}, {}, None, (Gang("", "g", 4),)),
        ({"annotations": {names.GANG_SIZE: "4"}}, {}, None, (Gang("", "u", 4),)),
        (
            {"annotations": {names.GANG_SIZE: "4"}},
            {"schedulingGroup": {"podGroupName": "w"}},
            None,
            (Gang(NATIVE, "w"), Gang("", "u", 4)),
        ),
        ({"annotations": {names.GANG_SIZE: "-4"}}, {}, None, (Gang("", "u", 0),)),
        ({"annotations": {names.GANG_SIZE: "1234567"}}, {}, None, (Gang("", "u", 0),)),
        ({"annotations": {names.GANG: "g"}}, {}, None, ()),
    ],
)
def test_what_a_pod_says_of_its_gang(
    meta: dict[str, Any], spec: dict[str, Any], owner: Owner | None, expected: tuple[Gang, ...]
) -> None:
    assert gangs_of({"uid": "u"} | meta, spec, owner) == expected


@pytest.mark.parametrize(
    ("kind", "spec", "least"),
    [
        (COSCHEDULING, {"minMember": 3}, 3),
        (COSCHEDULING, {}, 0),
        (COSCHEDULING, {"minMember": "3"}, 0),
        (KAI, {"minMember": 5, "queue": "q"}, 5),
        (NATIVE, {"schedulingPolicy": {"gang": {"minCount": 4}}}, 4),
        (NATIVE, {"schedulingPolicy": {"basic": {}}}, 0),
        (JOBS, {"parallelism": 3}, 0),
        (JOBS, job_spec(parallelism=3), 3),
        (JOBS, job_spec(parallelism=3, completions=2), 2),
        (JOBS, job_spec(), 1),
        (JOB_SETS, {}, 0),
        (
            JOB_SETS,
            {
                "replicatedJobs": [
                    {"name": "driver", "template": {"spec": {"parallelism": 1}}},
                    {"name": "workers", "replicas": 2, "template": {"spec": job_spec(parallelism=3)}},
                    {"name": "servers", "template": {"spec": job_spec()}},
                ]
            },
            7,
        ),
    ],
)
def test_how_many_pods_an_object_has_start_together(kind: str, spec: dict[str, Any], least: int) -> None:
    assert least_of(kind, {"spec": spec}) == least

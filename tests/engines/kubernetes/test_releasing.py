"""What is taken from pods when the governor is taken out of a cluster."""

from __future__ import annotations

from typing import Any

import pytest

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.releasing import next_write
from tests.engines.kubernetes.test_work import BOUND, DELETED, GATED, KEPT, document

GRANTED: dict[str, Any] = {"type": names.GRANTED, "status": "True", "reason": "Granted"}
OURS: dict[str, Any] = {"type": names.DISRUPTION, "status": "True", "reason": names.RECLAIMED}
WITHDRAWN: dict[str, Any] = {"type": names.DISRUPTION, "status": "False", "reason": names.WITHDRAWN}
THEIRS: dict[str, Any] = {"type": names.DISRUPTION, "status": "True", "reason": "PreemptionByScheduler"}


@pytest.mark.parametrize(
    ("meta", "spec", "what"),
    [
        ({}, GATED, "leave"),
        (KEPT, BOUND, "leave"),
        ({"annotations": {names.OWNER: "j1/"}}, BOUND, "leave"),
        ({"annotations": {names.ATTEMPT: "no number"}}, BOUND, "leave"),
        ({"annotations": {names.CONSUMER: "/a"}}, BOUND, ""),
        ({"finalizers": ["theirs"]}, {"schedulingGates": [{"name": "theirs"}]}, ""),
    ],
)
def test_gate_finalizer_and_annotations_go_first(meta: dict[str, Any], spec: dict[str, Any], what: str) -> None:
    write = next_write(document(meta, spec, {}))
    assert (write.what if write else "") == what


def test_what_is_of_others_stays() -> None:
    kept = {"finalizers": ["theirs", names.FINALIZER], "annotations": KEPT["annotations"] | {"theirs": "x"}}
    write = next_write(document(kept, GATED, {}))
    assert write is not None
    assert write.body["metadata"]["finalizers"] == ["theirs"]
    assert write.body["metadata"]["annotations"] == dict.fromkeys((names.ATTEMPT, names.NOTICE, names.OWNER))
    assert write.body["spec"] == {"schedulingGates": [{"name": "other"}]}


@pytest.mark.parametrize(
    ("conditions", "meta", "gone"),
    [
        ([GRANTED], {}, [names.GRANTED]),
        ([GRANTED, OURS], {}, [names.GRANTED, names.DISRUPTION]),
        ([WITHDRAWN], {}, [names.DISRUPTION]),
        ([THEIRS], {}, []),
        ([OURS], DELETED, []),
    ],
)
def test_conditions_go_but_those_of_others_and_of_pods_that_end(
    conditions: list[dict[str, Any]], meta: dict[str, Any], gone: list[str]
) -> None:
    write = next_write(document(meta, BOUND, {"conditions": conditions}))
    said = write.body["status"]["conditions"] if write else []
    assert said == [{"$patch": "delete", "type": each} for each in gone]

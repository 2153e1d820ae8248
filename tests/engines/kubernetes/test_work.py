"""The changes that bring a pod's object to what was decided, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.pods import pod_of
from fairhold.engines.kubernetes.work import MOST_TRIES, RETRY, Work
from fairhold.units import SECOND

if TYPE_CHECKING:
    from fairhold.engines.kubernetes.writes import Write

GATED = {"schedulingGates": [{"name": names.GATE}, {"name": "other"}]}
BOUND = {"nodeName": "n1"}
OF_JOB = {
    "ownerReferences": [{"kind": "Job", "name": "j", "uid": "j1", "controller": True}],
    "labels": dict.fromkeys(names.JOB_SELECTORS, "j1"),
}
KEPT: dict[str, Any] = {"finalizers": [names.FINALIZER], "annotations": {names.ATTEMPT: "1"}}
DELETED = {"deletionTimestamp": "2026-01-05T09:00:00Z"}
NOTICE = '{"deadline": "2026-01-05T09:00:00Z", "reason": "quota", "taker": "/b"}'
NOW = 1000 * SECOND
OVER = {"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"exitCode": 1}}}]}


def document(meta: dict[str, Any], spec: dict[str, Any], status: dict[str, Any]) -> dict[str, Any]:
    least = {"uid": "u", "namespace": "ml", "name": "p", "resourceVersion": "1"}
    return {"metadata": least | meta, "spec": spec, "status": status}


def work(meta: dict[str, Any], spec: dict[str, Any], status: dict[str, Any] | None = None, **decided: Any) -> Work:
    found = Work(pod_of(document(meta, spec, status or {})))
    for name, value in ({"attempt": 1} | decided).items():
        setattr(found, name, value)
    return found


def what(found: Work) -> str:
    write = found.next_write(NOW, "h1")
    return write.what if write else ""


def applied(before: dict[str, Any], write: Write) -> dict[str, Any]:
    """An object after a change, as an API server would make it; `{}` where it is gone."""
    meta, spec, status = (dict(before[part]) for part in ("metadata", "spec", "status"))
    if write.method == "DELETE":
        meta["deletionTimestamp"] = "2026-01-05T09:00:00Z"
        return {"metadata": meta, "spec": spec, "status": status}
    named = write.body["metadata"]
    assert (named["uid"], named["resourceVersion"]) == (meta["uid"], meta["resourceVersion"])
    if write.path.endswith("/status"):
        [condition] = write.body["status"]["conditions"]
        others = [each for each in status.get("conditions", []) if each["type"] != condition["type"]]
        return {"metadata": meta, "spec": spec, "status": status | {"conditions": [*others, condition]}}
    said = write.body["metadata"]
    for part in ("annotations", "labels"):
        merged = meta.get(part, {}) | said.get(part, {})
        meta[part] = {key: value for key, value in merged.items() if value is not None}
    if "finalizers" in said:
        added = set(said["finalizers"] or ()) - set(meta.get("finalizers", ()))
        assert not (added and meta.get("deletionTimestamp")), "nothing is kept that is being deleted"
        meta["finalizers"] = said["finalizers"] or []
    if "spec" in write.body:
        spec["schedulingGates"] = write.body["spec"]["schedulingGates"] or []
        spec["nodeSelector"] = spec.get("nodeSelector", {}) | write.body["spec"]["nodeSelector"]
    meta["resourceVersion"] = str(int(meta["resourceVersion"]) + 1)
    return {"metadata": meta, "spec": spec, "status": status}


def sequence(found: Work, start: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Words of all changes until there is nothing more to do, and the object then."""
    words, now = list[str](), start
    while (write := found.next_write(NOW, "h1")) is not None:
        words.append(write.what)
        now = applied(now, write)
        found.pod = pod_of(now)
        assert len(words) < 10, words
    return words, now


def test_a_pod_is_let_go_in_one_change() -> None:
    start = document({"annotations": {"a": "b"}, "finalizers": ["x"]}, GATED | {"nodeSelector": {"zone": "a"}}, {})
    found = work(start["metadata"], start["spec"])
    assert found.next_write(NOW, "h1") is not None
    words, after = sequence(found, start)
    assert words == ["grant"]
    assert after["spec"] == {
        "schedulingGates": [{"name": "other"}],
        "nodeSelector": {"zone": "a", names.HOSTNAME: "h1"},
    }
    assert after["metadata"]["annotations"] == {"a": "b", names.ATTEMPT: "1"}
    assert after["metadata"]["finalizers"] == ["x", names.FINALIZER]
    assert not found.pod.is_gated
    assert found.pod.place == "h1"


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (work({}, GATED, attempt=0), ""),
        (work({}, GATED), "grant"),
        (work({}, GATED, stopping="cancel"), ""),
        (work(DELETED, GATED), ""),
        (work({}, GATED, is_told=True), ""),
        (work({}, BOUND), "keep"),
        (work(DELETED, BOUND), ""),
        (work(KEPT | {"annotations": {names.ATTEMPT: "2"}}, BOUND), "keep"),
        (work(KEPT | {"annotations": {names.ATTEMPT: "x"}} | DELETED, BOUND), "keep"),
        (work(KEPT, BOUND), ""),
        (work(KEPT | DELETED, BOUND, stopping="cancel"), ""),
        (work(KEPT, BOUND, OVER, is_told=True), ""),
        (work(KEPT, BOUND, OVER, is_told=True, is_recorded=True), "finish"),
        (work({}, BOUND, OVER, is_told=True, is_recorded=True), ""),
        (work(KEPT | OF_JOB, BOUND, OVER, is_recorded=True), "finish"),
        (work(KEPT | OF_JOB, BOUND, OVER, is_recorded=True, is_replaced=True), "release"),
        (work(KEPT, BOUND, attempt=0, is_unwanted=True), "stop"),
        (work(KEPT | DELETED, BOUND, attempt=0, is_unwanted=True), ""),
        (work(KEPT | DELETED, BOUND, OVER, attempt=0, is_unwanted=True), "finish"),
        (work({}, BOUND, OVER, attempt=0, is_unwanted=True), ""),
    ],
)
def test_what_is_written_next(found: Work, expected: str) -> None:
    assert what(found) == expected


def test_a_pod_under_notice_is_told_and_stopped_when_its_time_has_come() -> None:
    start = document(KEPT, BOUND, {})
    found = work(KEPT, BOUND, notice=NOTICE, deadline=NOW + 31 * SECOND)
    assert sequence(found, start)[0] == ["disrupt", "notice"]
    assert found.stop_at() == found.due() == NOW + SECOND
    assert found.next_write(NOW + SECOND - 1, "h1") is None
    stop = found.next_write(NOW + SECOND, "h1")
    assert stop is not None
    assert (stop.what, stop.body["gracePeriodSeconds"]) == ("stop", 30)
    assert stop.body["preconditions"] == {"uid": "u", "resourceVersion": found.pod.version}
    late = found.next_write(NOW + 25 * SECOND, "h1")
    assert late is not None
    assert late.body["gracePeriodSeconds"] == 6
    never = found.next_write(NOW + 99 * SECOND, "h1")
    assert never is not None
    assert never.body["gracePeriodSeconds"] == 1


def test_a_notice_that_is_withdrawn() -> None:
    found = work(KEPT, BOUND, notice=NOTICE, deadline=NOW + 99 * SECOND)
    words, there = sequence(found, document(KEPT, BOUND, {}))
    assert words == ["disrupt", "notice"]
    found.notice, found.deadline = "", 0
    words, there = sequence(found, there)
    assert words == ["disrupt", "withdraw"]
    assert not found.pod.is_disrupted
    assert names.NOTICE not in there["metadata"]["annotations"]


def test_what_others_say_of_a_pod_stays() -> None:
    for reason in ("EvictionByEvictionAPI", "DeletionByTaintManager", "PreemptionByScheduler"):
        said = {"conditions": [{"type": names.DISRUPTION, "status": "True", "reason": reason}]}
        assert what(work(KEPT, BOUND, said)) == ""
        assert what(work(KEPT, BOUND, said, notice=NOTICE, deadline=NOW + 99 * SECOND)) == "notice"
    ours = {"conditions": [{"type": names.DISRUPTION, "status": "True", "reason": names.RECLAIMED}]}
    assert what(work(KEPT, BOUND, ours)) == "disrupt"


@pytest.mark.parametrize("reason", ["reclaim", "requeue", "host_lost"])
def test_a_job_lets_a_pod_go_that_comes_back(reason: str) -> None:
    meta = KEPT | OF_JOB
    words, after = sequence(work(meta, BOUND, stopping=reason), document(meta, BOUND, {}))
    assert words == ["disrupt", "release", "stop"]
    assert after["metadata"]["labels"] == {}
    assert after["metadata"]["annotations"][names.OWNER] == "j1/"


@pytest.mark.parametrize("reason", ["cancel", "stray"])
def test_a_job_keeps_a_pod_that_does_not_come_back(reason: str) -> None:
    meta = KEPT | OF_JOB
    assert sequence(work(meta, BOUND, stopping=reason), document(meta, BOUND, {}))[0] == ["disrupt", "stop"]


@pytest.mark.parametrize(("reason", "grace"), [("reclaim", 1), ("requeue", 30), ("cancel", 30)])
def test_how_long_a_pod_has_that_is_stopped_at_once(reason: str, grace: int) -> None:
    ours = {"conditions": [{"type": names.DISRUPTION, "status": "True", "reason": names.RECLAIMED}]}
    stop = work(KEPT, BOUND, ours, stopping=reason).next_write(NOW, "h1")
    assert stop is not None
    assert (stop.what, stop.body["gracePeriodSeconds"]) == ("stop", grace)


def test_a_request_that_fails_is_made_again_later_and_later() -> None:
    found = work({}, GATED)
    pauses = []
    for _ in range(MOST_TRIES + 2):
        found.count_try(NOW, is_done=False)
        pauses.append(found.retry_at - NOW)
    assert pauses[:3] == [2 * RETRY, 4 * RETRY, 8 * RETRY]
    assert pauses[-1] == pauses[-2] == pauses[-3]
    assert found.due() == found.retry_at
    found.count_try(NOW, is_done=True)
    assert (found.tries, found.retry_at, found.due()) == (0, 0, 0)


metas = st.fixed_dictionaries(
    {},
    optional={
        "finalizers": st.sampled_from([[], ["x"], [names.FINALIZER], ["x", names.FINALIZER]]),
        "annotations": st.dictionaries(
            st.sampled_from([names.ATTEMPT, names.NOTICE, names.OWNER]), st.sampled_from(["1", "2", "x", "j/0"])
        ),
        "deletionTimestamp": st.just("2026-01-05T09:00:00Z"),
        "ownerReferences": st.just(OF_JOB["ownerReferences"]),
        "labels": st.just(OF_JOB["labels"]),
    },
)
conditions = st.sampled_from([names.RECLAIMED, "EvictionByEvictionAPI", ""]).map(
    lambda reason: [{"type": names.DISRUPTION, "status": "True" if reason else "False", "reason": reason}]
)
statuses: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.just({}), st.just(OVER), conditions.map(lambda found: {"phase": "Running", "conditions": found})
)
decisions = st.fixed_dictionaries(
    {},
    optional={
        "attempt": st.integers(0, 2),
        "notice": st.sampled_from(["", NOTICE]),
        "deadline": st.sampled_from([0, NOW - 1, NOW + SECOND, NOW + 100 * SECOND]),
        "stopping": st.sampled_from(["", "reclaim", "requeue", "cancel"]),
        "is_unwanted": st.booleans(),
        "is_told": st.booleans(),
        "is_recorded": st.booleans(),
        "is_replaced": st.booleans(),
    },
)


@given(metas, st.sampled_from([GATED, BOUND, {}]), statuses, decisions)
def test_there_is_an_end_to_what_is_written(
    meta: dict[str, Any], spec: dict[str, Any], status: dict[str, Any], decided: dict[str, Any]
) -> None:
    found = work(meta, spec, status, **decided)
    words, after = sequence(found, document(meta, spec, status))
    assert len(words) == len(set(words))
    if found.is_recorded:
        assert names.FINALIZER not in after["metadata"].get("finalizers", ())

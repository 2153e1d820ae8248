"""What people are told: of which changes, in which words, and how much of it."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, cast

import pytest

from fairhold.engines.kubernetes import names
from fairhold.engines.kubernetes.announcing import Allowance, Announcer, Bounds, event_of
from fairhold.engines.kubernetes.api import Api, ApiError
from fairhold.engines.kubernetes.leader import Unfenced
from fairhold.engines.kubernetes.measures import Measures
from fairhold.engines.kubernetes.news import News
from fairhold.errors import Fault
from fairhold.units import SECOND
from tests.engines.kubernetes.test_work import BOUND, GATED, KEPT, NOTICE, NOW, OF_JOB, work
from tests.faults.house import until

if TYPE_CHECKING:
    from collections.abc import Mapping

WAITED: dict[str, Any] = {"conditions": [{"type": names.GRANTED, "status": "False", "reason": "Quota"}]}
MARKED: dict[str, Any] = {"conditions": [{"type": names.DISRUPTION, "status": "True", "reason": "ReclaimedByFairhold"}]}
TOLD: dict[str, Any] = {"finalizers": [names.FINALIZER], "annotations": {names.ATTEMPT: "1", names.NOTICE: NOTICE}}
UNSCHEDULED = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no port"}
STUCK: dict[str, Any] = {"conditions": [*MARKED["conditions"], UNSCHEDULED]}


def told(*given: Any, **decided: Any) -> str:
    """Reason and note of what is told with the next change of a pod; empty = nothing is."""
    write = work(*given, **decided).next_write(NOW, "h1")
    assert write is not None
    news = write.told
    return f"{'!' * news.is_urgent}{news.reason}: {news.note}" if news else ""


def test_a_grant_is_news_of_a_pod_that_has_waited_for_long() -> None:
    assert told({}, GATED) == ""
    assert told({}, GATED, WAITED) == "Granted: it was let go to the node h1"


def test_a_notice_and_its_end_are_told_and_a_mark_alone_is_not() -> None:
    later = {"notice": NOTICE, "deadline": NOW + 99 * SECOND}
    assert told(KEPT, BOUND, **later) == ""
    assert told(KEPT, BOUND, MARKED, **later) == "!NoticeGiven: it has to go by 2026-01-05T09:00:00Z, for /b (quota)"
    assert told(TOLD, BOUND) == "NoticeWithdrawn: it may stay"


def test_a_stop_says_why_and_that_a_job_lets_go_says_nothing() -> None:
    due = {"notice": NOTICE, "deadline": NOW + SECOND}
    reclaimed = "!Reclaimed: what it had borrowed is given back"
    assert told(TOLD, BOUND, MARKED, **due) == reclaimed
    assert told(TOLD | OF_JOB, BOUND, MARKED, **due) == ""
    assert told(KEPT, BOUND, MARKED, stopping="cancel") == "!Stopped: its job was cancelled"
    moved = "!CannotBeBound: it is placed again on another node: no port"
    assert told(KEPT, {}, STUCK, stopping="cancel", is_moving=True) == moved
    assert told({}, GATED, attempt=0, is_unwanted=True) == "!Stopped: its job was cancelled"


def test_why_a_pod_waits_is_told_and_what_keeps_it_out_is_urgent() -> None:
    assert told({}, GATED, attempt=0, why=("Quota", "others come first")) == "Quota: others come first"
    refused = work({}, GATED, attempt=0)
    refused.refuse(Fault("no-consumer", "nobody's", "say whose"))
    write = refused.next_write(NOW, "")
    assert write is not None
    assert write.told is not None
    assert (write.told.reason, write.told.note, write.told.is_urgent) == ("NoConsumer", "nobody's; say whose", True)
    assert told(KEPT, BOUND, WAITED | {"containerStatuses": [{"state": {"running": {}}}]}) == ""


def news(number: int, *, is_urgent: bool = False) -> News:
    return News("ml", f"p{number}", f"u{number}", "Wait", "Quota", "n" * 2000, is_urgent)


def test_an_event_is_what_an_api_server_takes() -> None:
    event = event_of(news(1, is_urgent=True)._replace(name="p" * 253), 1_767_603_600, "h" * 200, "k")
    assert event["eventTime"] == "2026-01-05T09:00:00.000000Z"
    assert (len(event["note"]), len(event["reportingInstance"]), len(event["metadata"]["name"])) == (1000, 128, 232)
    assert event_of(news(1)._replace(name="p" * 229 + "-.x"), 0, "h", "k")["metadata"]["name"] == "p" * 229 + ".k"
    assert event["metadata"]["namespace"] == event["regarding"]["namespace"]
    assert (event["type"], event["regarding"]["uid"]) == ("Warning", "u1")


def test_an_allowance_has_a_burst_and_a_rate() -> None:
    allowance = Allowance(Bounds(rate=10, burst=3), 3, 0.0)
    assert [allowance.wait(0.0) for _ in range(4)] == [0, 0, 0, pytest.approx(0.1)]
    assert allowance.wait(0.1) == 0
    assert allowance.wait(0.1) > 0
    assert [allowance.wait(100.0) for _ in range(4)] == [0, 0, 0, pytest.approx(0.1)]


class Server:
    """An API server that answers when it is let."""

    def __init__(self, status: int = 0, message: str = "no") -> None:
        self.status, self.message, self.may = status, message, threading.Event()
        self.written: list[str] = []

    def request(self, method: str, path: str, body: Mapping[str, Any], within: float) -> None:
        assert (method, path, within) == ("POST", "/apis/events.k8s.io/v1/namespaces/ml/events", 0.0)
        self.may.wait(5)
        if self.status:
            raise ApiError(self.status, "No", self.message)
        self.written.append(body["regarding"]["name"])


def count(measures: Measures, result: str) -> float:
    return measures.registry.get_sample_value("fairhold_kubernetes_events_total", {"result": result}) or 0.0


def test_what_comes_by_the_bounds_is_dropped_and_urgent_news_have_more_room() -> None:
    server, measures = Server(), Measures()
    announcer = Announcer(cast("Api", server), Unfenced(), measures, Bounds(most=6, few=3, rate=1000, burst=100))
    for number in range(5):
        announcer.put(news(number))
    for number in range(5, 10):
        announcer.put(news(number, is_urgent=True))
    announcer.put(None)
    assert count(measures, "dropped") == 4
    announcer.start()
    server.may.set()
    until(lambda: count(measures, "written") == 6)
    announcer.close()
    assert server.written == ["p0", "p1", "p2", "p5", "p6", "p7"]


def test_without_the_right_it_is_tried_again_later_and_the_end_is_not_kept_waiting(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server, measures = Server(403), Measures()
    server.may.set()
    announcer = Announcer(cast("Api", server), Unfenced(), measures, Bounds(pause=60.0))
    announcer.start()
    for number in range(3):
        announcer.put(news(number))
    until(lambda: count(measures, "failed") == 1)
    began = time.monotonic()
    announcer.close()
    assert time.monotonic() - began < 5
    assert count(measures, "failed") == 1
    assert caplog.text.count("an event cannot be written") == 1


def test_a_namespace_that_goes_keeps_no_other_news_waiting(caplog: pytest.LogCaptureFixture) -> None:
    server, measures = (
        Server(403, "unable to create new content in namespace ml because it is being terminated"),
        Measures(),
    )
    server.may.set()
    announcer = Announcer(cast("Api", server), Unfenced(), measures)
    announcer.start()
    for number in range(3):
        announcer.put(news(number))
    until(lambda: count(measures, "failed") == 3)
    announcer.close()
    assert caplog.text == ""

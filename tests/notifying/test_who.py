"""Who is told: of jobs that he may see, as long as he may see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fairhold.runtime.live import notifications
from fairhold.service.auth import VIEWER
from tests.notifying.bank import hooked, telling, told_text
from tests.notifying.receivers import Mailbox, Receiver, until
from tests.service.people import Staff, put_access
from tests.service.support import Bank

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def staff(tmp_path: Path, receiver: Receiver) -> Iterator[Staff]:
    with telling(tmp_path, told_text(receiver)) as found:
        yield found


def test_a_job_of_others_cannot_be_watched_and_is_as_if_it_were_not_there(staff: Staff, receiver: Receiver) -> None:
    hooked(staff, "cy", receiver)
    job = staff.submit("ben", hold=True)["job"]
    none = staff.ask("cy", "PUT", "/jobs/99/notifications", 404, json={"events": ["end"]})
    theirs = staff.ask("cy", "PUT", f"/jobs/{job}/notifications", 404, json={"events": ["end"]})
    assert theirs["faults"][0]["what"].replace(f"`{job}`", "") == none["faults"][0]["what"].replace("`99`", "")
    staff.get("cy", f"/jobs/{job}/notifications", 404)


def test_who_may_see_a_job_no_more_is_told_nothing_more(staff: Staff, receiver: Receiver) -> None:
    hooked(staff, "cy", receiver)
    jobs = [staff.submit("ada", consumer="/Trading/Risk", hold=True)["job"] for _ in range(2)]
    for job in jobs:
        staff.ask("cy", "PUT", f"/jobs/{job}/notifications", json={"events": ["end"]})
    staff.post("ada", f"/jobs/{jobs[0]}/cancel")
    receiver.wait(1)
    put_access(staff.bank, told_text(receiver).replace("at: /Trading/Risk, users: [cy]", "at: /Research, users: [cy]"))
    staff.post("ada", f"/jobs/{jobs[1]}/cancel")
    staff.post("cy", "/me/notifications/test", {})
    receiver.wait(2)
    assert [[each.get("job") for each in got.document["events"]] for got in receiver.got] == [[jobs[0]], [None]]


def test_a_message_that_waits_is_not_sent_to_who_may_not_see_it_any_more(tmp_path: Path) -> None:
    with Receiver() as receiver, Bank(tmp_path / "state") as bank:
        staff = Staff(bank, told_text(receiver))
        hooked(staff, "ben", receiver, "end")
        job = staff.submit("ben", hold=True)["job"]
        staff.post("ben", f"/jobs/{job}/cancel")
        box = bank.core.notifications.outbox
        assert box.waiting()["webhook"] == 1
        text = (
            told_text(receiver)
            .replace("users: [ada, ben,", "users: [ada,")
            .replace("groups: {quants: [ben, nightly]}", "groups: {quants: [nightly]}")
        )
        put_access(bank, text)
        known, instant = bank.core.notifications, 2**60
        taken = bank.desk.write(lambda _: box.take(instant, lambda user, fact: known.may_know(user, fact, instant)))
        assert (taken.result(), box.waiting()["webhook"]) == ([], 0)


def test_in_whose_name_a_job_is_submitted_he_is_told(staff: Staff, receiver: Receiver) -> None:
    hooked(staff, "ben", receiver)
    staff.submit("ada", user="ben", notify=["start"])
    (got,) = receiver.wait(1)
    assert got.document["user"] == "ben"


def test_whom_nothing_reaches_is_told_so_and_nothing_is_submitted(staff: Staff) -> None:
    for path in ("/jobs", "/jobs/check"):
        body = {"consumer": "/Research", "argv": ["true"], "notify": ["end"]}
        assert staff.post("ben", path, body, 409)["code"] == "unreached"
    assert staff.get("ben", "/jobs")["jobs"] == []
    assert staff.post("ben", "/me/notifications/test", {}, 409)["code"] == "unreached"
    assert staff.ask("ben", "PATCH", "/me/notifications", 409, json={"events": ["end"]})["code"] == "unreached"
    assert staff.get("ben", "/me/notifications")["events"] == []


def test_of_a_job_that_has_ended_nothing_can_be_asked(staff: Staff, receiver: Receiver) -> None:
    hooked(staff, "ben", receiver)
    job = staff.submit("ben", hold=True)["job"]
    staff.post("ben", f"/jobs/{job}/cancel")
    assert staff.ask("ben", "PUT", f"/jobs/{job}/notifications", 409, json={"events": ["end"]})["code"] == "job-over"


def test_what_was_asked_of_a_job_goes_with_it(staff: Staff, receiver: Receiver) -> None:
    hooked(staff, "ben", receiver)
    job = staff.submit("ben", hold=True, notify=["end"])["job"]
    assert staff.bank.store.notifications("watch") == {f"{job} ben": '["end"]'}
    staff.post("ben", f"/jobs/{job}/cancel")
    assert staff.bank.store.notifications("watch") == {}


def test_one_person_is_told_of_a_limited_number_of_jobs(
    staff: Staff, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "MOST_WATCHES", 1)
    hooked(staff, "ben", receiver)
    job = staff.submit("ben", hold=True, notify=["end"])["job"]
    assert staff.submit("ben", 429, notify=["end"])["code"] == "too-many"
    assert len(staff.get("ben", "/jobs")["jobs"]) == 1
    assert staff.ask("ben", "PUT", f"/jobs/{job}/notifications", json={"events": ["start"]})["events"] == ["start"]


def test_a_secret_is_told_once_and_made_anew_when_asked(staff: Staff, receiver: Receiver) -> None:
    first = hooked(staff, "ben", receiver)
    assert staff.ask("ben", "PATCH", "/me/notifications", json={"events": ["end"]})["secret"] is None
    second = staff.ask("ben", "PATCH", "/me/notifications", json={"new_secret": True})["secret"]
    assert (second[:6], second == first) == ("whsec_", False)
    gone = staff.ask("ben", "PATCH", "/me/notifications", json={"webhook": "", "events": []})
    assert (gone["webhook"], gone["channels"], gone["secret"]) == (None, [], None)


def test_changes_are_on_the_record(staff: Staff, receiver: Receiver) -> None:
    hooked(staff, "ben", receiver, "end")
    job = staff.submit("ben", hold=True)["job"]
    staff.ask("ben", "PUT", f"/jobs/{job}/notifications", json={"events": ["start"]})
    records = staff.get("ada", "/audit?user=ben")["records"]
    told = [
        (each["action"], each["target"], each["detail"])
        for each in records
        if "otif" in each["action"] or "watch" in each["action"]
    ]
    assert told == [
        ("change_notifications", "ben", {"webhook": "127.0.0.1", "new_secret": False, "events": ["end"]}),
        ("watch_job", job, {"events": ["start"]}),
    ]


def test_who_runs_the_service_can_be_told_and_the_viewers_token_cannot(tmp_path: Path, receiver: Receiver) -> None:
    viewers = tmp_path / "viewers"
    viewers.write_text("v" * 30)
    viewers.chmod(0o600)
    with Bank(tmp_path / "state", viewer_token=viewers) as bank:
        put_access(bank, told_text(receiver))
        body = {"webhook": receiver.url, "events": ["end"]}
        assert bank._ask("PATCH", "/me/notifications", 200, json=body)["channels"] == ["webhook"]
        head = {"Authorization": f"Bearer {'v' * 30}"}
        refused = bank._ask("PATCH", "/me/notifications", 403, json=body, headers=head)
    assert (refused["code"], VIEWER.user in str(refused)) == ("not-allowed", True)


def test_mail_is_for_who_wants_it(tmp_path: Path) -> None:
    with Mailbox() as mailbox, telling(tmp_path, told_text(None, mailbox)) as staff:
        assert staff.ask("ben", "PATCH", "/me/notifications", json={"mail": False})["channels"] == []
        assert staff.ask("ben", "PATCH", "/me/notifications", json={"mail": True})["mail"] == "ben@bank.example"
        staff.submit("ben", notify=["start"])
        mailbox.wait(1)
        until(lambda: staff.bank.core.notifications.outbox.sent["mail"])

"""People are told of what happens to jobs: by webhook and by mail, really sent."""

from __future__ import annotations

import base64
import email
import email.policy
import hashlib
import hmac
import socket
import time
from email.message import EmailMessage
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.runtime.live import outbox
from fairhold.service.notifying import courier as sending
from fairhold.service.notifying import mail as mailing
from tests.notifying.bank import courier, hooked, telling, told_text
from tests.notifying.receivers import Mailbox, Receiver, until
from tests.service.people import Staff
from tests.service.served import own_certificate
from tests.service.support import PLAN, Bank

if TYPE_CHECKING:
    from pathlib import Path


def events_of(receiver: Receiver) -> list[tuple[str, str | None]]:
    return [(each["event"], each.get("job")) for got in receiver.got for each in got.document["events"]]


def test_the_owner_is_told_of_start_and_end_by_a_signed_message(tmp_path: Path, receiver: Receiver) -> None:
    with telling(tmp_path, told_text(receiver)) as staff:
        secret = hooked(staff, "ben", receiver)
        job = staff.submit("ben", name="prices", notify=["start", "end"])["job"]
        (first,) = receiver.wait(1)
        staff.bank.hub.end(1)
        _, second = receiver.wait(2)
    started, ended = first.document["events"][0], second.document["events"][0]
    assert (first.document["user"], first.document["cluster"]) == ("ben", "bank")
    told = (started["event"], started["job"], started["name"], started["consumer"], started["owner"])
    assert told == ("start", job, "prices", "/Research", "ben")
    assert (ended["event"], ended["state"], ended["exit_code"]) == ("end", "done", 0)
    assert first.head["webhook-id"] == first.document["id"] != second.document["id"]
    signed = f"{first.head['webhook-id']}.{first.head['webhook-timestamp']}.".encode() + first.body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    proof = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert first.head["webhook-signature"] == f"v1,{proof}"


def test_notice_and_withdrawn_notice_are_told_once_for_all_tasks(tmp_path: Path, receiver: Receiver) -> None:
    plan = PLAN.replace("Research: {}", "Research: {reclaim_grace: 30s}")
    with telling(tmp_path, told_text(receiver), plan=plan) as staff:
        hooked(staff, "ben", receiver, "reclaim", "withdrawn")
        staff.submit("ben", count=4)
        staff.bank.hub.wait_started(4)
        other = staff.submit("ada", consumer="/Trading/Risk", count=2)["job"]
        receiver.wait(1)
        staff.post("ada", f"/jobs/{other}/cancel")
        receiver.wait(2)
    notice, withdrawn = (got.document["events"][0] for got in receiver.got)
    assert (notice["event"], notice["tasks"], notice["deadline"] > notice["at"]) == ("reclaim", 2, True)
    assert (withdrawn["event"], withdrawn["tasks"]) == ("withdrawn", 2)


def test_one_says_of_one_job_otherwise_than_of_all_and_off_is_off(tmp_path: Path, receiver: Receiver) -> None:
    with telling(tmp_path, told_text(receiver)) as staff:
        hooked(staff, "ben", receiver, "end")
        quiet = staff.submit("ben", notify=[])["job"]
        loud = staff.submit("ben", hold=True)["job"]
        assert staff.get("ben", f"/jobs/{quiet}/notifications")["events"] == []
        assert staff.get("ben", f"/jobs/{loud}/notifications")["events"] == ["end"]
        path = f"/jobs/{loud}/notifications"
        assert staff.ask("ben", "PUT", path, json={"events": ["end", "start"]})["events"] == ["start", "end"]
        staff.bank.hub.end(1)
        staff.post("ben", f"/jobs/{loud}/release")
        receiver.wait(1)
        staff.bank.hub.wait_started(2)
        staff.bank.hub.end(2)
        receiver.wait(2)
    assert events_of(receiver) == [("start", loud), ("end", loud)]


def test_a_receiver_that_fails_gets_the_same_message_again_with_the_same_id(tmp_path: Path) -> None:
    with Receiver(500, 0, 503) as receiver, telling(tmp_path, told_text(receiver)) as staff:
        hooked(staff, "ben", receiver, "start")
        staff.submit("ben")
        receiver.wait(4)
        until(lambda: staff.bank.core.notifications.outbox.sent["webhook"])
        assert len({(got.head["webhook-id"], got.body) for got in receiver.got}) == 1


def test_a_receiver_that_hangs_holds_up_neither_the_desk_nor_others(tmp_path: Path, receiver: Receiver) -> None:
    with Receiver() as stuck:
        stuck.may_answer.clear()
        text = told_text(receiver).replace("hosts: [", f"hosts: ['{stuck.url.partition('/hook')[0]}', ")
        with telling(tmp_path, text) as staff:
            hooked(staff, "ben", stuck, "start")
            hooked(staff, "ada", receiver, "start")
            staff.submit("ben")
            stuck.wait(1)
            began = time.monotonic()
            staff.submit("ada")
            receiver.wait(1)
            assert time.monotonic() - began < 5
            stuck.may_answer.set()


def test_a_mail_server_that_hangs_holds_up_no_webhook(
    tmp_path: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    for where, name, number in ((outbox, "AT_ONCE", 1), (sending, "_SENDERS", 1), (mailing, "LONGEST", 60.0)):
        monkeypatch.setattr(where, name, number)
    with socket.create_server(("127.0.0.1", 0)) as stuck:
        port = stuck.getsockname()[1]
        offer = f"  mail: {{server: '127.0.0.1:{port}', security: none, sender: fairhold@bank.example,"
        offer += " addresses: {ben: ben@bank.example}}\n"
        with telling(tmp_path, told_text(receiver, more=offer)) as staff:
            hooked(staff, "ada", receiver, "start")
            staff.submit("ben", notify=["start"])
            connection, _ = stuck.accept()
            with connection:
                staff.submit("ada")
                receiver.wait(1)


def test_a_fault_of_ours_is_logged_and_the_rest_goes_on(
    tmp_path: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    failed: list[str] = []

    def failing(where: object, method: str, ask: str = "") -> None:
        kept = getattr(where, method)

        def call(*given: Any) -> Any:
            if method not in failed and (not ask or given[0].__name__ == ask):
                failed.append(method)
                raise RuntimeError("a fault")
            return kept(*given)

        monkeypatch.setattr(where, method, call)

    with telling(tmp_path, told_text(receiver)) as staff:
        for user in ("ben", "ada"):
            hooked(staff, user, receiver, "start")
        failing(staff.bank.core.notifications.outbox, "is_due")
        failing(staff.bank.desk, "write", "done")
        staff.submit("ben")
        receiver.wait(1)
        until(lambda: "what became of a message cannot be written down" in caplog.text)
        staff.submit("ada")
        receiver.wait(2)
    assert "messages cannot be taken from the outbox" in caplog.text


def test_what_was_not_sent_before_a_crash_is_sent_after_it(tmp_path: Path, receiver: Receiver) -> None:
    with Bank(tmp_path / "state") as bank:  # no courier: whatever happens, nothing is sent
        staff = Staff(bank, told_text(receiver))
        hooked(staff, "ben", receiver, "start")
        job = staff.submit("ben")["job"]
        bank.hub.wait_started(1)
    assert receiver.got == []
    with Bank(tmp_path / "state") as bank, courier(bank):
        receiver.wait(1)
    assert events_of(receiver) == [("start", job)]


def mail_of(text: str) -> EmailMessage:
    found = email.message_from_string(text, _class=EmailMessage, policy=email.policy.default)
    assert isinstance(found, EmailMessage)
    return found


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_mail_is_handed_in_with_tls_and_a_login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, security: str) -> None:
    certificate, password = own_certificate(tmp_path), tmp_path / "password"
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    password.write_text("op3n sesame\n")
    with (
        Mailbox({"fairhold": "op3n sesame"}, certificate, is_tls=security == "tls") as mailbox,
        telling(tmp_path, told_text(None, mailbox, security=security, user="fairhold"), password) as staff,
    ):
        assert staff.get("ben", "/me/notifications")["channels"] == ["mail"]
        staff.submit("ben", name="Preise für März", notify=["start"])
        ((to, text),) = mailbox.wait(1)
    mail = mail_of(text)
    assert (to, mail["From"], mail["To"]) == (["ben@bank.example"], "fairhold@bank.example", "ben@bank.example")
    assert mail["Subject"] == "[bank] Job 1 (Preise für März) of /Research has started"
    assert mail["Message-ID"].endswith("@bank.example>")
    assert "Job 1 (Preise für März) of /Research has started." in mail.get_content()


def test_a_mail_that_is_refused_for_now_comes_later(tmp_path: Path) -> None:
    with Mailbox() as mailbox, telling(tmp_path, told_text(None, mailbox)) as staff:
        mailbox.refusal = "451 try again"
        staff.submit("ben", notify=["start"])
        until(lambda: any(each[0].tries > 1 for each in staff.bank.core.notifications.outbox._queues.values()))
        mailbox.refusal = ""
        mailbox.wait(1)


def test_a_test_message_comes_by_every_way(tmp_path: Path, receiver: Receiver) -> None:
    with Mailbox() as mailbox, telling(tmp_path, told_text(receiver, mailbox)) as staff:
        hooked(staff, "ben", receiver)
        found = staff.post("ben", "/me/notifications/test", {})
        assert found["channels"] == ["mail", "webhook"]
        receiver.wait(1)
        mailbox.wait(1)


def test_hundreds_of_jobs_that_end_at_once_are_a_few_messages(tmp_path: Path, receiver: Receiver) -> None:
    with telling(tmp_path, told_text(receiver)) as staff:
        hooked(staff, "ben", receiver, "end")
        receiver.may_answer.clear()
        jobs = [staff.submit("ben", hold=True)["job"] for _ in range(120)]
        for job in jobs:
            staff.post("ben", f"/jobs/{job}/cancel")
        receiver.may_answer.set()
        until(lambda: sum(len(got.document["events"]) + got.document["more"] for got in receiver.got) == 120)
        assert len(receiver.got) <= 4
        assert any(got.document["more"] > 0 for got in receiver.got)


def numbers(staff: Staff) -> dict[str, float]:
    lines = staff.bank.get("/metrics").text.splitlines()
    return {
        name: float(value)
        for name, _, value in (line.rpartition(" ") for line in lines if line.startswith("fairhold_notif"))
    }


def test_what_was_sent_failed_and_waits_is_measured(tmp_path: Path) -> None:
    with Receiver(204, 410) as receiver, telling(tmp_path, told_text(receiver)) as staff:
        hooked(staff, "ben", receiver, "start")
        staff.submit("ben")
        receiver.wait(1)
        staff.submit("ben")
        until(lambda: staff.bank.core.notifications.outbox.failed["webhook"])
        found: dict[str, Any] = numbers(staff)
    assert found['fairhold_notifications_sent_total{channel="webhook"}'] == 1
    assert found['fairhold_notifications_failed_total{channel="webhook"}'] == 1
    assert found['fairhold_notifications_waiting{channel="webhook"}'] == 0

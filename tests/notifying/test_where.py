"""Where messages may lead: what an administrator allows, and nowhere inside by a trick; secrets stay where they are."""

from __future__ import annotations

import logging
import smtplib
import socket
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.access.notifications import Webhooks
from fairhold.access.webhooks import allowed_addresses, url_fault
from fairhold.service import logs
from fairhold.service.notifying import webhook
from tests.notifying.bank import hooked, telling, told_text
from tests.notifying.receivers import Mailbox, Receiver, until
from tests.service.people import put_access
from tests.service.served import own_certificate

if TYPE_CHECKING:
    from pathlib import Path

    from tests.service.people import Staff


def failed(staff: Staff, channel: str = "webhook") -> int:
    return staff.bank.core.notifications.outbox.failed[channel]


def tries(staff: Staff) -> int:
    queues = list(staff.bank.core.notifications.outbox._queues.values())
    return max((each[0].tries for each in queues if each), default=0)


ALLOWED = Webhooks(("https://hooks.example.com", "https://*.bank.example:8443", "http://plain.example"))


@pytest.mark.parametrize(
    "url",
    [
        *("https://hooks.example.com/a?b=c", "https://HOOKS.example.com:443/"),
        *("https://a.b.bank.example:8443/x", "http://plain.example/x"),
    ],
)
def test_a_webhook_may_lead_to_hosts_that_are_allowed(url: str) -> None:
    assert not url_fault(ALLOWED, url)


@pytest.mark.parametrize(
    "url",
    [
        *("http://hooks.example.com/", "https://hooks.example.com:444/", "https://hooks.example.com.evil.example/"),
        *("https://bank.example:8443/", "https://xbank.example:8443/", "https://hooks.example.com@evil.example/"),
        *("https://user:word@hooks.example.com/", "https://hooks.example.com#@evil.example/", "ftp://plain.example/"),
        *("file:///etc/passwd", "https://", "", "x", "https://[::1", "https://hooks.example.com:99999/"),
        *("https://hooks.example.com/\r\nHost: x", "https://hooks.example.com/ ", "https://hooks.example.com/é"),
        "https://hooks.example.com\\@evil.example/",
    ],
)
def test_a_webhook_leads_nowhere_else(url: str) -> None:
    assert url_fault(ALLOWED, url)


def test_addresses_that_are_not_public_are_left_out_unless_their_network_is_allowed() -> None:
    inside = ["127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"]
    inside += ["::1", "::", "fe80::1%eth0", "fc00::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"]
    inside += ["224.0.0.1", "ff02::1", "255.255.255.255"]
    assert allowed_addresses(Webhooks(), [*inside, "93.184.216.34", "2606:2800:220:1::1"]) == [
        *("93.184.216.34", "2606:2800:220:1::1")
    ]
    networks = Webhooks(networks=("10.0.0.0/24", "fc00::/7"))
    assert allowed_addresses(networks, inside) == ["10.0.0.1", "fc00::1"]


def test_an_address_inside_is_not_connected_to(tmp_path: Path, receiver: Receiver) -> None:
    text = told_text(receiver).replace(", networks: [127.0.0.0/8]", "")
    with telling(tmp_path, text) as staff:
        hooked(staff, "ben", receiver, "start")
        staff.submit("ben")
        until(lambda: tries(staff) > 1)
        assert receiver.got == []
        put_access(staff.bank, told_text(receiver))
        receiver.wait(1)


def test_a_name_is_connected_to_at_the_very_address_that_was_looked_at(
    tmp_path: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    plain = socket.getaddrinfo

    def answer(host: Any, port: Any, *more: Any, **named: Any) -> Any:
        if host != "hook.example.com":
            return plain(host, port, *more, **named)
        asked.append(host)
        address = "127.0.0.1" if len(asked) == 1 else "127.0.0.9"  # another answer, should anybody ask again
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in ("10.9.9.9", address)]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    text = told_text(receiver).replace(f"http://127.0.0.1:{receiver.port}", f"http://hook.example.com:{receiver.port}")
    with telling(tmp_path, text) as staff:
        url = f"http://hook.example.com:{receiver.port}/x"
        staff.ask("ben", "PATCH", "/me/notifications", json={"webhook": url, "events": ["start"]})
        staff.submit("ben")
        (got,) = receiver.wait(1)
    assert (got.head["host"], asked) == (f"hook.example.com:{receiver.port}", ["hook.example.com"])


def test_nobody_is_led_elsewhere_by_an_answer(tmp_path: Path, receiver: Receiver) -> None:
    with Receiver(*[307] * 50, location=receiver.url) as leading, telling(tmp_path, told_text(leading)) as staff:
        hooked(staff, "ben", leading, "start")
        staff.submit("ben")
        leading.wait(3)
    assert receiver.got == []


def test_tls_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = own_certificate(tmp_path)
    webhook._trusted.cache_clear()
    with Receiver(certificate=certificate) as receiver, telling(tmp_path, told_text(receiver)) as staff:
        hooked(staff, "ben", receiver, "start")
        staff.submit("ben")
        until(lambda: tries(staff) > 1)
        assert receiver.got == []
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
        webhook._trusted.cache_clear()
        receiver.wait(1)
    webhook._trusted.cache_clear()


def test_a_host_that_is_allowed_no_more_is_told_nothing_more(tmp_path: Path, receiver: Receiver) -> None:
    with telling(tmp_path, told_text(receiver)) as staff:
        hooked(staff, "ben", receiver, "start")
        put_access(staff.bank, told_text(receiver).replace(str(receiver.port), "1"))
        staff.submit("ben")
        until(lambda: failed(staff))
        refused = staff.ask("ben", "PATCH", "/me/notifications", 422, json={"webhook": "https://evil.example/s3cret"})
    assert (refused["code"], "s3cret" in str(refused), receiver.got) == ("webhook-refused", False, [])


def test_secrets_of_messages_stand_in_no_log_no_record_and_no_answer(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    root, (certificate, key) = logging.getLogger(), own_certificate(tmp_path)
    before, level, password = root.handlers[:], root.level, tmp_path / "password"
    password.write_text("op3n-sesame")
    logs.configure("DEBUG")
    try:
        with (
            Receiver(500, 302, 410) as receiver,
            Mailbox({"fairhold": "another"}, (certificate, key)) as mailbox,
            telling(tmp_path, told_text(receiver, mailbox, security="starttls", user="fairhold"), password) as staff,
            pytest.MonkeyPatch.context() as patch,
        ):
            patch.setenv("SSL_CERT_FILE", str(certificate))
            secret = hooked(staff, "ben", receiver, "start")
            staff.submit("ben")
            until(lambda: failed(staff))
            until(lambda: tries(staff) > 1)
            told = [
                staff.get("ben", "/me/notifications"),
                staff.get("ada", "/audit?limit=1000"),
                staff.get("ada", "/state"),
            ]
            told += [staff.get("ada", "/access"), staff.get("ada", "/events"), staff.get("ada", "/status")]
            shown = str(told[1:]) + str(told[0] | {"webhook": ""})
    finally:
        root.handlers[:] = before
        root.setLevel(level)
    told_in_log = capfd.readouterr().err
    assert "is not sent" in told_in_log
    for hidden in (secret, "op3n-sesame", "s3cret-part"):
        assert hidden not in told_in_log
        assert hidden not in shown


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_no_password_goes_where_tls_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, security: str) -> None:
    said: list[str] = []
    monkeypatch.setattr(smtplib.SMTP, "login", lambda _self, user, _password: said.append(user))
    password = tmp_path / "password"
    password.write_text("x")
    with (
        # signed by nobody whom the system trusts
        Mailbox({"fairhold": "x"}, own_certificate(tmp_path), is_tls=security == "tls") as mailbox,
        telling(tmp_path, told_text(None, mailbox, security=security, user="fairhold"), password) as staff,
    ):
        staff.submit("ben", notify=["start"])
        until(lambda: tries(staff) > 1)
        assert (said, mailbox.got) == ([], [])

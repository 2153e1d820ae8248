"""Who may ask, and from where."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from fairhold.errors import InputError
from fairhold.service.auth import VIEWER, Caller, Guard, Peer, Refused, the_token, user_name
from fairhold.service.settings import ServiceSettings
from tests.service.support import PLAN, Bank

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PATHS = ("/v1/health", "/v1/metrics", "/v1/openapi.json", "/v1/docs", "/v1/jobs", "/nowhere")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("header", "code"),
    [
        (None, "no-token"),
        ("Basic YW5uOmFubg==", "no-token"),
        ("Bearer", "wrong-token"),
        ("Bearer not-it", "wrong-token"),
        ("Bearer ", "wrong-token"),
    ],
)
def test_nothing_is_told_without_the_token(bank: Bank, path: str, header: str | None, code: str) -> None:
    bank.client.headers.pop("Authorization")
    answer = bank.client.get(path, headers={"Authorization": header} if header is not None else {})
    assert answer.status_code == 401
    assert answer.json()["code"] == code
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:7878", 200),
        ("LOCALHOST:7878", 200),
        ("127.0.0.1:7878", 200),
        ("[::1]:7878", 200),
        ("localhost", 200),
        ("[::1]", 200),
        ("localhost:7879", 403),
        ("evil.example", 403),
        ("evil.example:7878", 403),
        ("localhost.evil.example:7878", 403),
        ("", 403),
        (":7878", 403),
    ],
)
def test_a_request_calls_the_service_by_a_name_of_its_own(bank: Bank, host: str, status: int) -> None:
    answer = bank.client.get("/v1/health", headers={"Host": host})
    assert answer.status_code == status
    if status == 403:
        assert answer.json()["code"] == "foreign-host"


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:7878", 200),
        ("http://localhost", 403),
        ("https://localhost:7878", 403),
        ("http://127.0.0.1:7878", 403),
        ("http://evil.example", 403),
        ("null", 403),
        ("", 403),
    ],
)
def test_a_page_of_somebody_else_is_refused(bank: Bank, origin: str, status: int) -> None:
    answer = bank.client.get("/v1/health", headers={"Origin": origin})
    assert answer.status_code == status
    if status == 403:
        assert answer.json()["code"] == "foreign-origin"


def test_a_peer_of_the_unix_socket_needs_no_token_if_it_is_the_service_user_or_root(bank: Bank) -> None:
    guard = Guard("secret", bank.settings, bank.core.people)
    headers = {b"host": b"fairhold"}
    for uid, user in ((os.getuid(), user_name(os.getuid())), (0, "root")):
        found = guard.check(headers, Peer(uid))
        assert isinstance(found, Caller)
        assert (found.user, found.is_built_in) == (user, True)
    for host, peer in ((b"localhost", Peer(None)), (b"fairhold", Peer(65_534))):
        refused = guard.check({b"host": host}, peer)
        assert isinstance(refused, Refused)
        assert refused.fault.code == "no-token"
    assert isinstance(guard.check(headers | {b"authorization": b"Bearer secret"}, Peer(65_534)), Caller)
    for shown in (b"Bearer secre", b"Bearer fht_1", b"Bearer "):
        cut_off = guard.check(headers | {b"authorization": shown}, Peer(os.getuid()))
        assert isinstance(cut_off, Refused), "who shows a token is not somebody else by his socket"
        assert cut_off.fault.code == "wrong-token"
    for host, peer in ((b"evil.example", Peer(os.getuid())), (b"fairhold", Peer(None)), (b"fairhold:1", Peer(0))):
        refused = guard.check({b"host": host}, peer)
        assert isinstance(refused, Refused)
        assert refused.fault.code == "foreign-host"


def test_viewers_may_look_and_change_nothing(bank: Bank, tmp_path: Path) -> None:
    file = tmp_path / "viewers"
    guard = Guard("secret", ServiceSettings(tmp_path, viewer_token=file), bank.core.people)
    host = {b"host": b"localhost"}

    def found(token: str) -> object:
        return guard.check(host | {b"authorization": f"Bearer {token}".encode()}, Peer(None))

    assert isinstance(found("t" * 20), Refused)
    file.write_text("t" * 20 + "\n")
    assert found("t" * 20) == VIEWER
    assert isinstance(found("t" * 21), Refused)
    administrator = found("secret")
    assert isinstance(administrator, Caller)
    assert administrator.user == user_name(os.getuid())
    for short in ("", "t" * 19):
        file.write_text(short)
        assert isinstance(found(short), Refused)


def test_a_viewer_gets_and_compares_and_is_refused_what_changes(viewed: Bank) -> None:
    client = viewed.client
    for path in ("/v1/jobs", "/v1/plan", "/v1/metrics"):
        assert client.get(path).status_code == 200
    assert client.post("/v1/plan/diff", json={"text": PLAN}).status_code == 200
    changes = [("POST", "/v1/jobs"), ("POST", "/v1/stop"), ("PUT", "/v1/plan"), ("PUT", "/v1/plan?dry_run=true")]
    for method, path in (*changes, ("POST", "/v1/tokens"), ("PUT", "/v1/access")):
        body = {"text": PLAN, "consumer": "/Research", "argv": ["/bin/true"]}
        if path.startswith(("/v1/stop", "/v1/tokens")):
            body = {"how": "kill"} if path == "/v1/stop" else {"user": "ben"}
        answer = client.request(method, path, json=body, headers={"If-Match": '"1"'})
        assert (answer.status_code, answer.json()["code"]) == (403, "not-allowed"), (path, answer.text)


def test_one_that_observes_takes_plans_and_nothing_else(tmp_path: Path) -> None:
    with Bank(tmp_path / "state", is_observing=True) as bank:
        assert bank.post("/plan/diff", {"text": PLAN})
        bank._ask("PUT", "/plan", 200, json={"text": PLAN + "# two\n"}, headers={"If-Match": '"1"'})
        for path in ("/jobs", "/jobs/1/cancel", "/hosts/-/close", "/groups/compute/pause"):
            assert bank.post(path, {}, 409)["code"] == "only-observing"


def test_one_that_governs_a_cluster_takes_no_jobs_but_all_else(tmp_path: Path) -> None:
    with Bank(tmp_path / "state", has_pods=True) as bank:
        for path in ("/jobs", "/jobs/check"):
            answer = bank.post(path, {"consumer": "/Research", "argv": ["/bin/true"]}, 409)
            assert (answer["code"], "pods" in answer["detail"]) == ("only-pods", True)
        assert bank.post("/jobs/1/cancel", {}, 404)["code"] == "unknown-job"
        assert bank.post("/plan/diff", {"text": PLAN})


@pytest.fixture
def viewed(tmp_path: Path) -> Iterator[Bank]:
    """A service that is asked with the viewers' token."""
    file = tmp_path / "viewers"
    file.write_text("viewer" * 4)
    with Bank(tmp_path / "state", viewer_token=file) as bank:
        bank.client.headers["Authorization"] = f"Bearer {'viewer' * 4}"
        yield bank


def test_the_token_is_made_once_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    token = the_token(tmp_path)
    assert len(token) >= 40
    assert the_token(tmp_path) == token
    file = tmp_path / "token"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["token"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644])
def test_a_token_that_others_may_read_or_write_is_refused(tmp_path: Path, mode: int) -> None:
    the_token(tmp_path)
    (tmp_path / "token").chmod(mode)
    with pytest.raises(InputError, match="others") as caught:
        the_token(tmp_path)
    assert caught.value.faults[0].code == "service-token"
    assert "chmod 600" in caught.value.faults[0].mend


def test_a_token_that_is_a_link_or_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "token"
    the_token(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(InputError, match="another user"):
        the_token(tmp_path)
    monkeypatch.undo()
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="is a link"):
        the_token(tmp_path)
    file.unlink()
    file.mkdir()
    with pytest.raises(InputError, match="is not a file"):
        the_token(tmp_path)


@pytest.mark.parametrize("poor", ["", "\n", "short", "has a blank within, and so is none"])
def test_a_token_that_anybody_could_guess_is_replaced(tmp_path: Path, poor: str) -> None:
    (tmp_path / "token").write_text(poor)
    (tmp_path / "token").chmod(0o600)
    token = the_token(tmp_path)
    assert token != poor.strip()
    assert len(token) >= 40


def test_others_are_listened_to_only_with_tls(tmp_path: Path) -> None:
    for host in ("127.0.0.1", "::1", "localhost", "127.3.2.1"):
        ServiceSettings(tmp_path, host=host).check()
    for host in ("0.0.0.0", "::", "192.168.1.2", "example.com", ""):
        with pytest.raises(InputError, match="tls-needed"):
            ServiceSettings(tmp_path, host=host).check()
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    ServiceSettings(tmp_path, host="192.168.1.2", certificate=certificate, key=key).check()
    with pytest.raises(InputError, match="tls-needed"):
        ServiceSettings(tmp_path, certificate=certificate).check()
    with pytest.raises(InputError, match="tls-needed"):
        ServiceSettings(tmp_path, host="192.168.1.2", key=key).check()

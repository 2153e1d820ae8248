"""The console's files, which anybody may have, and its sessions, which need a token and the console's own header."""

from __future__ import annotations

import gzip
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.service.static_files import StaticFiles

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import httpx

    from tests.service.support import Bank

OWN = {"fairhold-console": "1"}


@pytest.fixture
def browser(bank: Bank) -> Any:
    """A client without a token, as a browser is one."""
    bank.client.headers.pop("Authorization")
    return bank.client


def begin(bank: Bank, browser: Any, **more: Any) -> httpx.Response:
    answer: httpx.Response = browser.post("/console/session", json={"token": bank.token}, **more)
    return answer


@pytest.fixture
def built(tmp_path: Path) -> StaticFiles:
    folder = tmp_path / "console"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>console</title>")
    (folder / "assets/app-1a2b.js").write_text("let x = 1;\n" * 100)
    return StaticFiles(folder)


def test_hashed_files_may_be_kept_and_the_page_may_not(built: StaticFiles) -> None:
    script, page = built.find("assets/app-1a2b.js"), built.find("jobs/12")
    assert script is not None
    assert page is not None
    assert script.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert page.headers["Cache-Control"] == "no-cache"
    assert script.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert b"<title>console" in page.body
    assert gzip.decompress(script.packed) == script.body
    assert built.find("assets/app-0000.js") is None, "a page in the place of a script would be kept for ever"
    assert built.find("../../../etc/passwd") is page


def test_policy_lets_nothing_in_from_elsewhere(built: StaticFiles) -> None:
    page = built.find("")
    assert page is not None
    policy = dict(part.split(" ", 1) for part in page.headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == policy["connect-src"] == policy["style-src"] == "'self'"
    assert page.headers["X-Content-Type-Options"] == "nosniff"


def test_without_a_console_a_page_says_how_to_get_it(tmp_path: Path) -> None:
    found = StaticFiles(tmp_path / "nothing").find("")
    assert found is not None
    assert b"make console" in found.body


def test_the_root_leads_to_the_console_without_a_token(browser: Any) -> None:
    assert browser.get("/").headers["location"] == "/console/"
    answer = browser.get("/console/")
    assert answer.status_code == 200
    assert "set-cookie" not in answer.headers
    assert browser.post("/console/").status_code == 405


def test_session_asks_what_its_token_may(bank: Bank, browser: Any) -> None:
    answer = begin(bank, browser)
    assert answer.status_code == 201
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith("fairhold-7878=")
    assert {"httponly", "samesite=strict", "path=/"} <= set(cookie.split("; "))
    assert bank.token not in cookie
    assert browser.get("/v1/health", headers=OWN).status_code == 200
    submitted = browser.post("/v1/jobs", json={"consumer": "/Research", "argv": ["true"]}, headers=OWN)
    assert submitted.status_code == 201


def test_cookie_alone_is_worth_nothing(bank: Bank, browser: Any) -> None:
    begin(bank, browser)
    assert browser.get("/v1/health").status_code == 401
    assert browser.post("/v1/stop", json={}).status_code == 401


def test_page_of_somebody_else_is_refused(bank: Bank, browser: Any) -> None:
    foreign = {"Origin": "http://evil.example"}
    assert begin(bank, browser, headers=foreign).status_code == 403
    begin(bank, browser)
    assert browser.get("/v1/health", headers=OWN | foreign).status_code == 403


def test_session_ends_when_it_is_left(bank: Bank, browser: Any) -> None:
    begin(bank, browser)
    kept = dict(browser._client.cookies)
    assert browser.delete("/console/session", headers=OWN).status_code == 204
    for name, value in kept.items():
        browser._client.cookies.set(name, value)
    assert browser.get("/v1/health", headers=OWN).status_code == 401


@pytest.mark.parametrize("cookie", ["", "fairhold-7878=guess", "fairhold-7878", "a=b; =;;;", 'fairhold-7878="\\"'])
def test_other_cookies_are_no_session(browser: Any, cookie: str) -> None:
    assert browser.get("/v1/health", headers=OWN | {"Cookie": cookie}).status_code == 401


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "bad-request"),
        (b"[]", 400, "bad-request"),
        (b'{"token": 1}', 400, "bad-request"),
        (b'{"token": "a", "code": "b"}', 400, "bad-request"),
        (b'{"token": "\xc3\xbc"}', 400, "bad-request"),
        (b'{"token": "' + b"x" * 70_000 + b'"}', 400, "bad-request"),
        (b'{"token": "no"}', 401, "wrong-token"),
        (b'{"code": "no"}', 401, "wrong-code"),
    ],
)
def test_nobody_gets_in_with_anything_else(browser: Any, body: bytes, status: int, code: str) -> None:
    answer = browser.post("/console/session", content=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert "set-cookie" not in answer.headers


def test_code_begins_one_session(bank: Bank, browser: Any) -> None:
    assert browser.post("/console/code").status_code == 401
    assert browser.post("/console/code", headers={"Authorization": "Bearer no"}).status_code == 401
    code = browser.post("/console/code", headers=bank.head).json()["code"]
    assert browser.post("/console/session", json={"code": code}).status_code == 201
    assert browser.post("/console/session", json={"code": code}).status_code == 401


def test_the_stream_of_a_session_ends_with_it(bank: Bank, browser: Any) -> None:
    """A page in another tab is told nothing more after somebody has signed out."""
    begin(bank, browser)
    with ThreadPoolExecutor(1) as pool:
        stream = pool.submit(browser.get, "/v1/events", headers=OWN | {"accept": "text/event-stream"})
        wait_for(lambda: bank.app.state.service.news.streams == 1)
        assert not stream.done()
        browser.delete("/console/session", headers=OWN)
        assert stream.result(10).status_code == 200
    assert browser.get("/v1/events", headers=OWN | {"accept": "text/event-stream"}).status_code == 401


def wait_for(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)

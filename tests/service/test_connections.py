"""Clients that are slow, silent, rude or many."""

from __future__ import annotations

import asyncio
import json
import resource
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.service import server
from fairhold.service.settings import RequestLimits
from tests.service.served import Line, here, serving

if TYPE_CHECKING:
    from tests.service.support import Bank

HEAD = "GET /v1/health HTTP/1.1\r\nHost: fairhold\r\n"
SUBMIT = "POST /v1/jobs HTTP/1.1\r\nHost: fairhold\r\nContent-Type: application/json\r\n"
QUICK = RequestLimits(silence=0.2)


def met(place: Path, work: Any, **more: Any) -> None:
    """Let something happen to a service, see that it still answers, and stop it."""

    async def whole(bank: Bank, _url: str) -> None:
        async with asyncio.timeout(60):
            await work(bank)
            async with here(bank) as client:
                assert (await client.get("/v1/health")).json()["state"] == "ok"
                await client.post("/v1/stop")

    assert serving(place, whole, **more) == "leave"


def problem(text: str) -> tuple[int, str]:
    """Status and code of an answer that is a problem."""
    head, _, body = text.partition("\r\n\r\n")
    assert "application/problem+json" in head.lower()
    assert "connection: close" in head.lower()
    return int(head.split()[1]), json.loads(body)["code"]


@pytest.mark.parametrize(
    "sent",
    ["", HEAD, SUBMIT + "Content-Length: 50\r\n\r\n{", SUBMIT + "Transfer-Encoding: chunked\r\n\r\n1\r\n{"],
    ids=["nothing", "half a head", "half a body", "half a chunked body"],
)
def test_who_does_not_send_the_rest_is_left(tmp_path: Path, sent: str) -> None:
    async def work(bank: Bank) -> None:
        line = await Line.open(bank)
        await line.send(sent)
        assert problem(await line.rest()) == (408, "too-slow")

    met(tmp_path, work, limits=QUICK)


def test_a_head_that_comes_byte_by_byte_is_not_waited_for(tmp_path: Path) -> None:
    async def work(bank: Bank) -> None:
        line = await Line.open(bank)
        await line.send(HEAD + "\r\n")
        assert (await line.answer())[0] == 200

        async def drip() -> None:
            while True:
                await line.send("x")
                await asyncio.sleep(0.02)

        dripping = asyncio.create_task(drip())
        assert await line.is_cut()
        dripping.cancel()
        await asyncio.gather(dripping, return_exceptions=True)

    met(tmp_path, work, limits=QUICK)


def test_who_is_refused_cannot_go_on_sending(tmp_path: Path) -> None:
    async def work(bank: Bank) -> None:
        line = await Line.open(bank)
        await line.send(SUBMIT.replace("Host: fairhold", "Host: evil") + "Content-Length: 5000\r\n\r\n{")
        assert (await line.answer())[0] == 403
        assert await line.is_cut()

    met(tmp_path, work, limits=QUICK)


def test_who_does_not_take_the_answer_is_left(tmp_path: Path) -> None:
    async def work(bank: Bank) -> None:
        file = bank.place / "jobs/1/0.1.out"
        file.parent.mkdir(parents=True)
        file.write_bytes(b"x" * 8 * 1024 * 1024)
        async with here(bank) as client:
            await client.post("/v1/jobs", json={"consumer": "/Research", "argv": ["true"]})
            await asyncio.to_thread(bank.hub.wait_started, 1)
            line = await Line.open(bank)
            line.writer.transport.pause_reading()  # type: ignore[attr-defined]  # a socket's
            target = "GET /v1/jobs/1/tasks/0/output?limit=8388608"
            await line.send(HEAD.replace("GET /v1/health", target) + "\r\n")
            await line.hung_up()  # however late the answer began to come
            line.writer.transport.resume_reading()  # type: ignore[attr-defined]  # a socket's
            assert len(await line.rest()) < 2 * 1024 * 1024
            whole = await client.get("/v1/jobs/1/tasks/0/output?limit=8388608")
            assert len(whole.content) == 8 * 1024 * 1024

    met(tmp_path, work, limits=QUICK)


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (HEAD + f"X: {'x' * 70_000}\r\n\r\n", (431, "too-large")),
        (HEAD + "X: y\r\n" * 20_000, (431, "too-large")),
        (f"GET /{'x' * 70_000} HTTP/1.1\r\n", (431, "too-large")),
        ("nonsense\r\n\r\n", (400, "bad-request")),
        (HEAD + "Host: evil\r\n\r\n", (400, "bad-request")),
        (HEAD + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", (400, "bad-request")),
        ("GET /v1/health HTTP/1.1\r\n\r\n", (400, "bad-request")),
        (HEAD + "Content-Length: 99999999999\r\n\r\n", (413, "too-large")),
    ],
    ids=["a header", "many headers", "an address", "nonsense", "two hosts", "two lengths", "no host", "a body"],
)
def test_what_is_no_request_is_told_and_ends_the_connection(
    tmp_path: Path, sent: str, expected: tuple[int, str]
) -> None:
    async def work(bank: Bank) -> None:
        line = await Line.open(bank)
        await line.send(sent)
        assert problem(await line.rest()) == expected

    met(tmp_path, work)


@pytest.mark.parametrize(
    ("name", "most", "limits"),
    [
        ("clients", 10, {"clients": 10}),
        ("clients", 3, {"clients": 3}),
        ("open_files", 10, {"open_files": 266}),
        ("open_files", 8, {"open_files": 100}),
    ],
)
def test_more_clients_than_the_limit_are_told_its_name(
    tmp_path: Path, name: str, most: int, limits: dict[str, int]
) -> None:
    async def work(bank: Bank) -> None:
        lines = [await Line.open(bank) for _ in range(12)]
        for line in lines:
            await line.send(HEAD + "\r\n")
        answers = [await line.answer() for line in lines]
        assert sorted(status for status, _ in answers) == [200] * most + [429] * (12 - most)
        assert all(
            f"the limit `{name}` is {limits[name]}" in json.loads(body)["detail"]
            for status, body in answers
            if status == 429
        )
        more = [await Line.open(bank) for _ in range(80)]
        with suppress(ConnectionError):  # it may be cut before it says anything
            await more[-1].send(HEAD + "\r\n")
        assert await more[-1].is_cut()
        for line in (*lines, *more):
            line.cut()
        await asyncio.sleep(0.1)

    met(tmp_path, work, limits=RequestLimits(**limits))


@pytest.mark.parametrize("limits", [{"clients": 3}, {"open_files": 100}], ids=str)
def test_clients_by_tcp_that_ask_nothing_keep_nobody_from_the_unix_socket(
    tmp_path: Path, limits: dict[str, int]
) -> None:
    async def work(bank: Bank, url: str) -> None:
        idle = [await Line.open_by_tcp(url) for _ in range(150)]
        await asyncio.sleep(0.05)
        knocking = await Line.open_by_tcp(url)
        with suppress(ConnectionError):
            await knocking.send(HEAD.replace("fairhold", "localhost") + "\r\n")
        assert await knocking.is_cut()
        for _ in range(2):
            line = await Line.open(bank)
            await line.send(HEAD + "\r\n")
            assert (await line.answer())[0] == 200
        assert [await line.is_cut() for line in idle] == [True] * len(idle)  # at once, or when they have said nothing
        async with here(bank) as client:
            await client.post("/v1/stop")

    assert serving(tmp_path, work, limits=RequestLimits(silence=1.0, **limits)) == "leave"


def test_open_files_are_limited_as_the_system_limits_them(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1_024, 4_096))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: told.append(limits))
    assert server._allow_open_files(RequestLimits()).open_files == 4_096
    assert told == [(4_096, 4_096)]
    assert server._allow_open_files(RequestLimits(open_files=900)).open_files == 900


async def crowd(bank: Bank, clients: int) -> int:
    """So many clients at once, each on a connection of its own; how many were answered as they should be."""
    gate = asyncio.Event()

    async def one(number: int) -> bool:
        line = await Line.open(bank)
        await gate.wait()
        body = json.dumps({"consumer": "/Research", "argv": ["true"], "hold": True, "name": str(number)})
        await line.send(f"{SUBMIT}Idempotency-Key: k{number}\r\nContent-Length: {len(body)}\r\n\r\n{body}")
        status, text = await line.answer()
        job = json.loads(text)
        await line.send(HEAD.replace("/health", f"/jobs/{job['job']}") + "\r\n")
        seen = await line.answer()
        line.cut()
        return (status, seen[0], json.loads(seen[1])["name"]) == (201, 200, str(number))

    asking = [asyncio.create_task(one(number)) for number in range(clients)]
    await asyncio.sleep(0)
    gate.set()
    return sum(await asyncio.gather(*asking))


@pytest.mark.parametrize("clients", [200, pytest.param(1_000, marks=pytest.mark.slow)])
def test_many_clients_at_once_are_all_answered(tmp_path: Path, clients: int) -> None:
    async def work(bank: Bank) -> None:
        assert await crowd(bank, clients) == clients
        async with here(bank) as client:
            names: set[str] = set()
            cursor: str | None = ""
            while cursor is not None:
                page = (await client.get("/v1/jobs", params={"limit": 500, "cursor": cursor})).json()
                names |= {each["name"] for each in page["jobs"]}
                cursor = page["next"]
        assert names == {str(number) for number in range(clients)}

    met(tmp_path, work)


def memory() -> int:
    """Bytes of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


async def visit(bank: Bank, clients: int) -> None:
    """Clients that ask, that ask half, and that go without waiting for their answer."""
    lines = [await Line.open(bank) for _ in range(clients)]
    for number, line in enumerate(lines):
        await line.send((HEAD + "\r\n", HEAD, SUBMIT + "Content-Length: 90000\r\n\r\n" + "x" * 50_000)[number % 3])
    for line in lines[::6]:
        assert (await line.answer())[0] == 200
    for line in lines:
        line.cut()
    await asyncio.sleep(0.05)
    Line.opened.clear()


@pytest.mark.parametrize("clients", [60, pytest.param(900, marks=pytest.mark.slow)])
def test_clients_that_have_gone_leave_nothing(tmp_path: Path, clients: int) -> None:
    async def work(bank: Bank) -> None:
        for _ in range(3):
            await visit(bank, clients)
        before = memory()
        for _ in range(8):
            await visit(bank, clients)
        assert memory() - before < 8 * 1024 * 1024
        async with here(bank) as client:
            text = (await client.get("/v1/metrics")).text
        assert "fairhold_http_request_seconds_count" in text

    met(tmp_path, work)

"""The server as it runs: TCP and the Unix socket at once, its files, its end."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import shutil
import signal
import socket
import ssl
import stat
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import httpx
import pytest

from fairhold.errors import InputError
from fairhold.runtime.live.opening import LiveSettings, open_live
from fairhold.service import logs
from fairhold.service.listening import listen_tcp, tell
from fairhold.service.server import ServiceFailedError, run, serve
from fairhold.service.settings import RequestLimits, ServiceSettings
from fairhold.store import open_store
from tests.service.served import here, own_certificate, serving
from tests.service.support import PLAN, Bank

if TYPE_CHECKING:
    from pathlib import Path


def test_tcp_wants_the_token_and_the_unix_socket_knows_its_peer(tmp_path: Path) -> None:
    async def work(bank: Bank, url: str) -> None:
        service = json.loads((bank.place / "service.json").read_text())
        assert service["url"] == url
        assert service["pid"] == os.getpid()
        assert (tmp_path / "current").resolve() == bank.place / "service.json"
        socket = bank.place / "api.sock"
        assert service["socket"] == str(socket)
        assert stat.S_IMODE(socket.stat().st_mode) == 0o600
        async with httpx.AsyncClient(base_url=url) as outside:
            assert (await outside.get("/v1/health")).status_code == 401
            head = {"Authorization": f"Bearer {(bank.place / 'token').read_text().strip()}"}
            assert (await outside.get("/v1/health", headers=head)).json()["state"] == "ok"
            assert (await outside.get("/v1/health", headers=head | {"Host": "evil"})).status_code == 403
            port = int(url.rpartition(":")[2])
            wrong = head | {"Host": f"127.0.0.1:{port + 1}"}
            assert (await outside.get("/v1/health", headers=wrong)).status_code == 403
        async with here(bank) as inside:
            assert (await inside.get("/v1/health")).json()["state"] == "ok"
            assert (await inside.get("/v1/health", headers={"Host": "evil"})).status_code == 403
            assert (await inside.get("/v1/health", headers={"Origin": "http://evil"})).status_code == 403
            assert (await inside.post("/v1/stop")).status_code == 202

    assert serving(tmp_path, work, pointers=(tmp_path / "current",)) == "leave"


def test_on_a_full_disk_nothing_is_left_of_where_the_service_would_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    settings = ServiceSettings(tmp_path, pointers=(tmp_path / "current",))
    tell(settings, "http://here")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert before.keys() == {"service.json", "current"}
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        tell(settings, "http://there")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "0:0:0:0:0:0:0:1", "localhost"])
def test_a_service_answers_at_the_address_that_it_tells(tmp_path: Path, host: str) -> None:
    async def work(bank: Bank, url: str) -> None:
        async with httpx.AsyncClient(base_url=url, headers=bank.head) as client:
            answer = await client.get("/v1/health")
            assert answer.status_code == 200, answer.text
            await client.post("/v1/stop")

    assert serving(tmp_path, work, host=host) == "leave"


def test_short_answers_are_sent_at_once() -> None:
    door = listen_tcp("127.0.0.1", 0)
    door.listen()

    async def take() -> int:
        taken: asyncio.Future[socket.socket] = asyncio.get_running_loop().create_future()

        class Answer(asyncio.Protocol):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                taken.set_result(transport.get_extra_info("socket"))

        server = await asyncio.get_running_loop().create_server(Answer, sock=door)
        _, writer = await asyncio.open_connection(*door.getsockname())
        is_on = (await taken).getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        writer.close()
        server.close()
        return is_on

    assert asyncio.run(take())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_whoever_waits_is_answered(tmp_path: Path, number: signal.Signals) -> None:
    async def work(bank: Bank, _url: str) -> None:
        async with here(bank) as client:
            job = (await client.post("/v1/jobs", json={"consumer": "/Research", "argv": ["true"]})).json()["job"]
            waiting = asyncio.create_task(client.get(f"/v1/jobs/{job}?wait=30"))
            pieces: list[str] = []
            is_open = asyncio.Event()

            async def follow() -> None:
                async with client.stream(
                    "GET", "/v1/events?after=0", headers={"Accept": "text/event-stream"}
                ) as stream:
                    async for piece in stream.aiter_text():
                        pieces.append(piece)
                        is_open.set()

            following = asyncio.create_task(follow())
            await is_open.wait()
            os.kill(os.getpid(), number)
            answer = await waiting
            assert answer.status_code == 200
            assert answer.json()["state"] in {"waiting", "running"}
            await following
            assert "id: 1\n" in "".join(pieces)

    assert serving(tmp_path, work) == "leave"
    assert not list((tmp_path / "state").glob(".*.tmp"))


def test_drain_waits_for_what_runs_and_kill_stops_it(tmp_path: Path) -> None:
    async def drain(bank: Bank, _url: str) -> None:
        async with here(bank) as client:
            await client.post("/v1/jobs", json={"consumer": "/Research", "argv": ["true"], "count": 6})
            await asyncio.to_thread(bank.hub.wait_started, 4)
            assert (await client.post("/v1/stop", json={"how": "drain"})).json() == {"how": "drain"}
            assert (await client.get("/v1/health")).json()["state"] == "stopping"
            for attempt in range(1, 5):
                bank.hub.end(attempt)

    assert serving(tmp_path, drain) == "drain"

    async def kill(bank: Bank, _url: str) -> None:
        async with here(bank) as client:
            await asyncio.to_thread(bank.hub.wait_started, 2)
            await client.post("/v1/stop", json={"how": "kill"})
            assert len(bank.hub.stops) == 2

    assert serving(tmp_path, kill) == "kill"


def test_an_address_in_use_is_told(tmp_path: Path) -> None:
    async def work(_bank: Bank, url: str) -> None:
        port = int(url.rpartition(":")[2])
        with Bank(tmp_path / "other") as other, pytest.raises(InputError, match="cannot-listen"):
            await run(other.desk, ServiceSettings(other.place, port=port))
        os.kill(os.getpid(), signal.SIGTERM)

    serving(tmp_path, work)


def test_a_desk_that_failed_ends_the_service(tmp_path: Path) -> None:
    async def work(bank: Bank, _url: str) -> None:
        def broken(_core: object) -> None:
            raise RuntimeError("broken")

        async with here(bank) as client:
            with pytest.raises(RuntimeError):
                await asyncio.wrap_future(bank.desk.write(broken))
            answer = await client.get("/v1/jobs/1")
            assert answer.status_code == 503

    with pytest.raises(ServiceFailedError):
        serving(tmp_path, work)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="a certificate is made with openssl")
def test_tls_is_spoken_by_tcp_alone(tmp_path: Path) -> None:
    certificate, key = own_certificate(tmp_path)

    async def work(bank: Bank, url: str) -> None:
        assert url.startswith("https://")
        trust = ssl.create_default_context(cafile=str(certificate))
        async with httpx.AsyncClient(base_url=url, verify=trust) as outside:
            assert (await outside.get("/v1/health")).status_code == 401
            head = {"Authorization": f"Bearer {bank.token}", "Origin": url}
            assert (await outside.get("/v1/health", headers=head)).status_code == 200
        async with here(bank) as inside:
            assert (await inside.post("/v1/stop")).status_code == 202

    assert serving(tmp_path, work, certificate=certificate, key=key) == "leave"


@pytest.mark.skipif(shutil.which("openssl") is None, reason="a certificate is made with openssl")
def test_who_never_ends_a_handshake_fills_no_service_and_keeps_its_owner_not_out(tmp_path: Path) -> None:
    certificate, key = own_certificate(tmp_path)

    async def work(bank: Bank, url: str) -> None:
        port = int(url.rpartition(":")[2])
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(200)]
        for reader, _ in silent[60:]:  # ten clients and some that would be told that they are too many
            with suppress(ConnectionError):
                assert await asyncio.wait_for(reader.read(), 5) == b""
        assert not any(reader.at_eof() for reader, _ in silent[:40])
        async with here(bank) as inside:
            assert (await inside.get("/v1/health")).status_code == 200
            for _, writer in silent:
                writer.transport.abort()
            trust = ssl.create_default_context(cafile=str(certificate))
            async with httpx.AsyncClient(base_url=url, verify=trust) as outside:
                while True:  # the service has to see first that the others have gone
                    with suppress(httpx.TransportError):
                        assert (await outside.get("/v1/health")).status_code == 401
                        break
            assert (await inside.post("/v1/stop")).status_code == 202

    limits = RequestLimits(clients=10)
    assert serving(tmp_path, work, certificate=certificate, key=key, limits=limits) == "leave"


def test_a_port_that_is_taken_is_found_out_before_a_plan_is_put_in_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "configure", lambda _level: None)
    plan, state = tmp_path / "plan.yaml", tmp_path / "state"
    plan.write_text(PLAN)
    open_live(LiveSettings(plan, state, launch=False)).close()
    plan.write_text(PLAN.replace("slots: 4", "slots: 9"))
    said: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as other:
        settings = ServiceSettings(state, port=other.getsockname()[1])
        with pytest.raises(InputError) as caught:
            serve(LiveSettings(plan, state, launch=False, tell=said.append), settings)
    assert caught.value.faults[0].code == "cannot-listen"
    assert said == []
    with closing(open_store(state)) as store:
        found = store.plan()
        assert found is not None
        assert (found.version, found.text) == (1, PLAN)

"""What goes wrong around a service: connections, the disk, the clock, a second service."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from fairhold.runtime.clock import WallClock
from fairhold.runtime.live.opening import Rising
from fairhold.units import SECOND
from tests.service.served import Line, here, serving
from tests.service.support import NOW, PLAN, Bank

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.ports import Batch
    from fairhold.runtime.live.core import Core

HOUR = 3600 * SECOND
BODY = json.dumps({"consumer": "/Research", "argv": ["true"], "hold": True})
HEAD = "POST /v1/jobs HTTP/1.1\r\nHost: fairhold\r\nContent-Type: application/json\r\nIdempotency-Key: once\r\n"
WHOLE = f"{HEAD}Content-Length: {len(BODY)}\r\n\r\n{BODY}"


class Moment:
    """A moment in the desk's thread at which it waits until the test lets it go on."""

    def __init__(self) -> None:
        self._reached, self._go_on = threading.Event(), threading.Event()

    def wait_here(self, *_: object) -> None:
        self._reached.set()
        assert self._go_on.wait(20)

    async def reached(self) -> None:
        assert await asyncio.to_thread(self._reached.wait, 20)

    def go_on(self) -> None:
        self._go_on.set()


def before(bank: Bank, moment: Moment) -> None:
    bank.desk.read(moment.wait_here)


def during(bank: Bank, moment: Moment) -> None:
    real = bank.store.transaction

    @contextmanager
    def slow() -> Iterator[Batch]:
        bank.store.transaction = real  # type: ignore[method-assign]  # once
        with real() as batch:
            yield batch
            moment.wait_here()

    bank.store.transaction = cast("Any", slow)  # type: ignore[method-assign]


def after(bank: Bank, moment: Moment) -> None:
    bank.desk.listeners.insert(0, moment.wait_here)


@pytest.mark.parametrize("when", [before, during, after])
def test_a_connection_that_is_cut_around_the_commit_leaves_one_job(tmp_path: Path, when: Any) -> None:
    async def work(bank: Bank, _url: str) -> None:
        async with here(bank) as client:
            moment = Moment()
            when(bank, moment)
            line = await Line.open(bank)
            await line.send(WHOLE)
            await moment.reached()
            line.cut()
            await asyncio.sleep(0.05)
            moment.go_on()
            head = {"Idempotency-Key": "once", "Content-Type": "application/json"}
            again = await client.post("/v1/jobs", content=BODY, headers=head)
            assert (again.status_code, again.json()["job"]) == (200, "1")
            assert [each["job"] for each in (await client.get("/v1/jobs")).json()["jobs"]] == ["1"]
            await client.post("/v1/stop")

    assert serving(tmp_path, work) == "leave"


def test_a_connection_that_is_cut_within_the_request_leaves_no_job(tmp_path: Path) -> None:
    async def work(bank: Bank, _url: str) -> None:
        async with here(bank) as client:
            line = await Line.open(bank)
            await line.send(WHOLE[:-5])
            await asyncio.sleep(0.05)
            line.cut()
            head = {"Idempotency-Key": "once", "Content-Type": "application/json"}
            again = await client.post("/v1/jobs", content=BODY, headers=head)
            assert (again.status_code, again.json()["job"]) == (201, "1")
            await client.post("/v1/stop")

    assert serving(tmp_path, work) == "leave"


def room(bank: Bank, pages: int) -> None:
    """Let the store's file grow by so many pages and no more."""

    def limit(core: Core) -> None:
        connection: Any = core.store._connection  # type: ignore[attr-defined]
        (now,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {now + pages}")

    bank.desk.read(limit).result(5)


def test_a_full_store_accepts_nothing_keeps_all_and_goes_on(bank: Bank) -> None:
    kept = [bank.submit(labels={"n": str(number)})["job"] for number in range(3)]
    bank.hub.wait_started(3)
    room(bank, 2)
    body, key = {"consumer": "/Research", "argv": ["x" * 3_000]}, 0
    while (answer := bank.client.post("/v1/jobs", json=body, headers={"Idempotency-Key": f"k{key}"})).is_success:
        kept.append(answer.json()["job"])
        key += 1
    assert (answer.status_code, answer.json()["code"], answer.headers["retry-after"]) == (507, "store-full", "1")
    assert "not durable yet" in answer.json()["detail"]
    refused = bank.submit(507)
    assert "not accepted" in refused["detail"]
    assert bank.get("/health")["state"] == "trouble"
    assert "fairhold_trouble 1.0" in bank.client.get("/v1/metrics").text
    bank.hub.end(1)
    assert bank.until("/jobs/1", "state", "done"), "what ends is taken in, and written later"
    room(bank, 10_000)
    bank.until("/health", "state", "ok")
    first = bank.post("/jobs", body, 200, headers={"Idempotency-Key": f"k{key}"})
    assert first["job"] not in kept, "what met the full store first was kept"
    assert {each["job"] for each in bank.get("/jobs?all=1&limit=1000")["jobs"]} == {*kept, first["job"]}
    assert int(bank.submit()["job"]) == int(first["job"]) + 1, "what was refused left nothing"


def test_a_service_on_a_full_disk_goes_on_when_there_is_room(tmp_path: Path) -> None:
    alone = ["unshare", "-rm"] if shutil.which("unshare") else ["false"]
    if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no namespaces here")
    program = [sys.executable, str(Path(__file__).with_name("small_disk.py")), str(tmp_path)]
    done = subprocess.run([*alone, *program], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    if said is None:
        pytest.skip("nothing may be mounted here")
    assert set(said.pop("kept")) <= {"held"}
    expected = {"refused": "store-full", "trouble": "trouble", "first": "done", "later": "done", "status": 0}
    assert said == expected, done.stderr


class Clock:
    """Clocks that a test sets."""

    def __init__(self, now: int) -> None:
        self.instant = now

    def now(self) -> int:
        self.instant += 10
        return self.instant


def test_a_clock_that_was_set_back_before_a_start_does_not_hold_anything_up() -> None:
    clock = Clock(NOW)
    rising = Rising(NOW + HOUR, clock)
    first = rising()
    assert first > NOW + HOUR
    clock.instant += 30 * SECOND
    assert 15 * SECOND <= rising() - first < 16 * SECOND
    clock.instant -= 2 * HOUR
    later = rising()
    assert first < later < rising()


class Behind(WallClock):
    """The time of day, an hour ago."""

    def now(self) -> int:
        return super().now() - HOUR


def test_a_service_goes_on_after_its_clock_was_set_back_an_hour(tmp_path: Path) -> None:
    grace = PLAN.replace("Research: {}", "Research: {reclaim_grace: 100ms}")
    with Bank(tmp_path / "state", plan=grace) as bank:
        bank.submit(count=9)
        bank.hub.wait_started(4)
        last = bank.store.last_at
    with Bank(tmp_path / "state", plan=grace, clock=Behind()) as bank:
        bank.hub.wait_started(4)
        bank.submit(consumer="/Trading/Risk", count=2)
        bank.hub.wait_started(6)  # after a cycle, the notices, their grace and another cycle
        assert [each.reason for each in bank.hub.stops] == ["reclaim", "reclaim"]
        seen = [each["at"] for each in bank.get("/events?limit=5000")["events"]]
        assert seen == sorted(seen)
        assert bank.core.now() < last + 60 * SECOND


def test_a_second_service_on_a_store_says_who_holds_it(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN)
    with Bank(tmp_path / "state"):
        command = [sys.executable, "-m", "fairhold", "serve", str(plan), "--state", str(tmp_path / "state")]
        told = subprocess.run([*command, "--port", "0"], capture_output=True, text=True, check=False, timeout=60)
    assert told.returncode in {1, 3}
    assert "[store-in-use]" in told.stderr
    assert str(os.getpid()) in told.stderr
    assert "Traceback" not in told.stderr


@pytest.mark.parametrize(
    ("options", "code"),
    [(["--listen", "0.0.0.0"], "tls-needed"), (["--tls-cert", "PLACE/no", "--tls-key", "PLACE/no"], "tls-files")],
)
def test_what_keeps_a_service_from_listening_is_one_clear_line(tmp_path: Path, options: list[str], code: str) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN)
    command = [sys.executable, "-m", "fairhold", "serve", str(plan), "--state", str(tmp_path / "state"), "--port", "0"]
    words = [word.replace("PLACE", str(tmp_path)) for word in options]
    told = subprocess.run([*command, *words], capture_output=True, text=True, check=False, timeout=60)
    assert told.returncode == 1
    assert f"[{code}]" in told.stderr
    assert "Traceback" not in told.stderr

"""Two services of one store, each a process, with agents on two hosts; what stands between them can be cut."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import httpx

import fairhold
from fairhold.errors import FairholdError
from tests.failover.wire import Wire
from tests.faults.house import PATIENCE, free_port, plan, processes, until
from tests.store.server import the_server

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.client.answers import Job
    from fairhold.client.synchronous import Client

HOSTS = ("h1", "h2")
SLOTS = 4
_TAIL = 6_000
"""Characters of a log that are told of a test that failed."""
WORK = 'echo "$FAIRHOLD_JOB $FAIRHOLD_TASK $FAIRHOLD_ATTEMPT" >> runs; sleep {seconds}'


class Member:
    """One of the services.

    to_agents, to_store : wires to it and from it; to_store is None where the store is a file
    """

    def __init__(self, pair: Pair, name: str) -> None:
        self.pair, self.name = pair, name
        self.state = pair.place / ("state" if pair.is_file else name)
        self.log = pair.place / f"{name}.log"
        self.port, self._agents = free_port(), free_port()
        self.to_agents = Wire(self._agents)
        self.to_store = None if pair.is_file else Wire(the_server().port)
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def said(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    @property
    def told(self) -> str:
        """Whether it runs, what it says of itself, and the end of its log."""
        ended = "never started" if self.process is None else self.process.poll()
        now = f"says {self.health()}" if ended is None else f"has ended: {ended}"
        return f"--- {self.name} {now}\n{self.said[-_TAIL:]}"

    def launch(self) -> None:
        """Start it; it leads or stands by."""
        self.state.mkdir(mode=0o700, exist_ok=True)
        for name, text in (("token", self.pair.token), ("secret", self.pair.secret)):
            (self.state / name).write_text(text + "\n")
            (self.state / name).chmod(0o600)
        command = [sys.executable, "-m", "fairhold", "serve", str(self.pair.plan), "--state", str(self.state)]
        command += ["--standby", "--port", str(self.port), "--agents", f"127.0.0.1:{self._agents}"]
        environment = os.environ | {"FAIRHOLD_STATE": str(self.pair.place / "base")}
        if self.to_store is not None:
            server = the_server()
            address = server.address(self.pair.database).replace(f":{server.port}/", f":{self.to_store.port}/")
            environment["FAIRHOLD_STORE"] = address
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)

    def signal(self, number: int) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        assert self.process is not None
        self.process.wait(PATIENCE)

    def lives(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def health(self) -> dict[str, Any]:
        """What it says of itself; empty where it does not answer."""
        with suppress(httpx.HTTPError, ValueError):
            answer = httpx.get(
                f"{self.url}/v1/health", headers={"Authorization": f"Bearer {self.pair.token}"}, timeout=1.0
            )
            return dict(answer.json()) if answer.status_code == 200 else {}
        return {}

    def leads(self) -> bool:
        return self.health().get("role") == "leader"

    def stands_by(self) -> bool:
        found = self.health()
        return found.get("role") == "standby" and bool(found["leader"])

    def mend(self) -> None:
        """Let it go on, whatever was done to it."""
        self.to_agents.mend()
        if self.to_store is not None:
            self.to_store.mend()
        if self.lives():
            self.signal(signal.SIGCONT)
        else:
            self.launch()

    def close(self) -> None:
        if self.lives():
            self.signal(signal.SIGCONT)
            self.kill()
        self.to_agents.close()
        if self.to_store is not None:
            self.to_store.close()


class Pair:
    """Both. is_file: the store is a file of this machine, and the state directory the same."""

    def __init__(self, place: Path, *, is_file: bool) -> None:
        self.place, self.is_file = place, is_file
        self.token, self.secret = secrets.token_urlsafe(32), secrets.token_hex(32)
        self.database = "" if is_file else the_server().database()
        self.plan = place / "plan.yaml"
        hosts = ", ".join(f"{{name: {name}, slots: {SLOTS}}}" for name in HOSTS)
        self.plan.write_text(plan(f"{{hosts: [{hosts}]}}"))
        self.members = [Member(self, "one"), Member(self, "two")]
        self.agents: dict[str, subprocess.Popen[bytes]] = {}
        self.client: Client = fairhold.connect(",".join(each.url for each in self.members), self.token)
        self.accepted: list[Job] = []
        self.unsure: list[tuple[int, float, str]] = []
        self.ranks: dict[str, int] = dict.fromkeys(HOSTS, 0)

    def open(self) -> Pair:
        """Start all; the first service leads."""
        one, two = self.members
        one.launch()
        until(one.leads)
        two.launch()
        until(two.stands_by)
        for name in HOSTS:
            self.start_agent(name)
        until(lambda: all(each.document["connected"] for each in self.client.hosts()))
        return self

    def start_agent(self, name: str) -> None:
        (self.place / name).mkdir(mode=0o700, exist_ok=True)
        secret = self.place / name / "secret"
        secret.write_text(self.secret + "\n")
        secret.chmod(0o600)
        connect = ",".join(f"tcp:127.0.0.1:{each.to_agents.port}" for each in self.members)
        words = ["--directory", str(self.place / name), "--connect", connect, "--host", name, "--groups", "none"]
        words += ["--slots", str(SLOTS), "--secret", str(secret)]
        with (self.place / f"{name}.log").open("ab") as log:
            self.agents[name] = subprocess.Popen(
                [sys.executable, "-m", "fairhold", "agent", *words], stdout=log, stderr=log
            )

    @property
    def leader(self) -> Member:
        """The one that leads; waits for it."""
        return until(lambda: next((each for each in self.members if each.leads()), None))  # type: ignore[no-any-return]

    def other(self, member: Member) -> Member:
        return next(each for each in self.members if each is not member)

    def await_takeover(self, by: Member) -> float:
        """Seconds until it leads."""
        began = time.monotonic()
        until(by.leads)
        return time.monotonic() - began

    def submit(self, count: int = 1, seconds: float = 0.2) -> Job:
        wanted = (count, seconds, secrets.token_hex(8))
        self.unsure.append(wanted)
        job = self._submit(*wanted)
        self.unsure.remove(wanted)
        self.accepted.append(job)
        return job

    def _submit(self, count: int, seconds: float, key: str) -> Job:
        argv = ["/bin/sh", "-c", WORK.format(seconds=seconds)]
        return self.client.submit("/A", argv, count=count, directory=str(self.place), key=key)

    def ran(self) -> int:
        """How many attempts have begun."""
        path = self.place / "runs"
        return len(path.read_text().split("\n")) - 1 if path.exists() else 0

    def settle(self) -> None:
        """All services, wires and agents are well again: one leads, the other stands by, and hosts are connected."""
        for each in self.members:
            each.mend()
        until(self._is_settled)
        until(lambda: all(each.document["connected"] for each in self._hosts()))
        self.check_ranks()

    def _is_settled(self) -> bool:
        """Whether one leads and the other stands by. One that was killed is started anew, as an init system does."""
        for each in self.members:
            if not each.lives():
                assert each.process is not None
                assert each.process.returncode == -signal.SIGKILL, f"{each.name} has ended by itself"
                each.launch()
        return sorted((each.leads(), each.stands_by()) for each in self.members) == [(False, True), (True, False)]

    def _hosts(self) -> list[Any]:
        with suppress(FairholdError):
            return list(self.client.hosts())
        return []

    def tails(self) -> set[int]:
        """How far agents know the log."""
        return {int((self.place / name / "spool/rank").read_text().split()[1]) for name in HOSTS}

    def check_ranks(self) -> None:
        """An agent never goes back to an earlier term."""
        for name in HOSTS:
            term = int((self.place / name / "spool/rank").read_text().split()[0])
            assert term >= self.ranks[name], (name, term, self.ranks)
            self.ranks[name] = term

    def check(self) -> None:
        """Every accepted task is done, ran as often as the record says, and nothing is left over.

        What was submitted without an answer is submitted again under its key, so that it is accepted in any case.
        """
        self.accepted += [self._submit(*wanted) for wanted in self.unsure]
        self.unsure.clear()
        for job in self.accepted:
            found = self.client.wait(job, PATIENCE)
            assert found.state == "done", (found, [each.said[-3_000:] for each in self.members])
        ran = Counter((self.place / "runs").read_text().split("\n")[:-1])
        assert not [run for run, times in ran.items() if times > 1], "an attempt ran twice"
        recorded = set()
        for job in self.accepted:
            for task in self.client.tasks(job):
                numbers = [each.number for each in task.attempts]
                assert sorted(numbers) == list(range(1, len(numbers) + 1))
                recorded |= {f"{job.name} {task.index} {number}" for number in numbers}
        assert set(ran) <= recorded, "something ran that is not on record"
        assert {run.rsplit(" ", 1)[0] for run in ran} == {run.rsplit(" ", 1)[0] for run in recorded}
        (group,) = self.client.status()["resource_groups"].values()
        until(lambda: self._used() == 0)
        assert group["slots"]["total"] == SLOTS * len(HOSTS)
        self.check_ranks()

    def _used(self) -> int:
        (group,) = self.client.status()["resource_groups"].values()
        return int(group["slots"]["used"])

    def store_is_whole(self) -> str:
        """What a check of the store finds; it says so where it is good."""
        state = self.members[0].state
        words = ["store", "check", *(["--state", str(state)] if self.is_file else [])]
        environment = os.environ | ({} if self.is_file else {"FAIRHOLD_STORE": the_server().address(self.database)})
        done = subprocess.run(
            [sys.executable, "-m", "fairhold", *words], capture_output=True, text=True, check=False, env=environment
        )
        return "" if done.returncode == 0 else done.stdout + done.stderr

    def close(self) -> None:
        self.client.close()
        for each in self.members:
            print(each.told)  # noqa: T201 - shown where the test has failed
            each.close()
        for agent in self.agents.values():
            agent.kill()
            agent.wait()
        end = time.monotonic() + 5
        while (left := processes(str(self.place))) and time.monotonic() < end:
            for pid in left:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)
        for each in self.members:
            assert "Traceback" not in each.said, each.said

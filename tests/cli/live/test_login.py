"""`login` and `logout` against a real service and a real provider."""

from __future__ import annotations

import asyncio
import json
import re
import stat
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

import fairhold
from tests.cli.live.served import LONGEST, ME, ROOT, Served, until
from tests.provider.running import RunningProvider, Visitor

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ACCESS = """\
fairhold_access: 1
cluster: bank
groups: {quants: []}
bindings: [{role: submitter, at: /Research, groups: [quants]}]
"""


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[RunningProvider]:
    with RunningProvider(tmp_path / "provider", seconds=25) as found:
        yield found


@pytest.fixture
def served(tmp_path: Path, provider: RunningProvider) -> Iterator[Served]:
    with Served(tmp_path) as found:
        document = tmp_path / "access.yaml"
        document.write_text(ACCESS + provider.document())
        found("access", "apply", str(document))
        yield found


class Person:
    """Somebody elsewhere, who knows the service by its address."""

    def __init__(self, served: Served, place: Path) -> None:
        address = json.loads((served.state / "service.json").read_text())["url"]
        more = {"FAIRHOLD_STATE": str(place), "FAIRHOLD_SERVICE": address}
        self.environment = served.environment | more
        self.file = place / "sign-ins.json"

    def __call__(self, *args: str, exits: int = 0) -> str:
        command = [*ME, *args]
        done = subprocess.run(
            command, env=self.environment, cwd=ROOT, capture_output=True, text=True, timeout=LONGEST, check=False
        )
        assert done.returncode == exits, done.stderr
        return done.stdout + done.stderr

    def log_in(self, provider: RunningProvider, user: str, action: str = "accept", exits: int = 0) -> str:
        command = [*ME, "login"]
        with subprocess.Popen(
            command, env=self.environment, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            shown = [process.stderr.readline() for _ in range(3)]
            assert shown[0].startswith("to sign in at Bank SSO, open this address")
            assert shown[1].strip().startswith(provider.url)
            Visitor(provider, user).answer(shown[2].strip(), action)
            out, errors = process.communicate(timeout=LONGEST)
            assert process.returncode == exits, errors
            return out + errors


def test_somebody_signs_in_works_and_signs_out(
    served: Served, provider: RunningProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = Person(served, tmp_path / "uma")
    assert "no-token" in person("whoami", exits=3)
    assert re.fullmatch(r"signed in at http://\S+ as uma\n", person.log_in(provider, "uma"))
    assert stat.S_IMODE(person.file.stat().st_mode) == 0o600
    said = person("whoami")
    assert re.search(r"^user +uma$", said, re.MULTILINE)
    assert re.search(rf"^known by +127.0.0.1:{provider.port}, subject \d$", said, re.MULTILINE)
    job = person("submit", "/Research/Models", "--", "true").strip()
    assert served.json("show", job)["job"]["user"] == "uma"
    first = json.loads(person.file.read_text())
    time.sleep(6)  # its token is due 20 seconds before its end, and good for 25
    assert "uma" in person("whoami")
    other = json.loads(person.file.read_text())
    (was,), (now,) = (list(each["services"].values()) for each in (first, other))
    assert now["token"] != was["token"]
    for name in ("FAIRHOLD_STATE", "FAIRHOLD_SERVICE"):
        monkeypatch.setenv(name, person.environment[name])
    assert in_programs() == ["uma", "uma"]
    assert "signed out of" in person("logout")
    assert "no-token" in person("whoami", exits=3)
    assert "not signed in" in person("logout")
    audit = [json.loads(line) for line in served("audit", "--json", "--user", "uma").splitlines()]
    assert [each["action"] for each in audit] == ["sign_in", "submit_job"]
    assert audit[1]["via"] == audit[0]["via"]


def in_programs() -> list[str]:
    """Who both clients are."""

    async def ask() -> str:
        async with fairhold.connect_async() as service:
            return str((await service.me())["user"])

    with fairhold.connect() as service:
        return [str(service.me()["user"]), asyncio.run(ask())]


def test_who_is_not_let_in_is_told_why(served: Served, provider: RunningProvider, tmp_path: Path) -> None:
    person = Person(served, tmp_path / "zoe")
    assert "sign-in-denied" in person.log_in(provider, "zoe", "deny", exits=3)
    assert "unknown-user" in person.log_in(provider, "zoe", exits=3)
    assert not person.file.exists()


def test_a_sign_in_that_ended_is_told_and_the_file_is_for_its_owner(
    served: Served, provider: RunningProvider, tmp_path: Path
) -> None:
    person = Person(served, tmp_path / "uma")
    person.log_in(provider, "uma")
    provider.forget_sign_ins()
    until(lambda: "sign-in-over" in person("whoami", exits=3) if _is_over(person) else False)
    person.file.chmod(0o644)
    assert "can be read or written by others" in person("whoami", exits=1)
    person.file.chmod(0o600)
    person.file.write_text("nonsense")
    assert "sign-ins" in person("whoami", exits=1)
    assert served("whoami").count("administrator"), "on the service's machine nothing has changed"


def _is_over(person: Person) -> bool:
    (kept,) = json.loads(person.file.read_text())["services"].values()
    return bool(time.time() > kept["expires"])

"""`notify` and `submit --notify`, over a real service that really sends."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from fairhold.cli.live import notifying
from fairhold.cli.live.notifying import Wanted
from fairhold.client.errors import ServiceError
from fairhold.client.exchange import Request
from fairhold.errors import Fault
from tests.cli.live.served import LONGEST, ME, Served
from tests.cli.live.test_people_commands import House
from tests.notifying.receivers import Receiver, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.client.exchange import Document, Steps

ACCESS = """\
fairhold_access: 1
users: [ben]
bindings:
  - {role: submitter, at: /Research, users: [ben]}
notifications:
  webhooks: {hosts: ['HOST'], networks: [127.0.0.0/8]}
"""


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with Receiver() as found:
        yield found


@pytest.fixture(scope="module")
def house(receiver: Receiver, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with Served(tmp_path_factory.mktemp("notify")) as served:
        found = House(served, tmp_path_factory.mktemp("documents"))
        found.apply(ACCESS.replace("HOST", receiver.url.partition("/hook")[0]))
        found.tokens["ben"] = found.run("", "token", "create", "--user", "ben").stdout.strip()
        found.run("ben", "notify", "--webhook", receiver.url)
        yield found


def told(receiver: Receiver, job: str) -> list[str]:
    facts = [fact for got in receiver.got for fact in got.document["events"]]
    return [fact["event"] for fact in facts if fact.get("job") == job]


def test_a_job_of_the_command_line_is_told_from_start_to_end(house: House, receiver: Receiver) -> None:
    job = house.run("ben", "submit", "/Research/Models", "--notify", "start,end", "--", "false").stdout.strip()
    until(lambda: told(receiver, job) == ["start", "end"], 40)
    ends = [fact for got in receiver.got for fact in got.document["events"] if fact["event"] == "end"]
    assert (ends[0]["state"], ends[0]["exit_code"]) == ("failed", 1)


def test_what_holds_is_shown_and_changed(house: House) -> None:
    job = house.run("ben", "submit", "/Research/Models", "--hold", "--", "true").stdout.strip()
    assert house.run("ben", "notify", job).stdout == f"of job {job} you are told: nothing\n"
    assert house.run("ben", "notify", job, "--on", "end, start").stdout == f"of job {job} you are told: start, end\n"
    assert "told of all jobs  reclaim\n" in house.run("ben", "notify", "--on", "reclaim").stdout
    assert "told of all jobs  nothing\n" in house.run("ben", "notify", "--on", "none").stdout
    found = json.loads(house.run("ben", "notify", "--json").stdout)
    assert (found["user"], found["channels"], "secret" in found) == ("ben", ["webhook"], False)
    house.run("ben", "cancel", job)


def test_an_address_is_read_so_that_no_list_of_processes_shows_it(house: House, receiver: Receiver) -> None:
    environment = {**house.served.environment, "FAIRHOLD_TOKEN": house.tokens["ben"]}
    words = [*ME, "notify", "--webhook", "-", "--new-secret"]
    done = subprocess.run(
        words, input=f"{receiver.url}\n", capture_output=True, text=True, env=environment, timeout=LONGEST, check=True
    )
    assert done.stdout.startswith("whsec_")
    assert done.stderr == "messages to the webhook are signed with this secret; it is shown this once\n"
    assert done.stdout.strip() not in house.run("ben", "notify").stdout


@pytest.mark.parametrize("as_json", [False, True])
def test_a_secret_is_shown_although_the_test_message_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, as_json: bool
) -> None:
    class Breaking:
        def run(self, steps: Steps[Document]) -> Document:
            asked = next(steps)
            assert isinstance(asked, Request)
            if asked.method == "PATCH":
                return {"secret": "whsec_eA=="}
            raise ServiceError([Fault("failed", "it is gone")])

    monkeypatch.setattr(notifying, "connect", lambda _service: Breaking())
    with pytest.raises(ServiceError):
        notifying.notify_always("", Wanted(webhook="https://hooks.example.com/x"), is_test=True, as_json=as_json)
    out = capsys.readouterr().out
    assert (json.loads(out)["secret"] if as_json else out.strip()) == "whsec_eA=="


def test_a_test_message_is_sent(house: House, receiver: Receiver) -> None:
    house.run("ben", "notify", "--test")
    until(lambda: any(fact["event"] == "test" for got in receiver.got for fact in got.document["events"]), 40)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("notify", "1", "--mail"), "with JOB goes --on"),
        (("notify", "--on", "begin"), "write start, reclaim, withdrawn, end with commas between, or none"),
        (("submit", "/Research/Models", "--notify", "x", "--", "true"), "--notify x: write start"),
    ],
)
def test_words_that_do_not_fit_are_refused(house: House, words: tuple[str, ...], says: str) -> None:
    assert says in house.run("ben", *words, exits=2).stderr


def test_a_target_that_is_not_allowed_is_refused(house: House) -> None:
    said = house.run("ben", "notify", "--webhook", "https://evil.example/x", exits=1).stderr
    assert "webhook-refused" in said
    assert "evil" not in said


def test_a_crash_loses_nothing(house: House, receiver: Receiver) -> None:
    receiver.may_answer.clear()
    job = house.run("ben", "submit", "/Research/Models", "--notify", "start,end", "--", "true").stdout.strip()
    until(lambda: "start" in told(receiver, job), 40)
    house.served.kill()
    receiver.may_answer.set()
    house.served.start()
    first = next(got for got in receiver.got if any(fact.get("job") == job for fact in got.document["events"]))
    until(lambda: sum(got.head["webhook-id"] == first.document["id"] for got in receiver.got) > 1, 60)
    until(lambda: {*told(receiver, job)} == {"start", "end"}, 60)
    assert {got.body for got in receiver.got if got.document["id"] == first.document["id"]} == {first.body}

"""`whoami`, `token`, `access`, `audit` and all other commands in the name of one who does not see all."""

from __future__ import annotations

import json
import os
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.cli.live.served import LONGEST, ME, Served, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ACCESS = """\
fairhold_access: 1
cluster: bank
others: OTHERS
users: [ben, dan]
bindings:
  - {role: submitter, at: /Research, users: [ben]}
  - {role: plan_editor, at: /Research, users: [dan]}
"""


class House:
    """A service with people; asked in the name of each."""

    def __init__(self, served: Served, place: Path) -> None:
        self.served, self.place = served, place
        self.tokens: dict[str, str] = {}

    def apply(self, text: str, *more: str, exits: int = 0) -> subprocess.CompletedProcess[str]:
        (self.place / "access.yaml").write_text(text)
        return self.run("", "access", "apply", str(self.place / "access.yaml"), *more, exits=exits)

    def run(self, who: str, *words: str, exits: int | None = 0) -> subprocess.CompletedProcess[str]:
        environment = dict(self.served.environment)
        if who:
            environment["FAIRHOLD_TOKEN"] = self.tokens[who]
        done = subprocess.run(
            [*ME, *words], capture_output=True, text=True, env=environment, timeout=LONGEST, check=False
        )
        assert exits is None or done.returncode == exits, done.stdout + done.stderr
        return done


@pytest.fixture(scope="module", params=["sums", "hidden"])
def house(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with Served(tmp_path_factory.mktemp("people")) as served:
        found = House(served, tmp_path_factory.mktemp("documents"))
        found.apply(ACCESS.replace("OTHERS", request.param))
        for user in ("ben", "dan"):
            found.tokens[user] = found.run("", "token", "create", "--user", user).stdout.strip()
        found.run("", "submit", "/Trading", "-n", "3", "--", "sleep", "60")
        found.run("ben", "submit", "/Research/Models", "-n", "3", "--", "sleep", "60")
        until(lambda: "running" in found.run("ben", "jobs").stdout)
        yield found


def test_who_asks_is_told_what_he_may(house: House) -> None:
    assert "may do everything" in house.run("", "whoami").stdout
    said = house.run("ben", "whoami").stdout
    assert re.search(r"^submitter +/Research$", said, re.MULTILINE)
    assert json.loads(house.run("ben", "whoami", "--json").stdout)["user"] == "ben"


COMMANDS = (
    ("top", "--once"),
    ("jobs", "--all"),
    ("show", "2"),
    ("explain", "2"),
    ("explain", "/Research"),
    ("explain", "/Research/Models"),
    ("status",),
    ("hosts",),
    ("usage",),
    ("usage", "--by", "consumer,user"),
    ("budgets",),
)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_commands_work_for_one_who_sees_a_part(house: House, words: tuple[str, ...]) -> None:
    said = house.run("ben", *words)
    assert "Trading" not in said.stdout + said.stderr
    assert "Traceback" not in said.stderr


@pytest.mark.parametrize(
    "words", [("plan", "show"), ("state",), ("hosts", "drain", "-"), ("audit",), ("stop",), ("access", "show")]
)
def test_what_he_may_not_is_refused_in_one_line_with_its_code(house: House, words: tuple[str, ...]) -> None:
    said = house.run("ben", *words, exits=1)
    assert "[not-allowed]" in said.stderr
    assert said.stderr.count("\n") == 2


def test_acting_for_others_is_a_right_of_its_own(house: House) -> None:
    job = house.run("", "submit", "/Research/Models", "--hold", "--user", "dan", "--", "true").stdout.strip()
    assert json.loads(house.run("", "show", job, "--json").stdout)["job"]["user"] == "dan"
    refused = house.run("ben", "submit", "/Research/Models", "--user", "dan", "--", "true", exits=1).stderr
    assert "`impersonate`" in refused


def test_a_job_of_others_is_not_there(house: House) -> None:
    assert house.run("ben", "cancel", "1", exits=2).stderr == house.run("ben", "cancel", "99", exits=2).stderr.replace(
        "99", "1"
    )


def test_plans_of_a_part_are_compared_and_applied(house: House) -> None:
    plan = house.place / "plan.yaml"
    plan.write_text(house.run("dan", "plan", "show").stdout.replace("limit: 2}", "limit: 1}"))
    assert "Trading" not in house.run("dan", "plan", "diff", str(plan)).stdout
    assert "is in force" in house.run("dan", "plan", "apply", str(plan), "--yes").stdout
    plan.write_text(plan.read_text().replace("/Trading: {owned: 2}", "/Trading: {owned: 1}"))
    assert "policies[0].consumers./Trading.owned" in house.run("dan", "plan", "apply", str(plan), exits=1).stderr


def test_tokens_are_listed_and_revoked(house: House) -> None:
    made = json.loads(house.run("ben", "token", "create", "--name", "other", "--expires", "1h", "--json").stdout)
    rows = house.run("ben", "token", "list").stdout
    assert re.search(rf"^ +{made['token']} +ben +other +good", rows, re.MULTILINE)
    assert "counts no more" in house.run("ben", "token", "revoke", str(made["token"])).stdout
    house.tokens["gone"] = made["text"]
    assert "[revoked-token]" in house.run("gone", "jobs", exits=None).stderr
    assert "dan" not in rows
    assert "[unknown-token]" in house.run("ben", "token", "revoke", "999", exits=None).stderr


def test_where_nothing_may_be_submitted_no_empty_list_of_leaves_is_told(house: House) -> None:
    before = house.run("", "access", "show").stdout
    house.apply(ACCESS.replace("OTHERS", "hidden").replace("at: /Research, users: [ben]", "at: /Nowhere, users: [ben]"))
    refused = house.run("ben", "submit", "/Nowhere", "--", "true", exits=None).stderr
    house.apply(before)
    assert "leaves are" not in refused
    assert "`fairhold whoami` shows" in refused


def test_a_number_that_is_none_is_refused_as_one(house: House) -> None:
    assert "`x` is not a whole number" in house.run("", "token", "revoke", "x", exits=2).stderr
    refused = house.run("", "token", "create", exits=2).stderr
    assert "name another one with `--user`" in refused


def test_a_document_at_fault_is_told_with_its_file_and_changes_nothing(house: House) -> None:
    before = house.run("", "access", "show").stdout
    refused = house.apply(ACCESS, exits=1).stderr
    assert f"{house.place / 'access.yaml'}:3: others: `OTHERS` is not a value of `others`" in refused
    assert house.run("", "access", "show").stdout == before
    assert "[access-changed]" in house.apply(before, "--from-version", "9", exits=1).stderr
    assert "both say the same" in house.apply(before, "--dry-run").stdout
    assert house.run("", "access", "diff", str(house.place / "access.yaml")).stdout.startswith("both say the same")
    assert re.search(r"^ +1 ", house.run("", "access", "versions").stdout, re.MULTILINE)


def test_the_record_is_shown_exported_followed_and_checked(house: House) -> None:
    shown = house.run("", "audit", "--user", "ben", "--action", "submit_job").stdout.splitlines()
    assert shown[0].split()[:3] == ["number", "at", "user"]
    assert "consumer: /Research/Models" in shown[1]
    lines = house.run("", "audit", "--all", "--json").stdout.splitlines()
    assert [json.loads(each)["seq"] for each in lines] == [*range(1, len(lines) + 1)]
    checked = house.run("", "audit", "check").stdout
    seen = checked.rpartition(": ")[2].strip()
    assert "each follows" in house.run("", "audit", "check", "--seen", seen).stdout
    forged = house.run("", "audit", "check", "--seen", f"{seen.partition(':')[0]}:{'0' * 64}", exits=1).stdout
    assert "is not the one that was seen" in forged
    assert "no records" in house.run("", "audit", "--action", "submit_jobs").stdout
    for line in ("3:abc", "foo"):
        refused = house.run("", "audit", "check", "--seen", line, exits=2).stderr
        assert f"`{line}` is not what a check printed; write NUMBER:HASH" in refused
    command = [*ME, "audit", "--follow", "--json", "--limit", "1"]
    environment = {**os.environ, **house.served.environment}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as following:
        assert following.stdout is not None
        following.stdout.readline()
        number = house.run("ben", "submit", "/Research/Models", "--hold", "--", "true").stdout.strip()
        while (record := json.loads(following.stdout.readline()))["target"] != number:
            pass
        following.kill()
    assert record["action"] == "submit_job"

"""What is kept from people: of others, sums without names, or nothing, in every answer."""

from __future__ import annotations

import asyncio
import json
import re
from base64 import b64decode
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.access.rights import rights_of
from fairhold.access.tokens import parse_token
from fairhold.runtime.live.auditing import Deed
from fairhold.service import streams
from fairhold.service.auth import Caller
from fairhold.service.news import News
from fairhold.service.veil import Veil, veiled
from tests.service.people import Staff, access_text, put_access
from tests.service.support import Bank

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PLAN = """\
fairhold: 1
cluster: bank
resource_groups: {compute: {slots: 4}}
consumers:
  Trading: {consumers: {Risk: {}, FX: {}}}
  Secret: {consumers: {Merger: {}, Spinoff: {}}}
  Research: {}
policies:
  - resource_groups: [compute]
    policy: hybrid
    consumers:
      /Trading: {owned: 2}
      /Secret: {owned: 2}
      /Secret/Merger: {owned: 2}
"""
NAMES = re.compile(r"Secret|Merger|Spinoff|Trading|Risk|\bFX\b|mallory|olga")
"""What ben, who works for /Research, is not to read."""
GETS = (
    "/consumers",
    "/consumers/explanation?consumer=/Research",
    "/allocations",
    "/jobs?all=1",
    "/jobs/3",
    "/jobs/3/tasks",
    "/jobs/3/explanation",
    "/jobs/3/forecast?draws=1",
    "/jobs/4/explanation",
    "/usage",
    "/usage?by=consumer,user,job,kind",
    "/hosts",
    "/status",
    "/events",
    "/health",
    "/me",
    "/tokens",
)


def filled(bank: Bank) -> None:
    """Jobs 1, 2 and 5 are of others: they run, are over, and wait; 3 is reclaimed from or waits, 4 waits."""
    bank.submit(consumer="/Secret/Merger", count=2, user="mallory", name="takeover", labels={"deal": "merger"})
    bank.submit(consumer="/Trading/FX", user="olga")
    bank.hub.wait_started(3)
    bank.submit(consumer="/Research", count=3, user="ben")
    bank.hub.wait_started(4)
    bank.submit(consumer="/Research", user="nightly")
    bank.submit(consumer="/Secret/Spinoff", count=5, user="mallory")


@pytest.fixture(scope="module", params=["hidden", "sums"])
def staff(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Staff]:
    with Bank(tmp_path_factory.mktemp("veil") / "state", plan=PLAN) as bank:
        found = Staff(bank, access_text(request.param))
        filled(bank)
        yield found


@pytest.mark.parametrize("path", GETS)
def test_no_answer_names_others(staff: Staff, path: str) -> None:
    whole = staff.get("ada", path)
    found = staff.get("ben", path)
    assert not NAMES.search(json.dumps(found)), found
    assert type(whole) is type(found)


def test_the_answers_have_names_of_others_for_who_sees_all(staff: Staff) -> None:
    told = "".join(json.dumps(staff.get("ada", path)) for path in GETS if path != "/me")
    assert {"Secret", "Merger", "mallory", "FX"} <= {*NAMES.findall(told)}


def test_consumers_of_others_are_one_row_or_none(staff: Staff) -> None:
    whole = {row["path"]: row for row in staff.get("ada", "/consumers")["resource_groups"]["compute"]["consumers"]}
    mine = {row["path"]: row for row in staff.get("ben", "/consumers")["resource_groups"]["compute"]["consumers"]}
    assert mine.pop("/Research") == whole["/Research"]
    if staff.bank.core.people.access.others == "hidden":
        assert mine == {}
        return
    others = mine.pop("others")
    assert mine == {}
    tops = [whole["/Trading"], whole["/Secret"]]
    for name in ("owned", "allocated", "demand", "waiting", "running"):
        assert others[name] == sum(row[name] for row in tops), name
    assert others["users"] == {}


def test_jobs_of_others_are_as_if_they_were_not_there(staff: Staff) -> None:
    assert [row["job"] for row in staff.get("ben", "/jobs")["jobs"]] == ["4", "3"]
    others = staff.bank.core.people.access.others
    whole = [row["job"] for row in staff.get("ada", "/jobs")["jobs"]]
    assert staff.get("ben", "/jobs")["others"] == (len(whole) - 2 if others == "sums" else None)
    assert staff.get("ada", "/jobs")["others"] is None
    assert staff.get("ben", "/jobs?consumer=/Secret")["jobs"] == []
    assert staff.get("ben", "/jobs?user=mallory")["jobs"] == []


ASKS: tuple[tuple[str, str, Any], ...] = (
    ("GET", "/jobs/{job}", None),
    ("GET", "/jobs/{job}?wait=0.1", None),
    ("GET", "/jobs/{job}/tasks", None),
    ("GET", "/jobs/{job}/explanation", None),
    ("GET", "/jobs/{job}/forecast", None),
    ("GET", "/jobs/{job}/tasks/0/output", None),
    ("POST", "/jobs/{job}/cancel", {}),
    ("POST", "/jobs/{job}/hold", {}),
    ("POST", "/jobs/{job}/release", {}),
    ("POST", "/jobs/{job}/requeue", {}),
    ("PATCH", "/jobs/{job}", {"priority": 1}),
    ("POST", "/jobs", {"consumer": "/Research", "argv": ["true"], "after": [{"job": "{job}"}]}),
    ("POST", "/jobs/check", {"consumer": "/Research", "argv": ["true"], "after": [{"job": "{job}"}]}),
)


@pytest.mark.parametrize(("method", "path", "body"), ASKS)
def test_no_error_tells_whether_a_job_is_there(staff: Staff, method: str, path: str, body: Any) -> None:
    def answer(job: str) -> tuple[int, str]:
        sent = None if body is None else json.loads(json.dumps(body).replace("{job}", job))
        head = {"Authorization": f"Bearer {staff.tokens['ben']}"}
        found = staff.bank.client.request(method, "/v1" + path.replace("{job}", job), headers=head, json=sent)
        return found.status_code, found.text.replace(job, "JOB")

    hidden, missing = answer("1"), answer("777")
    assert hidden == missing
    assert hidden[0] in {404, 422}


@pytest.mark.parametrize("path", ["/consumers/explanation?consumer={}", "/allocations?consumer={}"])
def test_no_error_tells_whether_a_consumer_is_there(staff: Staff, path: str) -> None:
    hidden, missing = (staff.get("ben", path.format(each), 403)["detail"] for each in ("/Secret", "/Sacred"))
    assert hidden.replace("/Secret", "X") == missing.replace("/Sacred", "X")


@pytest.mark.parametrize("consumer", ["/Secret/Merger", "/Secret/Mergers", "/Nowhere", "Secret", "/", "/Research2"])
def test_no_submit_outside_tells_what_is_there(staff: Staff, consumer: str) -> None:
    refused = staff.submit("ben", 403, consumer=consumer)
    assert refused["code"] == "not-allowed"
    assert refused["detail"].count(consumer) == 1


def test_a_misspelt_consumer_of_ones_own_suggests_nobody_elses(staff: Staff) -> None:
    refused = staff.submit("ben", 422, consumer="/Research/Merger")
    assert refused["code"] in {"unknown-consumer", "not-a-leaf"}
    assert "Secret" not in refused["detail"]


def test_one_does_not_move_a_job_to_others(staff: Staff) -> None:
    assert staff.ask("ben", "PATCH", "/jobs/3", 403, json={"consumer": "/Secret/Merger"})["code"] == "not-allowed"


def test_sums_by_people_alone_would_tell_of_others(staff: Staff) -> None:
    assert staff.get("ben", "/usage?by=user", 403)["code"] == "not-allowed"


def test_the_stream_of_events_is_kept_to_ones_own(staff: Staff) -> None:
    bank = staff.bank
    rights = rights_of(bank.core.people.access, "ben")

    async def follow() -> str:
        news = News(bank.desk)
        pieces = streams.stream(bank.store, news, 0, 0.05, streams.Sight(bank.core, lambda: rights))
        found = [await anext(pieces) for _ in range(2)]
        await pieces.aclose()  # type: ignore[attr-defined]
        return "".join(found)

    told = asyncio.run(follow())
    assert '"job":"3"' in told
    assert not NAMES.search(told)
    assert not re.search(r'"job":"[125]"', told)
    jobs = {row["attempt"]: row["job"] for row in bank.get("/events")["events"] if row["kind"] == "Started"}
    others = {attempt for attempt, job in jobs.items() if job in {"1", "2", "5"}}
    assert others
    assert not {int(each) for each in re.findall(r'"attempt":([0-9]+)', told)} & others


def test_a_stream_ends_when_its_reader_may_not_ask_any_more(tmp_path: Path) -> None:
    with Bank(tmp_path / "state", plan=PLAN) as bank:
        staff = Staff(bank, access_text())
        token = parse_token(staff.tokens["ben"])
        assert token is not None
        people = bank.core.people
        service = bank.app.state.service._replace(
            caller=Caller("ben", "token", people.rights("ben"), token.number), deed=Deed("", "", "", "")
        )
        left = access_text().replace("ben, ", "").replace("[ben, ", "[")
        ends = (
            (service, partial(staff.post, "ben", f"/tokens/{token.number}/revoke", {})),
            (service._replace(caller=service.caller._replace(token=0)), partial(put_access, bank, left)),
        )
        for asked, end in ends:
            sight = streams.Sight(bank.core, asked.renewed)
            assert not sight.is_over
            end()
            assert sight.is_over
            assert [*sight.documents([{"kind": "HostSet"}])] == []


def test_ones_own_job_is_seen_wherever_it_is(tmp_path: Path) -> None:
    with Bank(tmp_path / "state", plan=PLAN) as bank:
        staff = Staff(bank, access_text())
        bank.submit(consumer="/Secret/Merger", user="ben")
        assert staff.get("ben", "/jobs/1")["consumer"] == "others"
        assert [row["job"] for row in staff.get("ben", "/jobs")["jobs"]] == ["1"]
        assert "Merger" not in staff.post("ben", "/jobs/1/cancel", {}, 403)["detail"]


def test_all_is_shown_where_the_document_says_so(tmp_path: Path) -> None:
    with Bank(tmp_path / "state", plan=PLAN) as bank:
        staff = Staff(bank, access_text("all"))
        filled(bank)
        for path in ("/jobs", "/consumers", "/events", "/allocations"):
            told = [{*NAMES.findall(json.dumps(staff.get(who, path)))} for who in ("ben", "ada")]
            assert told[0] == told[1] >= {"Secret", "Merger"}
        assert staff.post("ben", "/jobs/1/cancel", {}, 403)["code"] == "not-allowed"
        assert staff.get("ben", "/jobs/1/tasks/0/output", 403)["code"] == "not-allowed"


HIDDEN = ("/S", "/S/a", "/S/a b")
VEIL = Veil(HIDDEN, lambda path: path in {"/R", "/R/x"}, frozenset({"/"}), lambda job: job == "3", is_whole=False)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"text": "lent to /S/a, and /R"}, {"text": "lent to others, and /R"}),
        ({"text": "lent to /S/a b."}, {"text": "lent to others."}),
        ({"text": "`/S/a`: /Sat /S-1 x/S"}, {"text": "`others`: /Sat /S-1 xothers"}),
        ({"text": "job 1 waits for job 3"}, {"text": "another job waits for job 3"}),
        ({"job": "1", "for": "/S"}, {"job": "", "for": "others"}),
        ({"/S": 1, "/S/a": 1, "/R": 2}, {"/R": 2, "others": 1}),
        ({"/S/a": {"cpu": "1/2"}, "/S/a b": {"cpu": "1/2", "gpu": "3"}}, {"others": {"cpu": "1", "gpu": "3"}}),
        (
            {"rows": [{"consumer": "/S/a", "user": "x", "n": 1}, {"consumer": "/S/a b", "user": "x", "n": 2}]},
            {"rows": [{"consumer": "others", "user": "", "n": 3}]},
        ),
        ({"/S/a": "0.25", "/S/a b": "1.5"}, {"others": "1.75"}),
        ({"/S/a": "1/3", "/S/a b": "1.5"}, {"others": "11/6"}),
        ({"hosts": ["h1", "/S"]}, {"hosts": ["h1", "others"]}),
        ({"taker": "/Gone", "lenders": ["/Gone", "/R"]}, {"taker": "others", "lenders": ["/R", "others"]}),
        ({"moved": {"/Gone": "/S", "/R": "/R/x"}}, {"moved": {"/R": "/R/x", "others": "others"}}),
        ({"argv": ["/bin/true"], "directory": "/srv"}, {"argv": ["/bin/true"], "directory": "/srv"}),
        (
            {"rows": [{"consumer": "/S/a", "unit": unit, "user": "12", "n": 1} for unit in ("", "GiB", "GiB")]},
            {"rows": [{"consumer": "others", "unit": unit, "user": "", "n": n} for unit, n in (("", 1), ("GiB", 2))]},
        ),
        ({"flag": True, "none": None, "n": 1.5}, {"flag": True, "none": None, "n": 1.5}),
    ],
)
def test_a_document_is_veiled_by_what_stands_in_it(document: Any, expected: Any) -> None:
    assert veiled(document, VEIL) == expected


def test_a_sum_counts_nothing_twice_whatever_consumers_are_called() -> None:
    veil = VEIL._replace(consumers=("/S", "/S-x", "/S/a", "/S/a-b", "/S/a/c"))
    paths = ("/S", "/S-x", "/S/a", "/S/a-b", "/S/a/c")
    rows = [{"path": path, "n": 1} for path in paths]
    assert veiled({"rows": rows}, veil) == {"rows": [{"path": "others", "n": 2}]}
    assert veiled(dict.fromkeys(paths, 1), veil) == {"others": 2}


@pytest.mark.parametrize("is_whole", [False, True])
def test_ones_own_path_is_told_with_all_that_is_above_it(*, is_whole: bool) -> None:
    veil = Veil(("/", "/S", "/S/mine", "/S/other"), "/S/mine".__eq__, frozenset({"/", "/S"}), lambda _: True, is_whole)
    text = "/S/mine of /S borrows from /S/other"
    assert veiled({"text": text, "parent": "/S"}, veil) == {
        "text": "/S/mine of /S borrows from others",
        "parent": "/S",
    }


def test_of_what_is_hidden_no_sum_is_left() -> None:
    hidden = VEIL._replace(is_whole=True)
    assert veiled({"/S": 1, "/R": 2, "rows": [{"path": "/S", "n": 1}]}, hidden) == {"/R": 2, "rows": []}
    assert veiled({"rows": [{"path": "/", "n": 9}]}, hidden) == {"rows": []}, "a sum of all holds that of others"


@pytest.mark.parametrize("column", ["name", "consumer", "user", "-job", "state"])
def test_cursors_of_sorted_jobs_tell_of_no_job_of_others(tmp_path: Path, column: str) -> None:
    with Bank(tmp_path / "state", plan=PLAN) as bank:
        staff, mine = Staff(bank, access_text("hidden")), []
        for number in range(12):
            is_mine = number in {4, 9}
            of: dict[str, Any] = (
                {"consumer": "/Research", "user": "ben"} if is_mine else {"consumer": "/Secret/Merger", "user": "olga"}
            )
            job = bank.submit(**of, name=f"{number % 7}-Merger" if not is_mine else "own", hold=True)["job"]
            bank.post(f"/jobs/{job}/cancel")
            mine += [job] if is_mine else []
        seen, cursor = [], ""
        while cursor is not None:
            page = staff.get("ben", f"/jobs?all=1&limit=1&sort={column}&cursor={cursor}")
            seen += [row["job"] for row in page["jobs"]]
            cursor = page["next"]
            told = b64decode(cursor.removeprefix("sort-"), b"-_").decode() if cursor else "[0, 0, 0]"
            assert str(json.loads(told)[2]) in {"0", *mine}
        assert sorted(seen, key=int) == mine

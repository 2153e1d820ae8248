"""The record: every change and refusal, in a chain that shows what was touched."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.ports import Retention
from fairhold.ports.people import RecordFilter
from fairhold.runtime.live.auditing import Deed
from fairhold.service.refusals import MOST_KINDS, PERIOD, SEVERAL, Refusals
from tests.service.people import Staff, access_text
from tests.service.support import PLAN, Bank
from tests.service.test_roles import NeverStopping

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def staff(bank: Bank) -> Staff:
    return Staff(bank, access_text())


def records(staff: Staff, query: str = "") -> list[Any]:
    """What is on the record, also of refusals, for which nobody waits."""
    staff.bank.desk.read(lambda _: None).result()
    return list(staff.get("ada", f"/audit?limit=1000{query}")["records"])


def told(record: Any) -> tuple[str, str, str, str]:
    return record["user"], record["action"], record["target"], record["outcome"]


def test_every_change_is_on_the_record_with_who_and_what(staff: Staff) -> None:
    job = staff.submit("ben", hold=True)["job"]
    staff.post("ben", f"/jobs/{job}/release", {})
    staff.ask("ben", "PATCH", f"/jobs/{job}", json={"priority": 3})
    staff.post("ben", f"/jobs/{job}/cancel", {})
    staff.post("ada", "/groups/compute/pause", {})
    staff.post("ada", "/hosts/-/close", {"reason": "dust"})
    staff.post("ada", "/hosts/-/open", {})
    assert [told(each) for each in records(staff)][-7:] == [
        ("ben", "submit_job", job, "done"),
        ("ben", "release_job", job, "done"),
        ("ben", "change_job", job, "done"),
        ("ben", "cancel_job", job, "done"),
        ("ada", "pause_group", "compute", "done"),
        ("ada", "close_host", "-", "done"),
        ("ada", "open_host", "-", "done"),
    ]
    last = records(staff)[-1]
    assert last["via"].startswith("token ")
    assert last["origin"] == "127.0.0.1"


def test_a_change_that_was_refused_is_on_the_record_with_its_code(staff: Staff) -> None:
    job = staff.submit("ben")["job"]
    staff.post("ben", f"/jobs/{job}/cancel", {})
    staff.bank.until(f"/jobs/{job}", "state", "cancelled")
    staff.post("ben", f"/jobs/{job}/hold", {}, 409)
    assert told(records(staff)[-1]) == ("ben", "hold_job", job, "job-over")


def test_who_stopped_the_service_is_on_the_record(tmp_path: Path) -> None:
    with Bank(tmp_path / "state", stopping=NeverStopping()) as bank:
        staff = Staff(bank, access_text())
        staff.post("ada", "/stop", {"how": "drain"}, 202)
        assert told(records(staff)[-1]) == ("ada", "stop", "drain", "done")


def test_a_plan_file_that_was_changed_is_on_the_record_at_the_next_start(tmp_path: Path) -> None:
    with Bank(tmp_path / "state"):
        pass
    with Bank(tmp_path / "state", plan=PLAN + "# changed\n") as bank:
        (record,) = bank.get("/audit")["records"]
        assert told(record) == ("ann", "serve", "plan 2", "done")
        assert (record["via"], record["origin"]) == ("plan file", "plan.yaml")


def test_who_only_looks_is_not_on_the_record(staff: Staff) -> None:
    before = len(records(staff))
    for path in ("/jobs", "/consumers", "/hosts", "/plan/versions"):
        staff.get("ada", path)
    staff.post("ben", "/jobs/check", {"consumer": "/Research", "argv": ["true"]})
    assert len(records(staff)) == before


def test_refusals_are_on_the_record_the_first_at_once_and_the_rest_as_a_sum(staff: Staff) -> None:
    bank = staff.bank
    for _ in range(5):
        bank.get("/jobs", 401, headers={"Authorization": "Bearer guessed"})
        staff.get("ben", "/audit", 403)
    found = records(staff)[-2:]
    assert [told(each) for each in found] == [("", "", "", "wrong-token"), ("ben", "list_records", "", "not-allowed")]
    keeper = bank.app.state.service.keeper
    keeper.close()
    bank.desk.read(lambda _: None).result()
    sums = records(staff)[-2:]
    assert [(each["outcome"], each["detail"]) for each in sums] == [
        ("wrong-token", {"count": 4}),
        ("not-allowed", {"count": 4}),
    ]


def test_a_stranger_cannot_fill_the_disk() -> None:
    refusals = Refusals()
    written = []
    for number in range(10_000):
        written += refusals.add(Deed("", "", f"10.0.{number // 256}.{number % 256}", ""), "no-token", 1.0)
    assert len(written) == MOST_KINDS
    rest = refusals.add(Deed("", "", "10.1.1.1", ""), "no-token", 1.0 + PERIOD)
    assert [(each.deed.origin, each.outcome, each.number) for each in rest] == [
        ("several", SEVERAL, 10_000 - MOST_KINDS),
        ("10.1.1.1", "no-token", 1),
    ]
    assert refusals.take() == []


def test_records_are_filtered(staff: Staff) -> None:
    staff.submit("ben")
    staff.submit("ben", 422, consumer="/Research/Nowhere")
    assert {each["user"] for each in records(staff, "&user=ben")} == {"ben"}
    assert [each["outcome"] for each in records(staff, "&action=submit_job&outcome=done")] == ["done"]
    assert records(staff, "&to=2001-01-01T00:00:00Z") == []
    assert records(staff, "&target=1")[0]["action"] == "submit_job"
    first = records(staff)[0]["seq"]
    page = staff.get("ada", f"/audit?after={first}&limit=2")
    assert [each["seq"] for each in page["records"]] == [first + 1, first + 2]
    assert page["next"] == first + 2
    last = records(staff)[-1]["seq"]
    page = staff.get("ada", f"/audit?before={last}&limit=2")
    assert [each["seq"] for each in page["records"]] == [last - 2, last - 1]


def test_who_waits_is_told_of_what_comes(staff: Staff) -> None:
    last = records(staff)[-1]["seq"]
    assert staff.get("ada", f"/audit?after={last}&wait=0.3")["records"] == []
    staff.submit("ben")
    assert staff.get("ada", f"/audit?after={last}&wait=5")["records"][0]["action"] == "submit_job"


def test_the_chain_is_whole_and_shows_what_was_touched(staff: Staff) -> None:
    staff.submit("ben")
    good = staff.get("ada", "/audit/check")
    assert (good["good"], good["broken"]) == (True, None)
    seen = f"{good['last']}:{good['hash']}"
    staff.submit("ben")
    assert staff.get("ada", f"/audit/check?seen={seen}")["good"]
    assert not staff.get("ada", f"/audit/check?seen={good['last']}:{'0' * 64}")["good"]
    assert "missing" in staff.get("ada", f"/audit/check?seen=999:{good['hash']}")["broken"]
    with closing(sqlite3.connect(staff.bank.place / "store.sqlite")) as connection, connection:
        connection.execute("UPDATE records SET user = 'eve' WHERE seq = 3")
    assert staff.get("ada", "/audit/check")["broken"] == "record 3 was changed"
    assert [(each.code, each.what) for each in staff.bank.store.check()] == [
        ("record-broken", "the record of what was done: record 3 was changed")
    ]


def test_the_chain_goes_on_over_a_restart(tmp_path: Path) -> None:
    for number in range(1, 3):
        with Bank(tmp_path / "state") as bank:
            bank.submit()
            found = bank.get("/audit/check")
            assert (found["good"], found["last"]) == (True, number)


def test_what_is_cleared_out_leaves_a_chain_that_can_be_followed(staff: Staff) -> None:
    for _ in range(3):
        staff.submit("ben")
    whole = records(staff)
    border = whole[3]
    at = staff.bank.store.records(border["seq"] - 1, RecordFilter(), 1)[0].at
    while staff.bank.store.compact(Retention(records=at)):
        pass
    left = records(staff)
    assert left[0]["at"] >= border["at"]
    found = staff.get("ada", "/audit/check")
    assert (found["good"], found["first"]) == (True, left[0]["seq"])
    with closing(sqlite3.connect(staff.bank.place / "store.sqlite")) as connection, connection:
        connection.execute("DELETE FROM records WHERE seq = ?", (left[0]["seq"],))
    assert not staff.get("ada", "/audit/check")["good"]


def test_all_may_be_cleared_out_and_the_numbers_go_on(tmp_path: Path) -> None:
    with Bank(tmp_path / "state") as bank:
        bank.submit()
        while bank.store.compact(Retention(records=2**60)):
            pass
    with Bank(tmp_path / "state") as bank:
        assert bank.get("/audit/check")["good"]
        bank.submit()
        found = bank.get("/audit/check")
        assert (found["good"], found["first"], found["last"]) == (True, 2, 2)

"""How much one person may ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.service.rates import Rates
from tests.service.people import Staff, access_text
from tests.service.support import Bank

if TYPE_CHECKING:
    from pathlib import Path


def limited(bank: Bank, limits: str) -> Staff:
    return Staff(bank, f"{access_text()}limits: {limits}\n")


def test_a_bucket_holds_a_second_and_fills_with_time() -> None:
    rates = Rates()
    assert [rates.take("ben", 3, 10.0) for _ in range(5)] == [True, True, True, False, False]
    assert rates.take("ada", 3, 10.0), "each has his own"
    assert [rates.take("ben", 3, 10.4) for _ in range(2)] == [True, False]
    assert [rates.take("ben", 3, 99.0) for _ in range(4)] == [True, True, True, False]
    assert all(rates.take("cy", 0, 1.0) for _ in range(1_000)), "0 is any number"


def test_who_asks_too_often_is_told_which_limit_and_others_are_not(bank: Bank) -> None:
    staff = limited(bank, "{requests: 2, people: {ada: {requests: 0}}}")
    answers = [bank.client.get("/v1/me", headers={"Authorization": f"Bearer {staff.tokens['ben']}"}) for _ in range(30)]
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert refused.json()["code"] == "too-many"
    assert "`requests` of `ben` is 2" in refused.json()["detail"]
    assert refused.headers["retry-after"] == "1"
    for _ in range(30):
        staff.get("ada", "/me")
        bank.get("/me")


def test_jobs_have_a_rate_of_their_own(bank: Bank) -> None:
    staff = limited(bank, "{submits: 1}")
    statuses = [
        bank.client.post(
            "/v1/jobs",
            json={"consumer": "/Research", "argv": ["true"], "hold": True},
            headers={"Authorization": f"Bearer {staff.tokens['ben']}"},
        ).status_code
        for _ in range(20)
    ]
    assert statuses[0] == 201
    assert 429 in statuses
    staff.get("ben", "/jobs")


def test_one_user_does_not_fill_a_leaf_for_the_others(bank: Bank) -> None:
    staff = limited(bank, "{waiting_in_leaf: 5}")
    staff.submit("ben", count=5, hold=True)
    refused = staff.submit("ben", 429)
    assert "`waiting_in_leaf` of `ben` is 5" in refused["detail"]
    staff.submit("nightly", count=5, hold=True)
    assert staff.submit("ben", 429)["code"] == "too-many"
    bank.submit(count=50)
    staff.post("ben", "/jobs/1/cancel", {})
    bank.core.waiting._users_counted_at = None
    staff.submit("ben", count=5)


def test_the_limit_of_a_leaf_is_kept_over_a_restart(tmp_path: Path) -> None:
    with Bank(tmp_path / "state") as bank:
        staff = limited(bank, "{waiting_in_leaf: 5}")
        staff.submit("ben", count=5, hold=True)
    with Bank(tmp_path / "state") as again:
        staff.bank = again
        assert staff.submit("ben", 429)["code"] == "too-many"


def test_the_limit_is_that_of_whose_the_job_is(bank: Bank) -> None:
    text = (
        access_text()
        + "  - {role: deputy, at: /Research, users: [zoe]}\nlimits: {people: {ben: {waiting_in_leaf: 1}}}\n"
    )
    staff = Staff(bank, text)
    assert staff.submit("zoe", 429, user="ben", count=2)["code"] == "too-many"
    staff.submit("zoe", count=2)


def test_a_job_is_not_moved_beyond_the_limit_of_a_leaf(bank: Bank) -> None:
    text = access_text() + "  - {role: submitter, at: /Trading, users: [ben]}\nlimits: {waiting_in_leaf: 5}\n"
    staff = Staff(bank, text)
    staff.submit("ben", count=5, hold=True)
    job = staff.submit("ben", count=5, hold=True, consumer="/Trading/FX")["job"]
    refused = staff.ask("ben", "PATCH", f"/jobs/{job}", 429, json={"consumer": "/Research"})
    assert "`waiting_in_leaf` of `ben` is 5" in refused["detail"]
    assert staff.ask("ben", "PATCH", f"/jobs/{job}", json={"consumer": "/Trading/Risk"})["consumer"] == "/Trading/Risk"

"""What is answered where the store cannot do what was asked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from fairhold.ports import StoreError, StoreFull
from fairhold.service.app import make_app
from tests.service.support import Client

if TYPE_CHECKING:
    from tests.service.support import Bank


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (StoreError("the disk answers nonsense"), 503),
        (StoreError("another program writes", "store-busy"), 503),
        (StoreError("the store is closed", "store-closed"), 503),
        (StoreError("a page is torn", "store-damaged"), 500),
        (StoreFull("no room"), 507),
    ],
)
def test_it_is_tried_again_where_that_may_help(
    bank: Bank, monkeypatch: pytest.MonkeyPatch, error: StoreError, status: int
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(bank.store, "plans", fail)
    answer = bank.client.get("/v1/plan/versions")
    found = answer.json()
    assert (answer.status_code, found["code"]) == (status, error.code)
    assert ("retry-after" in answer.headers) == (status != 500)
    assert found["faults"][0]["mend"]
    assert "torn" not in answer.text


def test_a_service_that_has_failed_is_to_be_asked_again(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise StoreError("the disk answers nonsense")

    monkeypatch.setattr(bank.core, "commit", fail)
    answer = bank.client.post("/v1/jobs", json={"consumer": "/Research", "argv": ["true"]})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.json()["code"] in {"failed", "stopping"}, "a round before this request may have failed"


@pytest.mark.parametrize("stands_by", [True, False])
def test_a_service_that_is_alone_answers_while_its_lease_cannot_be_renewed(bank: Bank, *, stands_by: bool) -> None:
    bank.desk.leads = lambda: False
    app = make_app(bank.desk, replace(bank.settings, stands_by=stands_by))
    client = Client(app, bank.head)
    client.open()
    try:
        answers = [client.get("/v1/health"), client.get("/v1/jobs")]
        assert [each.status_code for each in answers] == [503 if stands_by else 200] * 2
        if stands_by:  # another may lead by now
            assert answers[1].json()["code"] == "standby"
            assert "nobody may" in answers[1].json()["detail"]
    finally:
        client.close()


@pytest.mark.parametrize("stands_by", [True, False])
def test_what_comes_after_a_hand_over_is_for_the_other_service(bank: Bank, *, stands_by: bool) -> None:
    client = Client(make_app(bank.desk, replace(bank.settings, stands_by=stands_by)), bank.head)
    client.open()
    try:
        bank.desk.stop(hands_over=True)
        answer = client.post("/v1/jobs", json={"consumer": "/Research", "argv": ["true"]})
        assert (answer.status_code, answer.json()["code"]) == (503, "stopping")
        assert answer.headers.get("fairhold-leader") == ("" if stands_by else None)
    finally:
        client.close()

"""Who lends to whom over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.service.support import Bank


def test_a_consumer_is_told_of_whom_it_borrows_and_to_whom_it_lends(bank: Bank) -> None:
    job = bank.submit(count=4)["job"]
    bank.hub.wait_started(4)
    found = bank.get("/consumers/lending?consumer=/Research")
    assert found["resource_groups"]["compute"]["pairs"] == [
        {"lender": "/Trading", "borrower": "/Research", "resource": "slots", "units": 4}
    ]
    whole = bank.get("/consumers/lending?consumer=/Trading")["resource_groups"]["compute"]["pairs"]
    assert whole == found["resource_groups"]["compute"]["pairs"]
    assert bank.get("/consumers/lending?consumer=/Trading/FX")["resource_groups"] == {"compute": {"pairs": []}}
    bank.post(f"/jobs/{job}/cancel")
    assert bank.get("/consumers/lending?consumer=/Nobody", 404)["code"] == "unknown-consumer"

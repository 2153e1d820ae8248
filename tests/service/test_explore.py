"""Other numbers on the state of now, the coming windows, and usage in parts of the time."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from fairhold.units import parse_instant
from tests.service.support import PLAN, Bank

if TYPE_CHECKING:
    from pathlib import Path

WINDOWS = PLAN.replace("    policy: hybrid\n", "    policy: hybrid\n    window: Mon-Sun 08:00-18:00\n") + (
    "  - resource_groups: [compute]\n    policy: hybrid\n    consumers:\n      /Trading: {owned: 1}\n"
)


def test_other_numbers_are_told_and_nothing_is_changed(bank: Bank) -> None:
    bank.submit(count=9)
    bank.hub.wait_started(4)
    told = bank.get("/explore")
    assert {each["path"]: each["demand"] for each in told["consumers"]}["/Research"] == {"demand": 9}
    found = bank.post("/explore", {"changes": ["/Trading/FX:demand=3"], "consumer": "/Trading/FX"})
    quotas = {row["consumer"]: (row["before"], row["after"]) for row in found["differences"] if row["key"] == "quota"}
    assert quotas["/Trading/FX"] == (0, 3)
    assert quotas["/Research"] == (4, 1)
    assert found["findings"] == []
    assert [found["why"][when][0]["quota"] for when in ("before", "after")] == [0, 3]
    assert bank.get("/plan")["version"] == found["version"] == 1
    assert bank.get("/allocations")["allocations"][0]["consumer"] == "/Research"


def test_changes_become_a_text_of_the_plan_with_its_comments(tmp_path: Path) -> None:
    text = PLAN.replace("{owned: 2}", "{owned: 2}  # the desk's")
    with Bank(tmp_path / "state", plan=text) as bank:
        changes = ["/Trading:owned=3", "/Research:limit=4", "/Research:demand=2"]
        found = bank.post("/explore/draft", {"changes": changes})
        assert found["text"].startswith(text[: text.index("/Trading: {")])
        assert "/Trading: {owned: 3}  # the desk's" in found["text"]
        assert (found["version"], found["left_out"]) == (1, ["/Research:demand=2"])
        assert bank.post("/plan/check", {"text": found["text"]})["faults"] == []
        diff = bank.post("/plan/diff", {"text": found["text"]})
        assert {each["place"] for each in diff["settings"]} == {
            "policies[0].consumers./Trading.owned",
            "policies[0].consumers./Research.limit",
        }
        assert bank.post("/explore/draft", {"changes": ["/Nobody:owned=1"]}, 422)["code"] == "change"
        assert bank.get("/plan/schema")["properties"]["policies"]["items"]


def test_change_that_cannot_be_made_is_named(bank: Bank) -> None:
    told = bank.post("/explore", {"changes": ["/Trading:owned=9", "nonsense"]}, 422)
    assert told["code"] == "change"
    told = bank.post("/explore", {"changes": ["/Nobody:owned=1"]}, 422)
    assert "/Nobody" in told["detail"]
    assert bank.post("/explore", {"changes": [], "consumer": "/Nobody"}, 422)["code"] == "unknown-consumer"


def test_windows_ahead(tmp_path: Path) -> None:
    with Bank(tmp_path / "state", plan=WINDOWS) as bank:
        bank.submit(count=4)
        bank.hub.wait_started(4)
        told = bank.get("/windows?next=1d")
        assert len(told["switches"]) == 2
        assert "reclaims" not in told["switches"][0]
        assert all("reclaims" in each for each in bank.get("/windows?next=1d&reclaims=1")["switches"])
        assert bank.get("/windows?next=0s", 422)["code"] == "duration"


def test_usage_in_parts_sums_up_to_the_whole(bank: Bank) -> None:
    bank.submit(count=2)
    bank.hub.wait_started(2)
    begin = bank.get("/jobs/1")["submitted"]
    bank.until("/jobs/1", "state", "running")
    whole = bank.get("/usage", params={"from": begin, "by": "consumer"})
    parts = bank.get("/usage", params={"from": begin, "to": whole["to"], "by": "consumer", "step": "1s"})
    (used,) = {row["resource_seconds"] for row in whole["rows"]}
    assert sum(Decimal(row["resource_seconds"]) for row in parts["rows"]) == Decimal(used)
    spans = [(parse_instant(row["from"]) or 0, parse_instant(row["to"]) or 0) for row in parts["rows"]]
    assert all(first < last for first, last in spans)
    assert (spans[0][0], spans[-1][1]) == (parse_instant(begin), parse_instant(whole["to"]))
    assert bank.get("/usage", params={"from": begin, "consumer": "/Trading", "step": "1h"})["rows"] == []
    assert bank.get("/usage?step=1s", 422)["code"] == "out-of-range"


def test_jobs_are_found_by_a_part_of_what_they_are_called(bank: Bank) -> None:
    bank.submit(name="nightly fit")
    bank.submit(name="prices", consumer="/Trading/FX", hold=True)
    bank.hub.wait_started(1)
    names = {
        text: [job["job"] for job in bank.get("/jobs", params={"text": text})["jobs"]]
        for text in ("FIT", "fx", "2", "no")
    }
    assert names == {"FIT": ["1"], "fx": ["2"], "2": ["2"], "no": []}
    bank.post("/jobs/1/cancel")
    bank.until("/jobs/1", "state", "cancelled")
    assert [job["job"] for job in bank.get("/jobs?text=nightly&all=1")["jobs"]] == ["1"]
    assert bank.get("/jobs?text=prices&state=cancelled")["jobs"] == []


def test_consumers_around_one_of_them(bank: Bank) -> None:
    def paths(consumer: str) -> list[str]:
        found = bank.get("/consumers", params={"consumer": consumer})["resource_groups"]["compute"]["consumers"]
        return [each["path"] for each in found]

    assert paths("/Trading/FX") == ["/Trading", "/Trading/Risk", "/Trading/FX", "/Research"]
    assert paths("/Research") == ["/Trading", "/Research"]
    assert bank.get("/consumers?consumer=/Nobody", 404)["code"] == "unknown-consumer"

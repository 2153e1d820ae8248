"""Two clusters that differ only in what others do: who sees a part is answered alike in both."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from fairhold.runtime.clock import time_of_day
from fairhold.units import SECOND, format_instant
from tests.notifying.receivers import until
from tests.service.people import Staff, access_text
from tests.service.support import Bank

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOUR = 3600 * SECOND


class ManualClock:
    """Stands still unless it is set."""

    def __init__(self, instant: int) -> None:
        self.instant = instant

    def now(self) -> int:
        return self.instant


class World(NamedTuple):
    """What ben, of /Research, is not to know: who others are, what is theirs, and who of them does what."""

    trading: str
    secret: str
    prices: str
    budgets: str
    work: tuple[tuple[str, int, str], ...]


ONE = World("Trading", "Secret", "1", "100", (("/Trading/Low", 1, "olga"), ("/Secret/Low", 2, "cy")))
OTHER = World("Bonds", "Sacred", "7", "300", (("/Bonds/Low", 2, "cy"), ("/Sacred/Top", 1, "zoe")))
PLAN = """\
fairhold: 1
cluster: bank
time_zone: Europe/Zurich
resource_groups: {{compute: {{slots: 8}}}}
prices:
  currency: CHF
  rates:
    - {{resource: slots, per_hour: 2, consumer: /Research}}
    - {{resource: slots, per_hour: {0.prices}, consumer: /{0.secret}}}
    - {{resource: slots, per_hour: {0.prices}, consumer: /{0.trading}}}
consumers:
  {0.trading}: {{consumers: {{Low: {{}}, Top: {{}}}}}}
  {0.secret}: {{consumers: {{Low: {{}}, Top: {{}}}}}}
  Research: {{}}
policies:
  - resource_groups: [compute]
    policy: hybrid
    consumers:
      /{0.trading}: {{owned: 2}}
      /{0.secret}: {{owned: 2, budget: {{unit_hours: {0.budgets}, period: day, then: borrow_only}}}}
      /Research: {{owned: 2}}
"""


def asked(world: World) -> tuple[str, ...]:
    """What ben asks, of others too."""
    paths = ("/Research", f"/{world.trading}", f"/{world.secret}", f"/{world.secret}/Low")
    return (
        *("/consumers", "/jobs?all=1", "/jobs/3", "/jobs/3/tasks", "/jobs/3/explanation", "/jobs/3/forecast?draws=3"),
        *("/hosts", "/status", "/events", "/health", "/allocations", "/consumers?since=0", "/consumers?since=1"),
        *("/usage", "/usage?by=consumer,kind", "/usage?by=consumer,user,job,label:deal,kind"),
        *(
            "/jobs?text=cy",
            "/jobs?text=Low",
            "/jobs?user=cy",
            "/jobs?user=olga",
            "/jobs?label=deal:cy",
            "/jobs?sort=user",
        ),
        *(
            "/me",
            "/tokens",
            "/me/notifications",
            "/events?after=8&limit=100",
            "/usage?by=consumer,hour",
            "/jobs?state=running",
        ),
        *(
            f"{address}consumer={path}"
            for path in paths
            for address in (
                *("/usage?", "/usage?by=consumer,kind&", "/consumers?", "/consumers/lending?", "/jobs?"),
                *("/allocations?", "/consumers/explanation?"),
            )
        ),
    )


class Watched(NamedTuple):
    world: World
    staff: Staff

    def answers(self) -> dict[str, Any]:
        """Address → what ben is answered, without fractions of seconds, and with the names of one world."""
        found = {}
        for address in asked(self.world):
            head = {"Authorization": f"Bearer {self.staff.tokens['ben']}"}
            answer = self.staff.bank.client.request("GET", f"/v1{address}", headers=head)
            found[self._plain(address)] = json.loads(self._plain(f'{{"s": {answer.status_code}, "a": {answer.text}}}'))
            told = found[self._plain(address)]["a"]
            if "events" in told:  # their order depends on threads
                told["events"] = sorted({json.dumps(event) for event in told["events"]})
        return found

    def _plain(self, text: str) -> str:
        text = text.replace(self.world.trading, ONE.trading).replace(self.world.secret, ONE.secret)
        text = re.sub(r"(T\d\d:\d\d:\d\d)\.\d+", r"\1", text)
        text = re.sub(r'"(seq|next|entries|uptime)": ?[\d.]+', r'"\1": 0', text)
        text = re.sub(r'"started": ?"[^"]*"', '"started": ""', text)
        return re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.1f}", text)


def all_run(bank: Bank) -> bool:
    return [each["kind"] for each in bank.get("/events")["events"]].count("Running") == 8


@pytest.fixture(params=["hidden", "sums"])
def worlds(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[Watched]]:
    """With sums, what others pay in all is no secret, so that their prices are the same."""
    both = (ONE, OTHER if request.param == "hidden" else OTHER._replace(prices=ONE.prices))
    begin = time_of_day() // HOUR * HOUR + SECOND // 2  # of today, as tokens end by the time of day
    clocks = [ManualClock(begin), ManualClock(begin)]
    banks = [
        Bank(tmp_path / world.secret, plan=PLAN.format(world), clock=clock)
        for world, clock in zip(both, clocks, strict=True)
    ]
    with banks[0], banks[1]:
        found = []
        for world, bank, clock in zip(both, banks, clocks, strict=True):
            text = access_text(request.param).replace("/Trading/Risk", f"/{world.trading}/Top")
            staff = Staff(bank, text.replace("/Trading", f"/{world.trading}"))
            for consumer, count, user in world.work:
                bank.submit(consumer=consumer, count=count, user=user, name=f"{user}s", labels={"deal": user})
            bank.hub.wait_started(3)
            bank.submit(consumer="/Research", count=9, user="ben", labels={"deal": "mine"})
            bank.hub.wait_started(8)
            until(partial(all_run, bank))
            clock.instant += 2 * HOUR
            found.append(Watched(world, staff))
        yield found


def test_no_answer_tells_apart_two_clusters_that_differ_in_what_others_do(worlds: list[Watched]) -> None:
    one, other = (each.answers() for each in worlds)
    assert one.keys() == other.keys()
    assert sum(answer["s"] == 200 for answer in one.values()) >= 35
    for address, answer in one.items():
        assert other[address] == answer, address


def test_usage_of_others_is_one_row_with_all_that_they_used(worlds: list[Watched]) -> None:
    for world, staff in worlds:
        end = format_instant(staff.bank.core.now() // HOUR * HOUR)
        whole, found = (staff.get(who, f"/usage?by=consumer,user,job,label:deal&to={end}") for who in ("ada", "ben"))
        assert found["capacity"] == whole["capacity"]
        mine = [row for row in whole["rows"] if row["consumer"] == "/Research"]
        others = [row for row in whole["rows"] if row["consumer"] != "/Research"]
        if staff.bank.core.people.access.others == "hidden":
            assert found["rows"] == mine
            assert found["cost"] == mine[0]["cost"]
            assert found["balance"] == []
            continue
        *shown, rest = found["rows"]
        assert shown == mine
        assert Decimal(rest["resource_seconds"]) == sum(Decimal(row["resource_seconds"]) for row in others)
        assert rest | {"resource_seconds": "", "cost": ""} == {
            "consumer": "others",
            "user": "",
            "job": "",
            "label:deal": "",
            "resource": "slots",
            "unit": "",
            "resource_seconds": "",
            "cost": "",
        }
        assert (found["cost"], found["balance"]) == (whole["cost"], whole["balance"])
        assert world.secret not in json.dumps(found)

"""Random plans with windows, and states for them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fairhold.planio.plan import parse_plan

if TYPE_CHECKING:
    from random import Random

    from fairhold.model.plan import Plan

GROUP = "compute"
HOSTS = {"hosts": [{"name": "a[1-3]", "slots": 5}, {"name": "b", "slots": 4}, {"name": "c", "slots": 1}]}
TREE = {
    "A": {"reclaim_grace": "2s", "consumers": {"a1": {"rank": 1}, "a2": {}}},
    "B": {"reclaim_grace": "0s"},
    "C": {"reclaim_grace": "1s"},
}
DAY = {"/A": {"owned": 16, "reserved": 2}, "/A/a1": {"owned": 4}, "/C": {"limit": 12}}
NIGHT = {"/A": {"owned": 2, "rank": 3}, "/A/a2": {"rank": 2}, "/B": {"owned": 14, "rank": 2, "reclaim_grace": "500ms"}}


def entry(consumers: dict[str, Any], window: str = "", **settings: object) -> dict[str, Any]:
    more = {"window": window} if window else {}
    return {"resource_groups": [GROUP], "policy": "hybrid", "settings": settings, "consumers": consumers} | more


def plan_of(*entries: dict[str, Any], group: dict[str, Any] = HOSTS, zone: str = "UTC", **more: Any) -> Plan:
    document = {"fairhold": 1, "time_zone": zone, "resource_groups": {GROUP: group}, "consumers": TREE}
    return parse_plan(json.dumps(document | {"policies": list(entries)} | more), "plan")[0]


def minutes(dice: Random, days: str = "Thu") -> str:
    """A window of some of the first twenty minutes of a day, never all."""
    found = sorted(dice.sample(range(20), dice.randint(1, 6)))
    return ", ".join(f"{days} 00:{at:02d}-00:{at + 1:02d}" for at in found)


def random_plan(dice: Random, *, with_lead: bool = True) -> Plan:
    def lead() -> Any:
        return dice.choice(["0s", "auto", "2s", "30s"]) if with_lead else "0s"

    day, night = (DAY, NIGHT) if dice.random() < 0.5 else (NIGHT, DAY)
    group = HOSTS if dice.random() < 0.7 else {"slots": 20}
    evenly = dice.random() < 0.3
    return plan_of(
        entry(day, minutes(dice), lead=lead(), distribute_evenly=evenly), entry(night, lead=lead()), group=group
    )

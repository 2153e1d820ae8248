"""The same quotas once more for `fairhold verify`: by path, ticket by ticket, and without a line of the division."""

from __future__ import annotations

from hashlib import shake_256
from math import floor
from typing import TYPE_CHECKING

from fairhold.reference.quotas import owned_now
from fairhold.reference.quotas.level import Entitlement

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.reference.consumers import Consumers


def recompute(consumers: Consumers, slots: int, demand: Mapping[str, int]) -> Entitlement:
    """All quotas of one resource group."""
    scale = owned_now(consumers, slots)
    need: dict[str, int] = {}
    sure: dict[str, int] = {}
    for path in consumers.upward:
        mine = consumers[path]
        wanted = sum(need[child] for child in mine.children) if mine.children else demand[path]
        need[path] = min(wanted, mine.limit)
        of_its_own = min(need[path], mine.owned, floor(scale[path]))
        sure[path] = min(mine.limit, max(of_its_own, sum(sure[child] for child in mine.children)))
        if path != "/" and not _tickets(consumers, path):
            need[path] = sure[path]
    quota = {"/": slots}
    for path in consumers.order:
        quota |= _draw(consumers, path, quota[path], sure, need)
    quota["/"] = sum(quota[child] for child in consumers["/"].children)
    return Entitlement(demand, need, dict.fromkeys(quota, 0), scale, quota, ceiling=dict(quota))


def _tickets(consumers: Consumers, path: str) -> int:
    return int(consumers[path].stated.more.get("tickets", 1))


def _draw(consumers: Consumers, path: str, slots: int, sure: dict[str, int], need: dict[str, int]) -> dict[str, int]:
    """What each consumer below a path gets of so many slots."""
    found = {child: sure[child] for child in consumers[path].children}
    for draw in range(1, slots - sum(found.values()) + 1):
        tickets = [
            (_number(consumers, draw, child, ticket), place, child)
            for place, child in enumerate(found)
            if found[child] < need[child]
            for ticket in range(_tickets(consumers, child))
        ]
        if not tickets:
            break
        found[min(tickets)[-1]] += 1
    return found


def _number(consumers: Consumers, draw: int, path: str, ticket: int) -> int:
    """What is written on a ticket in a draw."""
    seed = consumers["/"].entry.settings.more.get("seed", 0)
    text = f"{seed}\n{consumers.group}\n{draw}\n{path}"
    return int.from_bytes(shake_256(text.encode()).digest(8 * ticket + 8)[-8:], "big")

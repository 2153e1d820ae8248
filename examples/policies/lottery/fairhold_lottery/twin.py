"""The same quotas once more for `fairhold verify`: by path, ticket by ticket, and without a line of the division."""

from __future__ import annotations

from fractions import Fraction
from hashlib import shake_256
from math import floor
from typing import TYPE_CHECKING

from fairhold.cycle.verify import TOP, Quotas

if TYPE_CHECKING:
    from fairhold.cycle.verify import Sheet


def recompute(sheet: Sheet) -> Quotas:
    """All quotas of one resource group."""
    scale = Fraction(sheet.slots, sheet.configured) if sheet.configured else Fraction(0)
    owned_now = {path: sheet.owned[path] * scale for path in sheet.paths}
    need: dict[str, int] = {}
    sure: dict[str, int] = {}
    for path in reversed(sheet.paths):
        below = sheet.children[path]
        wanted = sum(need[child] for child in below) if below else sheet.usable[path]
        need[path] = min(wanted, sheet.limit[path])
        of_its_own = min(need[path], sheet.owned[path], floor(owned_now[path]))
        sure[path] = min(sheet.limit[path], max(of_its_own, sum(sure[child] for child in below)))
        if path != TOP and not _tickets(sheet, path):
            need[path] = sure[path]
    quota = {TOP: sheet.slots}
    for path in sheet.paths:
        quota |= _draw(sheet, path, quota[path], sure, need)
    quota[TOP] = sum(quota[child] for child in sheet.children[TOP])
    reserve = dict.fromkeys(sheet.paths, 0)
    return Quotas(owned_now, reserve, need, sure, sure, quota, most=dict(quota), entitled=dict(quota))


def _tickets(sheet: Sheet, path: str) -> int:
    return int(sheet.more[path].get("tickets", 1))


def _draw(sheet: Sheet, path: str, slots: int, sure: dict[str, int], need: dict[str, int]) -> dict[str, int]:
    """What each consumer below a path gets of so many slots."""
    found = {child: sure[child] for child in sheet.children[path]}
    for draw in range(1, slots - sum(found.values()) + 1):
        tickets = [
            (_number(sheet, draw, child, ticket), place, child)
            for place, child in enumerate(found)
            if found[child] < need[child]
            for ticket in range(_tickets(sheet, child))
        ]
        if not tickets:
            break
        found[min(tickets)[-1]] += 1
    return found


def _number(sheet: Sheet, draw: int, path: str, ticket: int) -> int:
    """What is written on a ticket in a draw."""
    text = f"{sheet.settings.more.get('seed', 0)}\n{sheet.group}\n{draw}\n{path}"
    return int.from_bytes(shake_256(text.encode()).digest(8 * ticket + 8)[-8:], "big")

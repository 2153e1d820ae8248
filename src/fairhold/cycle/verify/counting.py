"""What budgets and user limits leave of a consumer (R-BUDGET-1 to R-BUDGET-4, R-USER-1)."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.cycle.verify.rooms import never_on_hosts
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.cycle.verify.books import Books
    from fairhold.cycle.verify.sheet import Sheet
    from fairhold.model.plan import ConsumerSettings, Plan
    from fairhold.model.state import Request, State

LAST = 10**18
"""No rank of a plan is so bad."""
HOUR = 3600


def spent_now(plan: Plan, state: State, group: str, of: Mapping[str, ConsumerSettings]) -> dict[str, str]:
    """Path → what follows, of those whose budgets are used up.

    of : path → what its policy entry in force states
    """
    found = {}
    for path, settings in of.items():
        seconds = state.spent.get((plan.tree.rows[path], group), 0)
        if settings.budget is not None and seconds >= settings.budget.unit_hours * HOUR:
            found[path] = settings.budget.then
    return found


def without_budgets(
    of: Mapping[str, ConsumerSettings], spent: Mapping[str, str], owners: set[str]
) -> dict[str, ConsumerSettings]:
    """What counts of the settings: who waits or borrows because of a budget reserves nothing, who borrows owns nothing.

    owners : paths under `ownership`: what they own stays theirs to lend
    """
    found: dict[str, ConsumerSettings] = {}
    said: dict[str, frozenset[str]] = {}
    for path, settings in of.items():  # whoever is above comes first
        then = said.get(_above(path), frozenset()) | ({spent[path]} if path in spent else frozenset())
        said[path] = then
        if "borrow_only" in then and path not in owners:
            found[path] = replace(settings, owned=0, reserved=0)
        elif {"borrow_only", "wait"} & then:
            found[path] = replace(settings, reserved=0)
        else:
            found[path] = settings
    return found


def user_limits(of: Mapping[str, ConsumerSettings]) -> dict[str, int]:
    """Path → the most that one user may hold in a leaf: what the nearest consumer on the way up states."""
    found: dict[str, int] = {}
    for path, settings in of.items():  # whoever is above comes first
        own = settings.user_limit
        found[path] = found.get(_above(path), UNLIMITED) if own is None else own
    return found


def _above(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def is_under(sheet: Sheet, leaf: str, then: str) -> bool:
    """Whether a budget of a leaf, or of one above it, is used up and says so."""
    return any(sheet.spent.get(path) == then for path in sheet.chain(leaf))


def count(sheet: Sheet, books: Books) -> Sheet:
    """The sheet with the demand that counts: what is held, and what users and budgets allow to be granted."""
    held, by_request = books.held(sheet), books.held_by_request()
    counted = dict(sheet.demand)
    hosts = never_on_hosts(sheet, by_request)
    for leaf in sheet.leaves:
        counted[leaf] -= sum(_beyond(sheet, leaf, by_request, hosts).values())
    for key, units in hosts.items():
        leaf = sheet.holder[key]
        counted[leaf] = max(min(counted[leaf], held[leaf]), counted[leaf] - units)
    for leaf in sheet.leaves:
        if is_under(sheet, leaf, "wait"):
            counted[leaf] = min(counted[leaf], held[leaf])
    return replace(sheet, counted=counted, usable=counted, most=counted)


def room_of_users(sheet: Sheet, leaf: str, held: Mapping[str, int]) -> dict[str, int]:
    """User → units more that he may hold in a leaf; whoever has no name has no limit.

    held : request → units
    """
    room = dict.fromkeys((each.user for each in sheet.requests.values()), sheet.user_limit[leaf])
    for key, request in sheet.requests.items():
        if sheet.holder[key] == leaf:
            room[request.user] -= held.get(key, 0)
    return {user: UNLIMITED if not user else max(0, left) for user, left in room.items()}


def never_used(sheet: Sheet, held: Mapping[str, int]) -> Counter[str]:
    """Request → units that it wants and that hosts or the room of its user do not allow."""
    hosts = never_on_hosts(sheet, held)
    found = Counter(hosts)
    for leaf in sheet.leaves:
        found.update(_beyond(sheet, leaf, held, hosts))
    return +found


def _beyond(sheet: Sheet, leaf: str, held: Mapping[str, int], hosts: Mapping[str, int]) -> dict[str, int]:
    """Request → units that it waits for and cannot have in the room that its user has, served one after another.

    hosts : request → units that no host could take anyway
    """
    if sheet.user_limit[leaf] >= UNLIMITED:
        return {}
    lines: defaultdict[str, list[Request]] = defaultdict(list)
    for key, request in sheet.requests.items():
        if sheet.holder[key] == leaf and request.count > held.get(key, 0):
            lines[request.user].append(request)
    room, beyond = room_of_users(sheet, leaf, held), {}
    for user, line in lines.items():
        for request in sorted(line, key=lambda each: (-each.priority, each.submitted, each.id)):
            has = held.get(request.id, 0)
            wants = request.count - has - hosts.get(request.id, 0)
            starts_with = max(0, request.min_count - has)
            gets = 0 if starts_with > min(wants, room[user]) else min(wants, room[user])
            room[user] -= gets
            beyond[request.id] = wants - gets
    return beyond

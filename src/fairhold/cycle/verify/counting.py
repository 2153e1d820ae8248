"""The demand that budgets, user limits and hosts allow (R-BUDGET-1 to R-BUDGET-4, R-USER-1, R-SITE-2)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.cycle.verify.rooms import alike, elsewhere, is_on_one, sizes_for
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.cycle.verify.books import Books
    from fairhold.cycle.verify.sheet import Sheet
    from fairhold.model.plan import ConsumerSettings, Plan
    from fairhold.model.state import Request, State

LAST = 10**18
"""A rank after all ranks of a plan."""
HOUR = 3600


def spent_now(plan: Plan, state: State, group: str, of: Mapping[str, ConsumerSettings]) -> dict[str, str]:
    """Path → consequence (`then`), for consumers whose budget is used up.

    of : path → settings of its policy entry in force
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
    """The settings that count: with a used-up budget nothing is reserved; under `borrow_only` nothing is owned, too.

    owners : paths under `ownership`; what they own is still theirs to lend
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
    """Leaf → the most units that one user may hold there: the limit of the nearest consumer on the way up."""
    found: dict[str, int] = {}
    for path, settings in of.items():  # whoever is above comes first
        own = settings.user_limit
        found[path] = found.get(_above(path), UNLIMITED) if own is None else own
    return found


def _above(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def is_under(sheet: Sheet, leaf: str, then: str) -> bool:
    """Whether a used-up budget of a leaf, or of an ancestor, has this consequence."""
    return any(sheet.spent.get(path) == then for path in sheet.chain(leaf))


def count(sheet: Sheet, books: Books) -> Sheet:
    """The sheet with the demand that counts: held units, and units that hosts, users and budgets allow."""
    held, by_request, apart = books.held(sheet), books.held_by_request(), elsewhere(sheet, books)
    counted = dict(sheet.demand)
    never: dict[str, int] = {}
    together: dict[str, int] = {}
    lines: dict[str, list[Request]] = {}
    for key, request in sheet.requests.items():
        lines.setdefault(sheet.holder[key], []).append(request)
    for leaf, line in lines.items():
        line.sort(key=lambda each: (-each.priority, not each.min_count, each.submitted, each.id))
        takes = _takes(sheet, line, by_request, apart)
        shared = _together(line, takes, by_request)
        counted[leaf] += sum(shared.values()) - sum(each.count for each in line)
        together |= {each.id: shared[alike(each)] for each in line}
        never |= {each.id: max(0, each.count - max(takes[each.id], by_request[each.id])) for each in line}
    for leaf in sheet.leaves:
        if is_under(sheet, leaf, "wait"):
            counted[leaf] = min(counted[leaf], held[leaf])
    sheet = replace(sheet, counted=counted, usable=counted, most=counted, never=never, together=together)
    return replace(sheet, older=books.older(sheet.now))


def _together(line: list[Request], takes: Mapping[str, int], held: Mapping[str, int]) -> Counter[object]:
    """Units for which a leaf's requests count: those that share hosts together, for what they take or hold."""
    units: Counter[object] = Counter()
    has: Counter[object] = Counter()
    for request in line:
        units[alike(request)] += takes[request.id]
        has[alike(request)] += min(request.count, held.get(request.id, 0))
    return units | has


def _takes(sheet: Sheet, line: list[Request], held: Mapping[str, int], apart: Mapping[str, int]) -> dict[str, int]:
    """Request → units that hosts and its user's room allow, one request after another (R-SITE-2, R-USER-1).

    Hosts are shared as if no slot was held. The room of a user is his limit minus what he holds.

    line  : the requests of one leaf, gangs before others of their priority
    held  : request → units
    apart : request → units of these on unsuitable hosts; they take no slots of suitable hosts
    """
    room = room_of_users(sheet, sheet.holder[line[0].id], held)
    left: dict[object, int] = {}
    takes: dict[str, int] = {}
    for request in line:
        has = min(request.count, held.get(request.id, 0))
        sizes = sizes_for(sheet, request) if any(request.siting) else [UNLIMITED]
        free = left.setdefault(alike(request), sum(sizes))
        there = min(has, apart.get(request.id, 0))
        could = there + (min(free, max(sizes, default=0)) if is_on_one(request) else free)
        most = min(request.count, has + room[request.user], could)
        if most < request.min_count:
            most = min(has, could)
        takes[request.id] = most
        room[request.user] -= max(0, most - has)
        left[alike(request)] -= max(0, most - there)
    return takes


def room_of_users(sheet: Sheet, leaf: str, held: Mapping[str, int]) -> dict[str, int]:
    """User → further units that he may hold in a leaf. Requests without a user have no limit.

    held : request → units
    """
    room = dict.fromkeys((each.user for each in sheet.requests.values()), sheet.user_limit[leaf])
    for key, request in sheet.requests.items():
        if sheet.holder[key] == leaf:
            room[request.user] -= held.get(key, 0)
    return {user: UNLIMITED if not user else max(0, left) for user, left in room.items()}

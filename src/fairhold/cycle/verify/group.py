"""One whole cycle of one resource group, step by step (SPEC §8)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fairhold.cycle.verify.books import Batch, Books, Place, open_books, settle
from fairhold.cycle.verify.deciding import decide
from fairhold.cycle.verify.granting import Idle, grant, set_aside
from fairhold.cycle.verify.leaves import in_serving_order, put_on_hosts, serve
from fairhold.cycle.verify.leftover import hand_out, waiting
from fairhold.cycle.verify.lending import loans_after, taken_back
from fairhold.cycle.verify.owning import Parts, compute_owned
from fairhold.cycle.verify.quotas import Quotas, compute_quotas
from fairhold.cycle.verify.ratios import compute_shares
from fairhold.cycle.verify.sheet import TOP, Sheet, make_sheet
from fairhold.cycle.verify.switching import given_up, pin
from fairhold.cycle.verify.takers import NewNotice, pair

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.cycle.verify.reclaiming import Reclaim
    from fairhold.model.plan import Plan
    from fairhold.model.state import HeldUnits, State


@dataclass
class GroupCycle:
    """What a cycle does with one group.

    held_before : by path, after the stops and before the grants
    held        : by path, after the grants
    books       : after the cycle, without the new notices
    reasons     : leaf → reasons that a new notice of it may have
    loans       : (borrower, lender) → units that are lent
    """

    sheet: Sheet
    quotas: Quotas
    books: Books
    stops: Counter[Place]
    grants: Counter[Place]
    withdrawn: Counter[Place]
    notices: list[NewNotice]
    held_before: dict[str, int]
    held: dict[str, int]
    reasons: dict[str, tuple[str, ...]]
    loans: dict[tuple[str, str], int]

    @property
    def idle(self) -> int:
        """Idle units after the grants."""
        return max(0, self.sheet.slots - self.held[TOP])


def run_group(plan: Plan, state: State, group: str) -> GroupCycle:
    """Settle, quotas, grants, reclaims."""
    sheet = make_sheet(plan, state, group)
    quotas, parts = entitlements(sheet)
    books = open_books(plan, state, sheet)
    stops = settle(books, state, sheet)
    held_before = sheet.summed(books.held(sheet))
    idle, grants = _distribute(sheet, quotas, books, held_before)
    for place, units in grants.items():
        if place.request:
            books.batches[Batch(place.request, place.host, state.now)] += units
            books.fresh[Batch(place.request, place.host, state.now)] += units
        else:
            books.counts[place.consumer] += units
    books.kept = _still_kept(sheet, books.kept, grants)
    held = sheet.summed(books.held(sheet))
    aside = dict(idle.aside)
    for path in reversed(sheet.paths):
        if path in sheet.parent:
            aside[sheet.parent[path]] += aside[path]
    whole = {path: held[path] + aside[path] for path in sheet.paths}
    switched = given_up(sheet, quotas, held_before)
    noticed = books.noticed()
    pin(books, switched)
    loans = {} if parts is None else loans_after(sheet, parts, quotas.quota, held)
    gone = switched.copy()
    for leaf, units in _taken_back(sheet, quotas, loans, held, whole).items():
        gone[leaf] = max(gone[leaf], units)
    case, chosen, withdrawn = decide(sheet, quotas, books, held, whole, gone)
    new = {leaf: max(0, units - noticed[leaf]) for leaf, units in switched.items()}
    notices = pair(case, books, chosen, state.now, new)
    reasons = {leaf: _reasons(case, leaf) + (("window",) if new.get(leaf) else ()) for leaf in sheet.leaves}
    return GroupCycle(sheet, quotas, books, stops, grants, withdrawn, notices, held_before, held, reasons, loans)


def entitlements(sheet: Sheet) -> tuple[Quotas, Parts | None]:
    """All quotas of one group, by its policies, and what those of `ownership` are made of."""
    if sheet.owns_exactly:
        return compute_owned(sheet)
    return (compute_shares(sheet) if sheet.policy == "share_ratio" else compute_quotas(sheet)), None


def _taken_back(
    sheet: Sheet,
    quotas: Quotas,
    loans: dict[tuple[str, str], int],
    held: Mapping[str, int],
    whole: Mapping[str, int],
) -> Counter[str]:
    """What lenders take back beside `hybrid`, whatever is under notice (R-MIX-4)."""
    if not sheet.is_mixed:
        return Counter()
    missing = Counter({leaf: max(0, quotas.entitled[leaf] - whole[leaf]) for leaf in sheet.leaves})
    spare = Counter({leaf: max(0, held[leaf] - quotas.quota[leaf]) for leaf in sheet.leaves})
    return taken_back(replace(sheet, loans=loans), missing, spare)


def _distribute(sheet: Sheet, quotas: Quotas, books: Books, held: dict[str, int]) -> tuple[Idle, Counter[Place]]:
    """Grants of both passes; a leaf is handed no more than its gangs can use (R-GRANT-1..3)."""
    kept: Counter[str] = Counter()
    kept_for: Counter[str] = Counter()
    for entry in books.kept_on(sheet):
        kept[sheet.holder[entry.request]] += entry.units
        kept_for[entry.request] += entry.units
    most = quotas.need if sheet.is_fixed else quotas.quota
    room = {leaf: max(0, min(most[leaf], sheet.demand[leaf]) - held[leaf]) for leaf in sheet.leaves}
    requests = {leaf: in_serving_order(sheet, leaf) for leaf in sheet.leaves} if sheet.requests else {}
    by_request = books.held_by_request()
    while True:
        idle = set_aside(sheet, quotas, held, kept)
        most = {leaf: min(room[leaf], idle.reach(sheet, leaf)) for leaf in sheet.leaves}
        granted = grant(sheet, quotas, held, idle, room)
        served: dict[str, dict[str, int]] = {}
        for turn in (1, 2):
            if sheet.requests:
                served = {
                    leaf: serve(requests[leaf], by_request, kept_for, granted[leaf], sheet.switches[leaf].within)
                    for leaf in sheet.leaves
                }
            if turn == 1 and sheet.is_fixed:
                rest = {leaf: room[leaf] - granted[leaf] for leaf in sheet.leaves}
                now_held = {path: held[path] + units for path, units in sheet.summed(granted).items()}
                more = hand_out(
                    sheet, quotas, now_held, idle, room=rest, requests=waiting(sheet, served, by_request, rest)
                )
                granted = {leaf: granted[leaf] + more[leaf] for leaf in sheet.leaves}
        if not sheet.requests:
            return idle, +Counter({Place(leaf, "", ""): units for leaf, units in granted.items()})
        used = {leaf: sum(parts.values()) for leaf, parts in served.items()}
        stuck = [leaf for leaf in sheet.leaves if used[leaf] < granted[leaf]]
        if not stuck:
            return idle, put_on_hosts(sheet, books, served)
        # Nothing that others leave can help a leaf that had all it could get; of the rest the first gives way.
        for leaf in [leaf for leaf in stuck if granted[leaf] == most[leaf]] or stuck[:1]:
            room[leaf] = used[leaf]


def _still_kept(sheet: Sheet, kept: list[HeldUnits], grants: Counter[Place]) -> list[HeldUnits]:
    """Freed units that stay kept: what a leaf is granted comes off its own, in the order of the state (R-ASIDE-1)."""
    granted: Counter[str] = Counter()
    for place, units in grants.items():
        granted[place.consumer] += units
    still: list[HeldUnits] = []
    for entry in kept:
        leaf = sheet.holder[entry.request]
        used = min(entry.units, granted[leaf]) if entry.host not in sheet.down else 0
        granted[leaf] -= used
        if entry.units > used:
            still.append(replace(entry, units=entry.units - used))
    return still


def _reasons(case: Reclaim, leaf: str) -> tuple[str, ...]:
    """Reasons that a notice of a leaf can have: who holds too much above it, who misses something, what is lost."""
    sheet, claims = case.sheet, case.claims
    limited = case.held[leaf] > sheet.limit[leaf] or any(
        case.above_limit(path, claims[path].missing) > 0 for path in sheet.chain(leaf) if path not in (leaf, TOP)
    )
    missed = any(claims[path].missing > 0 for path in sheet.leaves) or claims[TOP].missing > 0
    facts = {"quota": missed, "limit": limited, "lost": case.lost > 0}
    return tuple(reason for reason, holds in facts.items() if holds) or ("quota",)

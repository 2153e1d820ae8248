"""One whole cycle of one resource group, step by step (SPEC §8)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from fairhold.cycle.verify.books import Batch, Books, Place, open_books, settle, shut
from fairhold.cycle.verify.claiming import claim, waived_by_path
from fairhold.cycle.verify.counting import count, room_of_users
from fairhold.cycle.verify.deciding import decide
from fairhold.cycle.verify.gangs import settled
from fairhold.cycle.verify.granting import Idle, grant, set_aside
from fairhold.cycle.verify.holding import Collection, apart, collecting, still_kept
from fairhold.cycle.verify.housing import most_on_hosts, move_in
from fairhold.cycle.verify.leaves import Line, Serving, in_serving_order, put_on_hosts
from fairhold.cycle.verify.leftover import hand_out, waiting
from fairhold.cycle.verify.lending import loans_after, taken_back
from fairhold.cycle.verify.owning import Parts, compute_owned
from fairhold.cycle.verify.quotas import Quotas, compute_quotas
from fairhold.cycle.verify.ratios import compute_shares
from fairhold.cycle.verify.reclaiming import Reclaim, make_claims
from fairhold.cycle.verify.restraint import hold_back, kept_young, missed
from fairhold.cycle.verify.returning import claim_and_give
from fairhold.cycle.verify.rooms import Rooms
from fairhold.cycle.verify.sheet import TOP, Sheet, make_sheet
from fairhold.cycle.verify.switching import given_up, leaving, pin
from fairhold.cycle.verify.takers import NewNotice, pair
from fairhold.cycle.verify.victims import not_noticed, spared_units

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.model.plan import Plan
    from fairhold.model.state import HeldUnits, State

    Distributed = tuple[Idle, Counter[Place], dict[str, Collection]]


@dataclass
class GroupCycle:
    """What a cycle does with one group.

    held_before : by path, after the stops and before the grants
    held        : by path, after the grants
    books       : after the cycle, without the new notices
    reasons     : leaf → reasons that a new notice of it may have
    loans       : (borrower, lender) → units that are lent
    observed    : notices that are not given (R-CONTROL-4)
    shortages   : leaf → since when it misses units, and whether it takes them back (R-CONTROL-3)
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
    observed: list[NewNotice]
    shortages: dict[str, tuple[int, bool]]

    @property
    def idle(self) -> int:
        """Idle units after the grants."""
        return max(0, self.sheet.slots - self.held[TOP])


def run_group(plan: Plan, state: State, group: str) -> GroupCycle:
    """Settle, quotas, grants, reclaims."""
    sheet = make_sheet(plan, state, group)
    books = open_books(plan, state, sheet)
    stops = settle(books, state, sheet)
    sheet = count(shut(books, sheet), books)
    sheet = move_in(sheet, books)
    quotas, parts = entitlements(sheet, books.held_by_request())
    held_before = sheet.summed(books.held(sheet))
    switched = given_up(sheet, held_before)
    idle, placed, held_for = _distribute(sheet, quotas, books, held_before, leaving(sheet, books, switched))
    grants = _book(sheet, books, placed, held_for)
    held = sheet.summed(books.held(sheet))
    whole = _whole(sheet, held, idle)
    shortages, waived = missed(sheet, quotas, whole)
    taking = {leaf: units - waived[leaf] for leaf, units in quotas.entitled.items() if not sheet.children[leaf]}
    quotas = replace(quotas, entitled={**quotas.entitled, **taking})
    sheet, quotas, waived, claimed = _claimed(sheet, quotas, books, held, whole, waived, switched)
    noticed = books.noticed()
    pin(books, switched)
    loans = {} if parts is None else loans_after(sheet, parts, quotas.quota, held)
    gone = switched.copy()
    for leaf, units in (*_taken_back(sheet, quotas, books, loans, held, whole).items(), *claimed.items()):
        gone[leaf] = max(gone[leaf], units)
    case, pieces, withdrawn = decide(sheet, quotas, books, held, whole, gone, waived)
    case.noticed = books.noticed()
    chosen = hold_back(sheet, case, pieces, switched, is_again=sheet.previous == sheet.now)
    new = {leaf: max(0, units - noticed[leaf]) for leaf, units in switched.items()}
    notices = pair(case, books, chosen, state.now, new)
    reasons = {leaf: _reasons(case, leaf) + (("window",) if new.get(leaf) else ()) for leaf in sheet.leaves}
    told = [each for each in notices if not sheet.switches[each.place.consumer].observe_only]
    observed = [each for each in notices if sheet.switches[each.place.consumer].observe_only]
    return GroupCycle(
        *(sheet, quotas, books, stops, grants, withdrawn, told, held_before, held, reasons, loans),
        observed=observed,
        shortages=shortages,
    )


def _book(sheet: Sheet, books: Books, placed: Counter[Place], held_for: Mapping[str, Collection]) -> Counter[Place]:
    """Book the grants as held, and keep units that are held for gangs; returns the grants."""
    grants, kept = apart(held_for, placed)
    for place, units in grants.items():
        if place.request:
            books.batches[Batch(place.request, place.host, sheet.now)] += units
            books.fresh[Batch(place.request, place.host, sheet.now)] += units
        else:
            books.counts[place.consumer] += units
    still = _still_kept(sheet, books.kept, grants)
    books.kept = [each for each in still if sheet.switches[sheet.holder[each.request]].hold_after is None] + kept
    return grants


def _whole(sheet: Sheet, held: Mapping[str, int], idle: Idle) -> dict[str, int]:
    """Path → held units plus units set aside inside."""
    aside = dict(idle.aside)
    for path in reversed(sheet.paths):
        if path in sheet.parent:
            aside[sheet.parent[path]] += aside[path]
    return {path: held[path] + aside[path] for path in sheet.paths}


def entitlements(sheet: Sheet, held: Mapping[str, int]) -> tuple[Quotas, Parts | None]:
    """All quotas of one group, and the parts of the quotas of `ownership`.

    Under `exclusive` no leaf uses more than its hosts have, and all is divided again (R-HOSTS-2).

    held : request → units
    """
    quotas, parts = settled(sheet, _by_policy)
    most = most_on_hosts(sheet, quotas.quota)[0] if sheet.is_exclusive else {}
    fewer = {leaf: units for leaf, units in most.items() if units < sheet.usable[leaf]}
    return entitlements(replace(sheet, usable={**sheet.usable, **fewer}), held) if fewer else (quotas, parts)


def _by_policy(sheet: Sheet) -> tuple[Quotas, Parts | None]:
    if sheet.policy.division:
        return sheet.policy.division.recompute(sheet), None
    if sheet.owns_exactly:
        return compute_owned(sheet)
    return (compute_shares(sheet) if sheet.policy.divides_by_ratio else compute_quotas(sheet)), None


def _claimed(  # noqa: PLR0917 - what a cycle knows, in its order
    sheet: Sheet,
    quotas: Quotas,
    books: Books,
    held: Mapping[str, int],
    whole: Mapping[str, int],
    waived: dict[str, int],
    switched: Counter[str],
) -> tuple[Sheet, Quotas, dict[str, int], Counter[str]]:
    """Missing units that only some hosts can serve: claimed there, or waived (R-SITE-4)."""
    if not sheet.is_sited:
        return sheet, quotas, waived, Counter()
    spared = {leaf: spared_units(books, sheet, leaf) for leaf in sheet.leaves}
    case = Reclaim(sheet, quotas, held, whole, books.noticed(), books.switching() | switched, 0, spared, waived)
    if sheet.owns_exactly and not sheet.is_mixed:
        claim_and_give(case)
    else:
        make_claims(case)
    claims = claim(case, books)
    entitled = {leaf: quotas.entitled[leaf] - units for leaf, units in claims.waived.items()}
    quotas = replace(quotas, entitled={**quotas.entitled, **entitled})
    return replace(sheet, claims=claims.on), quotas, waived_by_path(case, claims.waived), claims.units


def _taken_back(  # noqa: PLR0917 - what a cycle knows, in its order
    sheet: Sheet,
    quotas: Quotas,
    books: Books,
    loans: dict[tuple[str, str], int],
    held: Mapping[str, int],
    whole: Mapping[str, int],
) -> Counter[str]:
    """Units that lenders take back in a mixed group, whatever is under notice (R-MIX-4)."""
    if not sheet.is_mixed:
        return Counter()
    missing = Counter({leaf: max(0, quotas.entitled[leaf] - whole[leaf]) for leaf in sheet.leaves})
    young = {leaf: kept_young(sheet, leaf, not_noticed(books, sheet, leaf)) for leaf in sheet.leaves}
    spare = Counter({leaf: max(0, held[leaf] - max(quotas.quota[leaf], young[leaf])) for leaf in sheet.leaves})
    return taken_back(replace(sheet, loans=loans), missing, spare)


def _distribute(sheet: Sheet, quotas: Quotas, books: Books, held: dict[str, int], leave: Counter[str]) -> Distributed:
    """Grants of both passes, no more than gangs of a leaf can use (R-GRANT-1..3), and held units (R-HOLD-1).

    Units held for a gang are among the grants of the gang.
    """
    kept: Counter[str] = Counter()
    kept_for: Counter[str] = Counter()
    for entry in books.kept_on(sheet):
        kept[sheet.holder[entry.request]] += entry.units
        kept_for[entry.request] += entry.units
    by_request = books.held_by_request()
    gangs = collecting(sheet, books, quotas)
    kept = still_kept(sheet, quotas, gangs, kept, held)
    most = quotas.need if sheet.is_fixed else quotas.quota
    room = {leaf: max(0, min(most[leaf], sheet.counted[leaf]) - held[leaf]) for leaf in sheet.leaves}
    lines = _Lines(sheet, by_request, by_request - leave, kept_for)
    while True:
        idle = set_aside(sheet, quotas, held, kept)
        most = {leaf: min(room[leaf], idle.reach(sheet, leaf)) for leaf in sheet.leaves}
        granted = grant(sheet, quotas, held, idle, room)
        if sheet.is_fixed:
            rest = {leaf: room[leaf] - granted[leaf] for leaf in sheet.leaves}
            now_held = {path: held[path] + units for path, units in sheet.summed(granted).items()}
            wanting = waiting(sheet, lines.serve(granted), by_request, rest)
            more = hand_out(sheet, quotas, now_held, idle, room=rest, requests=wanting)
            granted = {leaf: granted[leaf] + more[leaf] for leaf in sheet.leaves}
        if not sheet.requests:
            return idle, +Counter({Place(leaf, "", ""): units for leaf, units in granted.items()}), {}
        rooms = Rooms(sheet, books) if sheet.is_sited else None
        held_for = {leaf: Collection(sheet, books, quotas, gang) for leaf, gang in gangs.items()}
        served = lines.serve(granted, rooms, held_for)
        used = {leaf: sum(parts.values()) for leaf, parts in served.items()}
        if too_much := [leaf for leaf in gangs if used[leaf] < kept[leaf]]:
            for leaf in too_much:
                kept[leaf] = used[leaf]
            continue
        stuck = [leaf for leaf in sheet.leaves if used[leaf] < granted[leaf]]
        if not stuck:
            idle.aside.update({leaf: idle.aside[leaf] + each.units for leaf, each in held_for.items()})
            return idle, put_on_hosts(sheet, books, served) if rooms is None else +rooms.grants, held_for
        # Nothing that others leave can help a leaf that had all it could get; of the rest the first gives way.
        for leaf in [leaf for leaf in stuck if granted[leaf] == most[leaf]] or stuck[:1]:
            room[leaf] = used[leaf]


class _Lines:
    """The requests of every leaf in serving order."""

    def __init__(
        self, sheet: Sheet, held: Mapping[str, int], stays: Mapping[str, int], kept: Mapping[str, int]
    ) -> None:
        self.lines = {
            leaf: Line(
                *(in_serving_order(sheet, leaf), held, stays, kept),
                within=sheet.switches[leaf].within,
                room_of=room_of_users(sheet, leaf, held),
            )
            for leaf in (sheet.leaves if sheet.requests else ())
        }

    def serve(
        self,
        granted: Mapping[str, int],
        rooms: Rooms | None = None,
        held_for: Mapping[str, Collection] = MappingProxyType({}),
    ) -> dict[str, dict[str, int]]:
        """Leaf → request → units of the leaf's grants, including units held for a gang."""
        return {
            leaf: Serving(line, granted[leaf], rooms, held_for.get(leaf)).run() for leaf, line in self.lines.items()
        }


def _still_kept(sheet: Sheet, kept: list[HeldUnits], grants: Counter[Place]) -> list[HeldUnits]:
    """Freed units that stay kept: grants of a leaf reduce its own, in the order of the state (R-ASIDE-1)."""
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
    """Valid reasons of a notice of a leaf: a limit above it, missing units of others, or lost slots."""
    sheet, claims = case.sheet, case.claims
    limited = case.held[leaf] > sheet.limit[leaf] or any(
        case.above_limit(path, claims[path].missing) > 0 for path in sheet.chain(leaf) if path not in (leaf, TOP)
    )
    missed = any(claims[path].missing > 0 for path in sheet.leaves) or claims[TOP].missing > 0
    facts = {"quota": missed, "limit": limited, "lost": case.lost > 0}
    return tuple(reason for reason, holds in facts.items() if holds) or ("quota",)

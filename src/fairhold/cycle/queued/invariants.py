"""Invariants of every cycle of queues (SPEC §10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.queued.open import count_all, count_moved
from fairhold.cycle.violation import Violation
from fairhold.kernels.vectors import count, fits, times, total
from fairhold.ledger.queues import is_preemptible
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fairhold.ledger.pools import PendingRequest, PoolBooks, Unit
    from fairhold.ledger.queues import Queues
    from fairhold.model.plan import Plan
    from fairhold.rules.pools.sweeps import Sweeps


def untrue_of_queues(plan: Plan, books: PoolBooks, sweeps: Sweeps, stood: Queues) -> Iterator[Violation]:
    """Violations in a cycle; `stood`: the amounts of queues before it."""
    now, paths = count_all(books, stood), plan.tree.paths
    yield from _limits_hold(now, paths, sweeps.placed)
    yield from _fixed_is_deserved(now, paths, [unit for unit in sweeps.placed if not is_preemptible(unit.asked)])
    yield from _moves_have_places(books, paths, sweeps)
    yield from _nothing_is_in_vain(paths, sweeps.placed)
    yield from _held_is_granted(now, books, paths)
    yield from _all_notices_are_needed(books, sweeps, paths)
    yield from _deserved_stays(now, count_moved(books, stood, sweeps.reservations), paths, sweeps.noticed)


def _touched(now: Queues, units: Iterable[Unit]) -> Iterator[tuple[int, int]]:
    """(row, place of the resource) of everything that units have a part in."""
    found = {
        (row, at)
        for unit in units
        for at, need in enumerate(unit.asked.unit)
        if need
        for row in now.terms.above[unit.asked.leaf][:-1]
    }
    yield from sorted(found)


def _limits_hold(now: Queues, paths: tuple[str, ...], placed: Iterable[Unit]) -> Iterator[Violation]:
    """Nothing is granted above a limit (R-SERVE-2)."""
    for row, at in _touched(now, placed):
        if now.held[at][row] > now.terms.limit[at][row]:
            yield Violation("limits_of_queues_hold", paths[row], f"holds {now.held[at][row]} after grants")


def _fixed_is_deserved(now: Queues, paths: tuple[str, ...], placed: Iterable[Unit]) -> Iterator[Violation]:
    """What is not preemptible is granted only within what is deserved (R-SERVE-2)."""
    for row, at in _touched(now, placed):
        if now.fixed[at][row] > now.terms.deserved[at][row]:
            yield Violation("what_is_fixed_is_deserved", paths[row], f"holds {now.fixed[at][row]} for good")


def _moves_have_places(books: PoolBooks, paths: tuple[str, ...], sweeps: Sweeps) -> Iterator[Violation]:
    """For every unit that is to move a place is held (R-CONTEST-6)."""
    for asked in books.asked.values():
        moving = sum(unit.notice is not None and unit.notice.is_move for unit in asked.units)
        if sweeps.reservations.units(asked) < moving:
            places = sweeps.reservations.units(asked)
            text = f"{moving} units of {asked.model.id} are to move, and {places} places are held"
            yield Violation("who_moves_has_a_place", paths[asked.leaf], text)


def _nothing_is_in_vain(paths: tuple[str, ...], placed: Iterable[Unit]) -> Iterator[Violation]:
    """No granted unit gets notice in the same cycle (R-SWEEP-3)."""
    for unit in placed:
        if unit.notice is not None:
            text = f"a unit of {unit.asked.model.id} was granted, and is told to go at once"
            yield Violation("nothing_is_placed_in_vain", paths[unit.asked.leaf], text)


def _held_is_granted(now: Queues, books: PoolBooks, paths: tuple[str, ...]) -> Iterator[Violation]:
    """What was granted on what had been held for it stays, and nothing that was held is free for who waits (R-SERVE-3).

    But what a limit, or what is deserved for good, allows no more of.
    """
    for unit in books.sure:
        if unit not in unit.asked.units or (unit.notice is not None and unit.notice.is_new):
            text = f"a unit of {unit.asked.model.id} was granted on what was held for it, and is taken back at once"
            yield Violation("what_is_held_is_granted", paths[unit.asked.leaf], text)
    if books.terms.settings.packing == "exclusive":  # others may stand beside it until they have gone
        return
    for asked, host in books.keeps:
        kept = total((parcel.kept[asked] for parcel in host.parcels if asked in parcel.kept), len(asked.unit))
        is_free = min(asked.waiting, count(asked.unit, kept)) >= max(1, asked.missing)
        if is_free and not host.is_closed and not _is_bound(now, asked):
            text = f"room for {asked.model.id} is held and free on {host.name}, and it is not granted"
            yield Violation("what_is_held_is_granted", paths[asked.leaf], text)


def _is_bound(now: Queues, asked: PendingRequest) -> bool:
    """Whether a limit, or what is deserved for good, could keep a request from what is held for it."""
    rows = now.terms.above[asked.leaf]
    return not is_preemptible(asked) or any(
        now.terms.limit[at][row] < UNLIMITED for row in rows for at in now.terms.resources
    )


def _all_notices_are_needed(books: PoolBooks, sweeps: Sweeps, paths: tuple[str, ...]) -> Iterator[Violation]:
    """Without any one unit under new notice some taker would lack room on its host (R-CONTEST-7).

    Looked at are units that go alone, and that neither a limit nor the order of queues can ask to go: no taker is of a
    queue that they are in.
    """
    new = [unit for unit in sweeps.noticed if unit.notice is not None and unit.notice.taker is not None]
    takers = {
        row for unit in new if unit.notice and unit.notice.taker for row in books.terms.above[unit.notice.taker.leaf]
    }
    for unit in new if books.terms.settings.packing != "exclusive" else ():
        assert unit.notice is not None
        assert unit.notice.taker is not None
        above = books.terms.above[unit.asked.leaf][:-1]
        is_gang = unit.asked.model.min_count > 1 and all(each.notice is not None for each in unit.asked.units)
        if is_gang or unit.notice.is_move or any(row in takers or row in books.terms.limit for row in above):
            continue
        taker, host = unit.notice.taker, unit.host
        reservation = sweeps.reservations.of[taker][host]
        there = [each.asked.unit for each in reservation.victims if each is not unit]
        there += [part for parcel in host.parcels for part in (parcel.idle, parcel.kept.get(taker, ())) if part]
        if fits(times(taker.unit, reservation.units), total(there, len(taker.unit))):
            text = (
                f"a unit of {unit.asked.model.id} is told to go, and {taker.model.id} has room on {host.name} without"
            )
            yield Violation("all_notices_are_needed", paths[unit.asked.leaf], text)


def _deserved_stays(now: Queues, moved: Queues, paths: tuple[str, ...], noticed: Iterable[Unit]) -> Iterator[Violation]:
    """No queue that others reclaim from ends below what it deserves, except by its own reclaims (R-CONTEST-2).

    Looked at where one resource alone is asked for, which is short then.
    """
    above = now.terms.above
    takers = [(unit.notice.taker, unit.asked.leaf) for unit in noticed if unit.notice and unit.notice.taker]
    inside = {row for taker, leaf in takers if taker.leaf == leaf for row in above[leaf]}
    taken: dict[tuple[int, int], None] = {}
    for taker, leaf in takers:
        asked = [at for at, need in enumerate(taker.unit) if need]
        if len(asked) == 1:
            taken |= dict.fromkeys((row, asked[0]) for row in above[leaf] if row not in {*above[taker.leaf], *inside})
    for row, at in taken:
        if moved.held[at][row] < min(now.terms.deserved[at][row], now.held[at][row]):
            text = f"keeps {moved.held[at][row]}, and deserves {now.terms.deserved[at][row]}"
            yield Violation("nobody_is_taken_below_what_it_deserves", paths[row], text)

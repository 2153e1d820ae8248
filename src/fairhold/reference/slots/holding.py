"""Units that are held for a gang that waits too long, and who may use them meanwhile (R-HOLD-1, R-HOLD-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.reference.needs import room_of_user

if TYPE_CHECKING:
    from fairhold.reference.situation import Situation, Wish
    from fairhold.reference.slots.placing import Places


def is_overdue(situation: Situation, wish: Wish, quota: int) -> bool:
    """Whether a gang below its minimum has waited for `hold_after`, and its minimum could ever fit.

    quota : of its leaf
    """
    settings = situation.consumers[wish.leaf].entry.settings
    if settings.hold_after is None or situation.now - wish.since < settings.hold_after:
        return False
    held = situation.held_by(wish.id)
    if not held < wish.minimum <= quota or wish.minimum - held > room_of_user(situation, wish.leaf, wish.user):
        return False
    hosts = situation.suitable_up(wish)
    if wish.packs:
        stands = {unit.host for unit in situation.units if unit.wish == wish.id}
        rooms = [situation.room[host] for host in hosts if not stands or host in stands]
        return wish.minimum <= max(rooms, default=0)
    return wish.minimum <= sum(situation.room[host] for host in hosts)


def collect(places: Places, wish: Wish, most: int) -> int:
    """Hold idle slots for a gang where it would be placed; how many.

    most : that its leaf has left
    """
    held = sum(unit.wish == wish.id for unit in places.units)
    needs = min(most, wish.minimum - held)
    collect_on = _collect_on_one_host if wish.packs else _collect_anywhere
    number = collect_on(places, wish, needs)
    places.idle_again(wish)  # the rest goes to others
    return number


def _collect_anywhere(places: Places, wish: Wish, needs: int) -> int:
    """On the hosts on which the gang would be placed."""
    before = places.marked()
    number = 0
    while number < needs:
        host = places.best(wish, 1, needs - number, is_overdue=True)
        if host is None:
            break
        places.place(wish, host)
        number += 1
    stands = [unit.host for unit in places.units[len(before[0]) :]]
    places.back(before)
    for host in stands:
        places.hold(wish, host)
    return number


def _collect_on_one_host(places: Places, wish: Wish, needs: int) -> int:
    """On one of the hosts that are large enough and have as many idle."""
    situation = places.situation
    stands = {unit.host for unit in places.units if unit.wish == wish.id}
    fit = [
        host
        for host in situation.suitable_up(wish)
        if situation.room[host] >= wish.minimum and (not stands or host in stands)
    ]
    number = min(needs, max((places.idle(host, wish, is_overdue=True) for host in fit), default=0))
    if number <= 0:
        return 0
    host = min(
        (host for host in fit if places.idle(host, wish, is_overdue=True) >= number),
        key=lambda host: places.order(host, wish, number),
    )
    for _ in range(number):
        places.hold(wish, host)
    return number


def may_start_at(places: Places, gang: Wish, quota: int) -> int | None:
    """T of R-HOLD-2: when room under the quota and enough units are there for a gang; None: nobody knows.

    quota : of its leaf
    """
    situation = places.situation
    mine = [unit for unit in places.units if unit.leaf == gang.leaf]
    needs = gang.minimum - sum(unit.wish == gang.id for unit in mine)
    collected = sum(units for (_, whose), units in places.collected.items() if whose == gang.id)
    ends = sorted(
        unit.started + situation.wishes[unit.wish].time_limit for unit in mine if situation.wishes[unit.wish].time_limit
    )
    coming = _coming(situation, gang.leaf)

    def is_enough(at: int) -> bool:
        ended = sum(end <= at for end in ends)
        return len(mine) - ended + needs <= quota and collected + ended + sum(end <= at for end in coming) >= needs

    return next((at for at in sorted({situation.now, *ends, *coming}) if is_enough(at)), None)


def lend(places: Places, gang: Wish, wish: Wish, units: int) -> bool:
    """Place all of these units of a request on what is held for a gang, or none."""
    before = places.marked()
    for number in range(units):
        together = units - number if wish.packs else 1
        stands = {unit.host for unit in places.units if unit.wish == wish.id} if wish.packs else set()
        fit = [
            host
            for host in places.situation.suitable_up(wish)
            if places.collected[host, gang.id] >= together and (not stands or host in stands)
        ]
        host = min(fit, key=lambda host: places.order(host, wish, 1), default=None)
        if host is None:
            places.back(before)
            return False
        places.lend(gang, wish, host)
    return True


def _coming(situation: Situation, leaf: str) -> list[int]:
    """Deadlines of units that come to a leaf by notices that were given before this instant."""
    paths = situation.consumers.plan.tree.paths
    found = []
    for unit in situation.units:
        notice = unit.notice
        if notice is None or notice.taker < 0 or paths[notice.taker] != leaf or unit.leaf == leaf:
            continue
        if notice.deadline != situation.now + situation.consumers[unit.leaf].grace:
            found.append(notice.deadline)
    return found

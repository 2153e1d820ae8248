"""Which units of a leaf go (R-VICTIM-1)."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

from fairhold.reference.ages import by_victims, is_young, kept_places

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from fairhold.reference.situation import Situation
    from fairhold.reference.slots.claiming import Claim


def order_of(situation: Situation, at: int) -> tuple[object, ...]:
    """Where a unit stands among those that go: who has run long enough first, then by `victims`, then listed last.

    Where hosts are given whole, hosts come before: that on which its leaf holds the fewest not under notice, on a tie
    the last (R-HOSTS-2).
    """
    unit = situation.units[at]
    host: tuple[int, int] = (0, 0)
    if situation.consumers[unit.leaf].entry.settings.packing == "exclusive":
        there = sum(each.leaf == unit.leaf and each.host == unit.host for each in situation.units if not each.notice)
        host = (there, -situation.hosts.index(unit.host))
    wish = situation.wishes[unit.wish]
    ids = sorted(situation.wishes)
    sign = 1 if situation.consumers[unit.leaf].entry.settings.victims == "oldest" else -1
    late = ids.index(wish.id) * sign
    deadline = (unit.notice.deadline, 0, at) if unit.notice else (0, situation.hosts.index(unit.host) * sign, at * sign)
    stays = unit.notice is not None and unit.notice.reason == "window"  # R-SWITCH-1: it is never withdrawn
    return (
        not stays,
        host,
        is_young(situation, unit),
        by_victims(situation, wish, unit.started),
        late,
        deadline,
    )


def choose(situation: Situation, leaf: str, ask: int, claims: Sequence[Claim] = ()) -> list[int]:
    """Places of units of a leaf that go, those under notice included: as many as are asked, or more for a gang.

    All choices of gangs to break are tried, the fewest first, those by `victims` first.

    claims : what has to go on which hosts, before all others (R-SITE-4)
    """
    every = [at for at, unit in enumerate(situation.units) if unit.leaf == leaf]
    mine = [at for at in every if at not in situation.granted]  # what this cycle grants it does not take back
    kept = kept_places(situation, leaf)
    goes: list[int] = []
    for hosts, number in claims:
        there = [at for at in mine if situation.units[at].host in hosts]
        runs = [at for at in every if at not in goes]
        goes += _choose(situation, [at for at in there if at in runs], runs, kept, number)
        goes += [at for at in mine if at not in goes and situation.units[at].wish in gangs_broken(situation, goes)]
    others = [at for at in mine if at not in goes]
    runs = [at for at in every if at not in goes]
    return sorted([*goes, *_choose(situation, others, runs, kept, ask - len(goes))])


def _choose(situation: Situation, candidates: list[int], runs: list[int], kept: Collection[int], ask: int) -> list[int]:
    """Of candidates those under notice first, then those that are not kept."""
    if ask <= 0:
        return []
    noticed = [at for at in candidates if situation.units[at].notice is not None]
    if ask <= len(noticed):
        return _first(situation, noticed, runs, ask)
    left = [at for at in runs if situation.units[at].notice is None]
    rest = [at for at in candidates if situation.units[at].notice is None]
    goes = _first(situation, [at for at in rest if at not in kept], left, ask - len(noticed))
    if len(noticed) + len(goes) < ask:
        goes = _first(situation, rest, left, ask - len(noticed))
    gangs = {situation.units[at].wish for at in noticed if situation.wishes[situation.units[at].wish].is_gang}
    for name in sorted(gangs.difference(situation.units[at].wish for at in goes)):
        spared = [at for at in noticed if situation.units[at].wish == name]
        if len(noticed) + len(goes) - len(spared) >= ask:  # fewer gangs break without it
            noticed = [at for at in noticed if at not in spared]
    loose = [at for at in _in_order(situation, noticed) if situation.units[at].wish not in gangs]
    over = min(len(loose), len(noticed) + len(goes) - ask)  # a gang gives more than was asked, others give less
    back = loose[len(loose) - over :] if over > 0 else []
    return [*(at for at in noticed if at not in back), *goes]


def _first(situation: Situation, candidates: list[int], runs: list[int], ask: int) -> list[int]:
    """So many of the candidates, or more where a gang stops whole. runs : all that runs on if nobody goes."""
    cores = _cores(situation, candidates, runs)
    loose = [at for at in candidates if all(at not in core for core in cores.values())]
    gangs = sorted(cores, key=lambda name: min(order_of(situation, at) for at in cores[name]))
    for number in range(len(gangs) + 1):
        for broken in combinations(gangs, number):
            whole = [at for at in candidates if situation.units[at].wish in broken]
            others = [at for at in loose if at not in whole]
            if len(whole) + len(others) >= ask:
                return [*whole, *_in_order(situation, others)[: max(0, ask - len(whole))]]
    return candidates


def _cores(situation: Situation, candidates: list[int], runs: list[int]) -> dict[str, list[int]]:
    """Gang → candidates that go only with all of it. A gang that runs below its minimum has none: it is broken."""
    of: dict[str, list[int]] = {}
    for at in candidates:
        of.setdefault(situation.units[at].wish, []).append(at)
    found = {}
    for name, units in of.items():
        wish = situation.wishes[name]
        surplus = sum(situation.units[at].wish == name for at in runs) - wish.minimum
        if wish.is_gang and 0 <= surplus < len(units):
            found[name] = _in_order(situation, units)[surplus:]
    return found


def _in_order(situation: Situation, places: Iterable[int]) -> list[int]:
    return sorted(places, key=lambda at: order_of(situation, at))


def gangs_broken(situation: Situation, goes: Iterable[int]) -> set[str]:
    """Gangs that fall below their minimum when these units go."""
    gone = Counter(situation.units[at].wish for at in goes)
    return {
        name
        for name, units in gone.items()
        if situation.wishes[name].is_gang and situation.held_by(name) - units < situation.wishes[name].minimum
    }

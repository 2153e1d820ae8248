"""Which units of a leaf go, and which notices are withdrawn (SPEC §8, "Inside a leaf": R-VICTIM-1, R-NOTICE-1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fairhold.cycle.verify.books import Batch, Place, fewer
from fairhold.cycle.verify.restraint import kept_young, make_pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairhold.cycle.verify.books import Books
    from fairhold.cycle.verify.restraint import Piece
    from fairhold.cycle.verify.sheet import Sheet


Wishes = Sequence[tuple[tuple[str, ...], int]]
"""Hosts, and units that go there, one claim after another."""


def withdraw(  # noqa: PLR0917 - what withdrawing knows
    books: Books, sheet: Sheet, leaf: str, units: int, chosen: Counter[Place], stay: Mapping[int, int]
) -> Counter[Place]:
    """Withdraw notices of a leaf: the latest deadline first; of equal deadlines the last listed (R-NOTICE-1).

    Notices of a switch of windows stay. A gang that is stopped whole stays under notice unless enough is withdrawn
    for it to run.

    chosen : units that this cycle notices
    stay   : notice → units that count for a claim
    """
    withdrawn: Counter[Place] = Counter()
    held = books.held_by_request()
    order = sorted(range(len(books.notices)), key=lambda at: (books.notices[at].deadline, at), reverse=True)
    for at in order:
        notice = books.notices[at]
        place = books.place(notice)
        if place.consumer != leaf or notice.reason == "window":
            continue
        request = sheet.requests.get(notice.request)
        if request is not None and request.min_count:
            new = sum(part for place, part in chosen.items() if place.request == request.id)
            ends_with = held[request.id] - _noticed_of(books, request.id) - new
            if ends_with + units < request.min_count <= held[request.id]:
                continue
        taken = min(units, notice.units - stay.get(at, 0))
        withdrawn[place] += taken
        books.notices[at] = fewer(notice, taken)
        units -= taken
    books.notices = [notice for notice in books.notices if notice.units]
    return +withdrawn


def _noticed_of(books: Books, key: str) -> int:
    return sum(notice.units for notice in books.notices if notice.request == key)


def choose(books: Books, sheet: Sheet, leaf: str, units: int, claims: Wishes = ()) -> list[Piece]:
    """Choose units of a leaf that go, in the order of victims; units under notice are not chosen.

    Units claimed on certain hosts go there first. The choice breaks as few gangs as possible. Among such choices
    requests give by `victims`; a broken gang is stopped whole, so the leaf may give more than was asked. Units that
    have not run long enough go where others do not suffice, and before both those that stand on closed hosts.
    """
    if not sheet.requests:
        return make_pieces(sheet, {}, [(Place(leaf, "", ""), units)]) if units else []
    if not units and not claims:
        return []
    free = not_noticed(books, sheet, leaf)
    wanted = max(units, sum(there for _, there in claims))
    stay = stranded(books, sheet, leaf)
    others = {batch: count for batch, count in free.items() if batch not in stay}
    may_go = others if sum(others.values()) >= wanted else free
    order = _emptying_first(sheet, free, sorted(free, key=_victim_key(sheet, leaf), reverse=True))
    order = [batch for batch in order if batch in may_go]
    old = [batch for batch in order if not sheet.is_young(leaf, batch.started)]
    is_enough = sum(may_go.values()) - kept_young(sheet, leaf, may_go) >= wanted
    firm = {batch.request for batch in order if batch not in old} if is_enough else set()
    order = old if is_enough else [*old, *(batch for batch in order if batch not in old)]
    runs: Counter[str] = Counter()
    for batch in free:
        runs[batch.request] += free[batch]
    for batch in books.fresh:
        if batch.request in runs:
            runs[batch.request] += books.fresh[batch]
    going: dict[Batch, int] = {}
    for names, there in claims:
        _add(sheet, going, (free, runs, firm), order, there, names)
    _add(sheet, going, (free, runs, firm), order, units - sum(going.values()))
    parts = [(Place(leaf, batch.request, batch.host), count) for batch, count in going.items()]
    return make_pieces(sheet, free, parts)


def _add(  # noqa: PLR0917 - what choosing knows
    sheet: Sheet,
    going: dict[Batch, int],
    stock: tuple[Counter[Batch], Counter[str], set[str]],
    order: list[Batch],
    units: int,
    names: Sequence[str] | None = None,
) -> None:
    """Add units to those that go, from given hosts if any; a gang that breaks goes with all its units.

    stock : units by batch that are under no notice; request → those that run on; gangs that must not break
    """
    free, runs, firm = stock
    rest = {batch: free[batch] - going.get(batch, 0) for batch in order}
    ends: Counter[str] = Counter()
    for batch, count in going.items():
        ends[batch.request] += count
    wished = [batch for batch in order if rest[batch] and (names is None or batch.host in names)]
    there: Counter[str] = Counter()
    for batch in wished:
        there[batch.request] += rest[batch]
    core: dict[str, int] = {}
    for key in there:
        least = sheet.requests[key].min_count
        if 0 < least <= runs[key] and not ends[key] > runs[key] - least:
            core[key] = least
    spare = {key: min(there[key], runs[key] - ends[key] - core.get(key, 0)) for key in there}
    gain = {key: least for key, least in core.items() if key not in firm}
    if names is not None:  # the rest of such a gang is elsewhere
        gain = {key: min(least, there[key] - spare[key]) for key, least in gain.items() if there[key] > spare[key]}
    broken = _broken_gangs(list(there), gain, units - sum(spare.values()))
    for batch in order:
        if batch.request in broken and rest[batch]:
            going[batch] = going.get(batch, 0) + rest[batch]
            units -= rest[batch] if batch in wished else 0
    for batch in wished:
        taken = 0 if batch.request in broken else max(0, min(units, spare[batch.request], rest[batch]))
        if taken:
            going[batch] = going.get(batch, 0) + taken
            spare[batch.request] -= taken
            units -= taken


def stranded(books: Books, sheet: Sheet, leaf: str) -> set[Batch]:
    """Units of a leaf on closed hosts, and all units of gangs that have one there."""
    if not sheet.closed:
        return set()
    mine = [batch for batch, units in books.batches.items() if units and sheet.holder[batch.request] == leaf]
    gangs = {each.request for each in mine if each.host in sheet.closed and sheet.requests[each.request].min_count}
    return {each for each in mine if each.host in sheet.closed or each.request in gangs}


def stranded_units(books: Books, sheet: Sheet, leaf: str) -> int:
    """Units of a leaf that are stranded and under no notice."""
    stay = stranded(books, sheet, leaf)
    return sum(units for batch, units in not_noticed(books, sheet, leaf).items() if batch in stay) if stay else 0


def spared_units(books: Books, sheet: Sheet, leaf: str) -> int:
    """Units of a leaf that are not taken for others: young ones (R-CONTROL-5) and stranded ones."""
    return kept_young(sheet, leaf, not_noticed(books, sheet, leaf), stranded(books, sheet, leaf))


def claimed_already(books: Books, sheet: Sheet, leaf: str) -> tuple[Wishes, Counter[int]]:
    """Claims on a leaf minus the units under notice there, and the units of each notice that are counted for that.

    Notices count in the order of their deadlines; equal ones as listed.
    """
    used: Counter[int] = Counter()
    left: list[tuple[tuple[str, ...], int]] = []
    order = sorted(range(len(books.notices)), key=lambda at: (books.notices[at].deadline, at))
    mine = [at for at in order if books.place(books.notices[at]).consumer == leaf]
    for names, units in sheet.claims.get(leaf, ()):
        wanted = units
        for at in mine:
            if books.notices[at].host in names:
                count = min(wanted, books.notices[at].units - used[at])
                used[at] += count
                wanted -= count
        if wanted:
            left.append((names, wanted))
    return left, used


def _emptying_first(sheet: Sheet, free: Counter[Batch], order: list[Batch]) -> list[Batch]:
    """Under `exclusive`, hosts with the fewest units that stay come first (R-HOSTS-2)."""
    if not sheet.is_exclusive:
        return order
    stay: Counter[str] = Counter()
    for batch, units in free.items():
        stay[batch.host] += units
    place = {host: index for index, host in enumerate(sheet.inventory)}
    return sorted(order, key=lambda batch: (stay[batch.host], -place[batch.host]))


def not_noticed(books: Books, sheet: Sheet, leaf: str) -> Counter[Batch]:
    """Units of a leaf that are not under notice. The units under notice are the first victims on their host."""
    mine = [batch for batch in books.batches if sheet.holder[batch.request] == leaf]
    free = Counter({batch: books.batches[batch] - books.fresh[batch] for batch in mine})
    key = _victim_key(sheet, leaf)
    for notice in books.notices:
        left = notice.units
        mine = [each for each in free if (each.request, each.host) == (notice.request, notice.host)]
        mine.sort(key=key, reverse=True)
        for batch in sorted(mine, key=lambda each: sheet.is_young(leaf, each.started)):
            taken = min(left, free[batch])
            free[batch] -= taken
            left -= taken
    return +free


def _victim_key(sheet: Sheet, leaf: str) -> Callable[[Batch], tuple[int, ...]]:
    """Sort key of victims, the largest first. Ties: the last id, then the last host; for `oldest` the first ones."""
    place = {host: index for index, host in enumerate(sheet.inventory)}
    id_order = {name: index for index, name in enumerate(sorted(sheet.requests))}
    sign = -1 if sheet.switches[leaf].victims == "oldest" else 1
    by_priority = sheet.switches[leaf].victims == "lowest_priority"

    def key(batch: Batch) -> tuple[int, ...]:
        request = sheet.requests[batch.request]
        age = (request.submitted, batch.started, id_order[batch.request], place.get(batch.host, 0))
        return (-request.priority if by_priority else 0, *(sign * part for part in age))

    return key


def _broken_gangs(order: list[str], core: dict[str, int], short: int) -> set[str]:
    """Find the fewest gangs whose minimum covers `short`; of equal numbers the first in the order of victims."""
    broken: set[str] = set()
    waiting = [key for key in order if key in core]
    number = 0
    while short > 0 and number < len(waiting) and _largest(core, waiting, number) < short:
        number += 1
    while number > 0 and short > 0 and waiting:
        key = waiting.pop(0)
        if core[key] + _largest(core, waiting, number - 1) >= short:
            broken.add(key)
            short -= core[key]
            number -= 1
    return broken


def _largest(core: dict[str, int], keys: list[str], number: int) -> int:
    return sum(sorted((core[key] for key in keys), reverse=True)[:number])

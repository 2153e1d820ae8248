"""Which units of a leaf go, and which notices are taken back (SPEC §8, "Inside a leaf": R-VICTIM-1, R-NOTICE-1)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairhold.cycle.verify.books import Batch, Place, fewer
from fairhold.cycle.verify.restraint import kept_young, make_pieces

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.cycle.verify.books import Books
    from fairhold.cycle.verify.restraint import Piece
    from fairhold.cycle.verify.sheet import Sheet


def withdraw(books: Books, sheet: Sheet, leaf: str, units: int, chosen: Counter[Place]) -> Counter[Place]:
    """Take back notices of a leaf, latest deadline first, of equal ones the last listed (R-NOTICE-1).

    Notices of a switch of windows stay. A gang that is stopped whole stays under notice unless so much is taken back
    that it can run.

    chosen : units that this cycle notices
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
        taken = min(units, notice.units)
        withdrawn[place] += taken
        books.notices[at] = fewer(notice, taken)
        units -= taken
    books.notices = [notice for notice in books.notices if notice.units]
    return +withdrawn


def _noticed_of(books: Books, key: str) -> int:
    return sum(notice.units for notice in books.notices if notice.request == key)


def choose(books: Books, sheet: Sheet, leaf: str, units: int) -> list[Piece]:
    """Choose units of a leaf that go, none that is under notice already, in the order in which they give.

    The choice breaks as few gangs as can be. Among such choices requests give by `victims`; a broken gang is stopped
    whole, so the leaf may give more than was asked. Units that have not run long enough go where others do not suffice.
    """
    if not sheet.requests:
        return make_pieces(sheet, {}, [(Place(leaf, "", ""), units)]) if units else []
    free = not_noticed(books, sheet, leaf)
    order = _emptying_first(sheet, free, sorted(free, key=_victim_key(sheet, leaf), reverse=True))
    order = sorted(order, key=lambda batch: batch.host not in sheet.claims.get(leaf, ()))
    old = [batch for batch in order if not sheet.is_young(leaf, batch.started)]
    is_enough = sum(free.values()) - kept_young(sheet, leaf, free) >= units
    holds: Counter[str] = Counter()
    may_go: Counter[str] = Counter()
    for batch in order:
        holds[batch.request] += free[batch]
        may_go[batch.request] += free[batch] if batch in old or not is_enough else 0
    for batch in books.fresh:
        if batch.request in holds:
            holds[batch.request] += books.fresh[batch]
    firm = {batch.request for batch in order if batch not in old} if is_enough else set()
    order = old if is_enough else [*old, *(batch for batch in order if batch not in old)]
    core = {key: sheet.requests[key].min_count for key in holds if 0 < sheet.requests[key].min_count <= holds[key]}
    spare = {key: min(may_go[key], holds[key] - core.get(key, 0)) for key in holds}
    breakable = {batch.request: None for batch in order if batch.request not in firm}
    broken = _broken_gangs(list(breakable), core, units - sum(spare.values()))
    chosen: list[tuple[Place, int]] = []
    for batch in order:
        if batch.request in broken:
            chosen.append((Place(leaf, batch.request, batch.host), free[batch]))
            spare[batch.request] = 0
    left = units - sum(count for _, count in chosen)
    for batch in order:
        taken = max(0, min(left, spare.get(batch.request, 0), free[batch]))
        if taken:
            chosen.append((Place(leaf, batch.request, batch.host), taken))
            spare[batch.request] -= taken
            left -= taken
    return make_pieces(sheet, free, chosen)


def _emptying_first(sheet: Sheet, free: Counter[Batch], order: list[Batch]) -> list[Batch]:
    """Where whole hosts go to one consumer, hosts with the fewest units that stay come first (R-HOSTS-2)."""
    if not sheet.is_exclusive:
        return order
    stay: Counter[str] = Counter()
    for batch, units in free.items():
        stay[batch.host] += units
    place = {host: index for index, host in enumerate(sheet.inventory)}
    return sorted(order, key=lambda batch: (stay[batch.host], -place[batch.host]))


def not_noticed(books: Books, sheet: Sheet, leaf: str) -> Counter[Batch]:
    """Units of a leaf that are not under notice; those that are, are the ones that give first on their host."""
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
    """Key by which the largest gives first; ties: the last id, then the last host, for `oldest` the first ones."""
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
    """Find the fewest gangs whose minimum covers what loose units leave `short`; of such, the first in victim order."""
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

"""Missing units that only some hosts can serve: which leaves give them, and what no leaf can give (R-SITE-4)."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from fairhold.cycle.verify.rooms import is_on_one, will_do
from fairhold.cycle.verify.sheet import TOP
from fairhold.cycle.verify.victims import not_noticed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.cycle.verify.books import Books
    from fairhold.cycle.verify.reclaiming import Reclaim
    from fairhold.model.state import Request


class Claims(NamedTuple):
    """The claims of all leaves.

    units  : leaf → units that it must give
    on     : leaf → of these, hosts and units that go there before others, one claim after another
    waived : leaf → missing units that no other leaf can give
    """

    units: Counter[str]
    on: dict[str, list[tuple[tuple[str, ...], int]]]
    waived: Counter[str]


def claim(case: Reclaim, books: Books) -> Claims:
    """The claims of all leaves, in path order. books: after the grants."""
    found = Claims(Counter(), defaultdict(list), Counter())
    sheet = case.sheet
    if not any(any(request.siting) for request in sheet.requests.values()):
        return found
    desk = _Desk(case, books, found)
    for leaf in sheet.leaves:
        missing = case.quotas.entitled[leaf] - case.whole[leaf]
        if missing > 0:
            found.waived[leaf] = desk.serve(leaf, missing)
    return found


class _Desk:
    """What is left to claim: units that leaves can give by host, idle slots, and room below limits."""

    def __init__(self, case: Reclaim, books: Books, found: Claims) -> None:
        self.case, self.found, self.sheet = case, found, case.sheet
        sheet = self.sheet
        self.spare = {leaf: self.able(leaf) for leaf in sheet.leaves}
        self.held = books.held_by_request()
        self.ripe: Counter[tuple[str, str]] = Counter()
        self.young: Counter[tuple[str, str]] = Counter()
        self.on: defaultdict[str, set[str]] = defaultdict(set)
        used: Counter[str] = Counter()
        for batch, units in books.batches.items():
            used[batch.host] += units
            if units:
                self.on[batch.request].add(batch.host)
        for leaf in sheet.leaves:
            self.look_at(leaf, books)
        must_go = {leaf: case.held[leaf] - self.firm(leaf) for leaf in sheet.leaves}
        self.besides = Counter({leaf: units - self.all_ripe(leaf) for leaf, units in must_go.items()})
        self.idle = {name: max(0, slots - used[name]) for name, slots in sheet.hosts}
        self.coming: Counter[str] = Counter()

    def look_at(self, leaf: str, books: Books) -> None:
        """Tell units that may go at their age, or go already, from others; of a gang with a young one all are young."""
        free = not_noticed(books, self.sheet, leaf)
        mine = {
            batch: units
            for batch, held in books.batches.items()
            if self.sheet.holder[batch.request] == leaf and (units := held - books.fresh[batch])
        }
        fresh_gangs = {
            batch.request
            for batch in mine
            if self.sheet.requests[batch.request].min_count and self.sheet.is_young(leaf, batch.started)
        }
        for batch, units in mine.items():
            is_young = batch.request in fresh_gangs or self.sheet.is_young(leaf, batch.started)
            spared = free[batch] if is_young else 0
            self.young[leaf, batch.host] += spared
            self.ripe[leaf, batch.host] += units - spared

    def all_ripe(self, leaf: str) -> int:
        return sum(units for (holder, _), units in self.ripe.items() if holder == leaf)

    def firm(self, leaf: str) -> int:
        """Units that a leaf holds after it has given all that it must give."""
        return min(self.sheet.limit[leaf], self.case.held[leaf] - self.case.bound.get(leaf, 0))

    def able(self, leaf: str) -> int:
        """Units that a leaf can give: those above `keep`, and those that it must give."""
        kept = max(self.case.keep(leaf), self.case.quotas.quota[leaf])
        return self.case.held[leaf] - min(kept, self.firm(leaf))

    def there(self, giver: str, names: list[str]) -> int:
        """Units that can be claimed on hosts. Young units count only where all older ones go, too."""
        ripe, young = (sum(units[giver, name] for name in names) for units in (self.ripe, self.young))
        return ripe + (young if ripe == self.all_ripe(giver) else max(0, min(young, self.besides[giver])))

    def serve(self, leaf: str, missing: int) -> int:
        sheet = self.sheet
        line = [request for key, request in sheet.requests.items() if sheet.holder[key] == leaf]
        line.sort(key=lambda each: (-each.priority, each.submitted, each.id))
        waits = {each.id: each.count - self.held[each.id] - sheet.never[each.id] for each in line}
        line = [each for each in line if waits[each.id] > 0]
        some = [each for each in line if each.siting.need or each.siting.avoid or is_on_one(each)]
        anywhere = sum(waits[each.id] for each in line) - sum(waits[each.id] for each in some)
        left = min(missing - anywhere, sum(waits[each.id] for each in some))
        waived = 0
        for request in some:
            units = max(0, min(waits[request.id], left))
            left -= units
            least = max(0, request.min_count - self.held[request.id])
            waived += units - (self.take(leaf, request, units, least) if units >= least else 0)
        return waived

    def take(self, leaf: str, request: Request, units: int, least: int) -> int:
        if self.sheet.is_exclusive:
            return 0
        is_open = (name for name in self.idle if name not in self.sheet.closed)
        names = [name for name in is_open if will_do(self.sheet.labels.get(name, {}), request)]
        choices = [names]
        if is_on_one(request):
            mine = self.on[request.id]
            choices = [[name] for name in names if not mine or name in mine]
        for choice in choices:
            idle = min(units, sum(self.idle[name] for name in choice))
            givers = self.givers(leaf, choice, units - idle)
            if sum(givers.values()) + idle < max(1, least):
                continue
            for name in choice:
                used = min(idle, self.idle[name])
                self.idle[name] -= used
                idle -= used
            for giver, given in givers.items():
                self.book(leaf, giver, choice, given)
            return sum(givers.values())
        return 0

    def givers(self, leaf: str, names: list[str], units: int) -> dict[str, int]:
        """Giver → units on these hosts, the worst path first, within the limits above the taker."""
        found: dict[str, int] = {}
        coming: Counter[str] = Counter()
        for giver in reversed(self.sheet.leaves):
            crossed = self.crossed(leaf, giver)
            room = [self.room(path) - coming[path] for path in crossed]
            given = min([units, self.spare[giver], self.there(giver, names), *room])
            if given > 0:
                found[giver] = given
                units -= given
                coming.update(dict.fromkeys(crossed, given))
        return found

    def crossed(self, leaf: str, giver: str) -> list[str]:
        """The taker and its ancestors, without those that are ancestors of the giver, too."""
        return [path for path in self.sheet.chain(leaf) if path != TOP and path not in self.sheet.chain(giver)]

    def room(self, path: str) -> int:
        return self.sheet.limit[path] - self.case.held[path] - self.coming[path]

    def book(self, leaf: str, giver: str, names: list[str], units: int) -> None:
        self.found.units[giver] += units
        self.found.on[giver].append((tuple(names), units))
        self.spare[giver] -= units
        for path in self.crossed(leaf, giver):
            self.coming[path] += units
        for name in names:
            taken = min(units, self.ripe[giver, name])
            self.ripe[giver, name] -= taken
            units -= taken
        self.besides[giver] -= units
        for name in names:
            taken = min(units, self.young[giver, name])
            self.young[giver, name] -= taken
            units -= taken


def waived_by_path(case: Reclaim, waived: Mapping[str, int]) -> dict[str, int]:
    """Path → waived units, with those waived because of hosts."""
    more = case.sheet.summed(waived)
    return {path: case.waived[path] + more[path] for path in case.sheet.paths}

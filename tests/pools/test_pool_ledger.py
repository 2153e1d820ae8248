"""Books that go on from cycle to cycle are those that are opened anew."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.cycle.pooled.open import open_settled
from fairhold.cycle.pooled.pool_ledger import PoolLedger
from tests.orchestrator.vector_storm import PLAN, VectorStorm

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.cycle.pooled.open import Opening
    from fairhold.cycle.pooled.pool_ledger import News
    from fairhold.ledger.pools import Parcel, PendingRequest, PoolBooks, Unit
    from fairhold.model.plan import Plan, PolicyEntry
    from fairhold.model.state import Request, State

OWNED: dict[str, Any] = PLAN["policies"][0]  # type: ignore[index]
QUEUES = {
    "resource_groups": ["all", "more"],
    "policy": "fair_share",
    "settings": {"consolidation": True},
    "consumers": {
        "/A": {"deserved": {"cpu": 6, "gpu": 2}},
        "/A/a2": {"deserved": {"cpu": 3, "gpu": 1}, "over_quota_weight": 2},
        "/B": {"deserved": {"cpu": 4}, "limit": {"cpu": 9}},
        "/C": {"priority": 50},
    },
}
SHARED = {"resource_groups": ["all", "more"], "policy": "multidimensional", "consumers": {"/A": {"share_ratio": 2}}}
TOTALS = {
    "/A": {"own": [{"resource_group": "all", "total": {"cpu": 3, "gpu": 2}}, {"resource_group": "more", "hosts": 1}]},
    "/A/a1": {"own": [{"resource_group": "all", "total": {"cpu": 2}}]},
    "/B": {"own": [{"resource_group": "all", "per_host": {"cpu": 1}}], "share_ratio": 2},
    "/C": {"own": [{"resource_group": "more", "total": {"cpu": 1}}]},
}
"""What everybody can have just so, at the same time: it stays as it is whatever stands where."""
ENTRIES: tuple[dict[str, Any], ...] = (
    OWNED,
    QUEUES,
    SHARED,
    OWNED | {"settings": {"packing": "balanced", "public_pool_grace": "1s"}},
    OWNED | {"settings": {"rebalance_interval": "20s"}},
    QUEUES | {"settings": {"packing": "exclusive"}},
    OWNED | {"consumers": OWNED["consumers"] | {"/C": {"user_limit": 3, "min_runtime": "3s"}}},
    OWNED | {"consumers": TOTALS},
    OWNED | {"consumers": {path: TOTALS[path] for path in ("/B", "/C")}},
)


def seen(books: PoolBooks) -> object:
    """All that the opening of books says, but for numbers of which only the order counts."""
    units = {unit: at for at, unit in enumerate(sorted(books.units(), key=lambda each: each.serial))}
    nouns = {asked: at for at, asked in enumerate(sorted(books.asked.values(), key=lambda each: each.place))}
    noticed = [each for each in units if each.notice is not None]
    noticed.sort(key=lambda each: each.notice.serial if each.notice else 0)
    return {
        "hosts": [
            (host.name, host.is_plain, list(map(_parcel, host.parcels)), [units[each] for each in host.units])
            for host in books.hosts
        ],
        "units": [_unit(each) for each in units],
        "noticed": [units[each] for each in noticed],
        "notices": [
            (_name(notice.taker), notice.deadline, notice.reason, notice.is_new)
            for each in noticed
            if (notice := each.notice) is not None
        ],
        "asked": [
            (name, nouns[each], *_asked(each), [units[unit] for unit in each.units])
            for name, each in sorted(books.asked.items(), key=lambda pair: pair[1].place)
        ],
        "wanting": sorted(nouns[each] for each in books.wanting),
        "by_leaf": {leaf: [nouns[each] for each in line] for leaf, line in books.by_leaf.items()},
        "keeps": [(asked.model.id, host.name, units) for (asked, host), units in books.keeps.items()],
        "hosts_of": {row: [host.name for host in hosts] for row, hosts in books.hosts_of.items()},
        "unmet": books.unmet,
        "adjusted": books.adjusted,
        "others": (books.now, books.unplaced, [host.name for host in books.hosts_down]),
    }


def _name(asked: PendingRequest | None) -> str:
    return asked.model.id if asked is not None else ""


def _asked(asked: PendingRequest) -> tuple[object, ...]:
    return (
        asked.model,
        asked.leaf,
        asked.unit,
        asked.count,
        asked.min_count,
        asked.siting,
        asked.away,
        asked.most,
        asked.never,
    )


def _parcel(parcel: Parcel) -> tuple[object, ...]:
    kept = {asked.model.id: part for asked, part in parcel.kept.items()}
    return parcel.owner, parcel.chain, parcel.amounts, parcel.idle, kept, parcel.level, parcel.host.name


def _unit(unit: Unit) -> tuple[object, ...]:
    booked = [(unit.host.parcels.index(parcel), part) for parcel, part in unit.books.items()]
    return unit.asked.model.id, unit.host.name, unit.started, unit.pool, unit.said, booked


class _OneRun(VectorStorm):
    """It never starts again: its books go on."""

    def start_again(self) -> None:
        pass


class Compared:
    """In the place of what opens books: it opens them in both ways, and counts hosts that were left as they were."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.hosts = self.left = self.rests = 0
        last: dict[PoolLedger, Opening] = {}
        whole = PoolLedger.open

        def opened(ledger: PoolLedger, plan: Plan, entry: PolicyEntry, state: State, news: News) -> Opening:
            before = {id(parcel) for parcel in _parcels(last[ledger].books)} if ledger in last else set()
            found = last[ledger] = whole(ledger, plan, entry, state, news)
            books = found.books
            in_front = replace(news.whole(), requests=_those_in(books, news.whole()))
            assert seen(books) == seen(open_settled(plan, entry, in_front)[0].books)
            self.hosts += len(books.hosts)
            self.rests += found.rests
            self.left += sum(id(host.parcels[0]) in before for host in books.hosts)
            return found

        patch.setattr(PoolLedger, "open", opened)


def _those_in(books: PoolBooks, state: State) -> tuple[Request, ...]:
    return tuple(each for each in state.requests if each.id in books.asked)


def _parcels(books: PoolBooks) -> Iterable[Parcel]:
    return [parcel for host in books.hosts for parcel in host.parcels]


@pytest.mark.parametrize("entry", range(len(ENTRIES)))
def test_books_that_go_on_are_those_opened_anew(entry: int, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = Compared(monkeypatch)
    _OneRun(Random(entry), forgets=True, policies=[ENTRIES[entry]]).run(120)
    assert compared.hosts
    assert compared.rests or ENTRIES[entry]["consumers"] is not TOTALS
    assert compared.left > compared.hosts // 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(50))
@pytest.mark.parametrize("entry", range(len(ENTRIES)))
def test_so_they_are_for_long(entry: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = Compared(monkeypatch)
    _OneRun(Random(1000 + seed), forgets=seed % 2 == 0, policies=[ENTRIES[entry]]).run(400)
    assert compared.hosts

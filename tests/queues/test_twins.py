"""Victims and turns against a slow twin that shares nothing with core or check (fair-share.md, R-SERVE, R-CONTEST)."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from fairhold.cycle.document import run_cycle
from fairhold.model.queue import FairShareSettings
from fairhold.planio.state import parse_state
from fairhold.units import parse_instant
from tests.examples import FEWER
from tests.oracles.victims import INFINITE, Queue, Request, Unit
from tests.oracles.victims import Cluster as Twin
from tests.queues.small import Cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]
STARTED = ("2026-01-05T08:00:00Z", "2026-01-05T08:30:00Z", "2026-01-05T08:59:00Z")
BASE = 1000
"""Base units of one."""
BORDER = 100
"""From this priority on requests are never taken back."""


def instant(text: str) -> int:
    found = parse_instant(text)
    assert found is not None
    return found


@st.composite
def queues(draw: st.DrawFn) -> tuple[dict[str, Json], list[str]]:
    """Queues on one or two levels, and the leaves."""
    found: dict[str, Json] = {}
    leaves = []
    for name in "ABC"[: draw(st.integers(2, 3))]:
        below = [f"/{name}/{child}" for child in "xy"] if draw(st.integers(0, 2)) == 2 else []
        for path in (f"/{name}", *below):
            found[path] = {
                "deserved": {"gpu": draw(st.sampled_from((0, 0, 1, 2, 2, 3, 4)))},
                "over_quota_weight": draw(st.sampled_from((0, 1, 1, 2))),
                "priority": draw(st.sampled_from((100, 100, 100, 50))),
            }
            if draw(st.integers(0, 9)) == 9:
                found[path]["limit"] = {"gpu": found[path]["deserved"]["gpu"] + draw(st.integers(1, 4))}
            for key in ("reclaim_min_runtime", "preempt_min_runtime"):
                if draw(st.integers(0, 9)) == 9:
                    found[path][key] = draw(st.sampled_from(("1m", "30m")))
        leaves += below or [f"/{name}"]
    return found, leaves


@st.composite
def clusters(draw: st.DrawFn, waiting: int, *, observe_only: bool = False) -> Cluster:
    """Small clusters; of the requests all but some have what they want.

    waiting : how many want something
    """
    stated, leaves = draw(queues())
    settings: Json = {"reclaimer_utilization_multiplier": 2} if draw(st.integers(0, 4)) == 4 else {}
    settings |= {"observe_only": True} if observe_only else {}
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    cluster = Cluster(list(sizes), stated, **settings)
    idle = {f"h{at}": Fraction(size) for at, size in enumerate(sizes)}
    for at in range(draw(st.integers(1, 4))):
        unit = draw(st.sampled_from((0.5, 1, 1, 1, 2)))
        count, on = 0, Counter[str]()
        for host in draw(st.permutations(sorted(idle))):
            most = int(idle[host] // Fraction(unit))
            here = draw(st.sampled_from((most, most, most // 2)))
            if here:
                on[host], count = here, count + here
                idle[host] -= here * Fraction(unit)
        if count:
            more: Json = {"priority": draw(st.sampled_from((0, 0, 10, 100)))}
            least = draw(st.integers(0, count))
            started = draw(st.sampled_from(STARTED))
            leaf = draw(st.sampled_from(leaves))
            cluster.ask(f"v{at}", leaf, count, unit, min_count=least, on=dict(on), started=started, **more)
    for at in range(waiting):
        count = draw(st.integers(1, 4))
        more = {"priority": draw(st.sampled_from((0, 10, 50, 100))), "min_count": draw(st.integers(0, count))}
        unit = draw(st.sampled_from((0.5, 1, 1, 2)))
        cluster.ask(f"w{at}", draw(st.sampled_from(leaves)), count, unit, **more)
    return cluster


def queues_of(cluster: Cluster) -> dict[str, Queue]:
    """What the plan says of every queue; fair shares have a twin of their own."""
    shares, tree, found = cluster.shares(), cluster.plan.tree, dict[str, Queue]()
    for at, path in enumerate(shares):
        mine = cluster.plan.policies[0].consumers[tree.rows[path]].queue
        above = found.get(path.rpartition("/")[0])
        deserved, limit = dict(mine.deserved).get(0, 0), dict(mine.limit).get(0)
        own = mine.reclaim_min_runtime, mine.preempt_min_runtime
        spares = [each if each is not None else 0 for each in own]
        if above is not None:
            pairs = zip(own, (above.spares, above.spares_inside), strict=True)
            spares = [theirs if each is None else each for each, theirs in pairs]
        found[path] = Queue(
            path,
            at,
            up=(path, *(above.up if above else ())),
            children=tuple(each for each in shares if each.rpartition("/")[0] == path),
            deserved=Fraction(deserved, BASE),
            limit=INFINITE if limit is None else Fraction(limit, BASE),
            priority=mine.priority,
            fair=Fraction(shares[path]),
            spares=spares[0],
            spares_inside=spares[1],
        )
    return found


def request_of(row: Json, at: int) -> Request:
    priority = row.get("priority", 0)
    unit, least = Fraction(row["unit"]["gpu"]), row.get("min_count", 0)
    place = row["id"], at, row["consumer"]
    return Request(*place, unit, row["count"], least, priority, instant(row["submitted"]), priority >= BORDER)


def twin_of(cluster: Cluster) -> Twin:
    """The same for the slow twin."""
    document = cluster.document
    asked = [request_of(row, at) for at, row in enumerate(document["requests"])]
    hosts = {host.name: Fraction(host.amounts[0], BASE) for host in cluster.plan.resource_groups["g"].hosts}
    settings = cluster.plan.policies[0].settings.fair_share or FairShareSettings()
    twin = Twin(queues_of(cluster), asked, hosts, Fraction(settings.multiplier), instant(document["now"]))
    by_name = {each.name: each for each in asked}
    for row in document["allocations"]:
        for _ in range(row["units"]):
            stand(twin, by_name[row["request"]], row["host"], instant(row["started"]))
    return twin


def stand(twin: Twin, request: Request, host: str, started: int) -> None:
    twin.room[host] -= request.unit
    twin.count(request, 1)
    request.units.append(Unit(request, host, started, sum(len(each.units) for each in twin.requests)))


def wants(request: Request) -> int:
    return max(0, request.least - len(request.units)) or min(1, request.count - len(request.units))


def may_start(twin: Twin, request: Request) -> bool:
    """Whether a gang fits on the hosts, were they empty: else it counts for nothing (R-GANG-2)."""
    full = dict.fromkeys(twin.room, Fraction(0))
    for each in twin.requests:
        for unit in each.units:
            full[unit.host] += unit.request.unit
    return sum((room + full[host]) // request.unit for host, room in twin.room.items()) >= request.least


def serve(twin: Twin) -> list[tuple[str, str]]:
    """Idle room goes out in turns; (request, host) in order."""
    found = []
    waiting = [each for each in twin.requests if wants(each) and may_start(twin, each)]
    while (request := twin.served_first(waiting, wants)) is not None:
        units, need = wants(request), request.unit * wants(request)
        room = {host: int(each // request.unit) for host, each in twin.room.items()}
        is_right = twin.within_limits(request, need) and twin.may_be_fixed(request, need)
        if sum(room.values()) < units or not is_right:
            waiting.remove(request)
            continue
        for host in [host for host, most in room.items() for _ in range(most)][:units]:
            stand(twin, request, host, twin.now)
            found.append((request.name, host))
        waiting = [each for each in waiting if wants(each)]
    return found


def granted(document: Json) -> list[tuple[str, str]]:
    return [(row["request"], row["host"]) for row in document["grants"] for _ in range(row["units"])]


def decided(cluster: Cluster) -> Json:
    state = parse_state(json.dumps(cluster.document), cluster.plan, "state.json")
    return run_cycle(cluster.plan, state).document


@FEWER
@given(clusters(waiting=4, observe_only=True))
def test_idle_units_go_out_in_the_order_of_the_slow_twin(cluster: Cluster) -> None:
    """Where nothing is taken: else what would be taken at once is not granted (R-SWEEP-3)."""
    expected = serve(twin_of(cluster))
    assert granted(decided(cluster)) == expected


class EventTrace:
    """One request that waits takes unit by unit.

    told : who goes for it, in the order in which they are told
    """

    def __init__(self, twin: Twin, request: Request) -> None:
        self.twin, self.request = twin, request
        self.told: list[Unit] = []

    def wants(self) -> int:
        short = self.request.least - len(self.request.units)
        on_way = self.twin.on_way
        more = self.request.count - len(self.request.units)
        return max(0, short - on_way) if short > 0 else min(1, more - on_way)

    def is_inside(self, host: str) -> bool:
        """Whether only units of its own queue go on a host."""
        return all(unit.request.queue == self.request.queue for unit in self.told if unit.host == host)

    def room(self, host: str) -> int:
        """How many more fit on a host beside those on their way, now that others go."""
        twin = self.twin
        return int((twin.room[host] + twin.freed.get(host, 0)) // self.request.unit) - twin.coming.get(host, 0)

    def left(self, units: int, *, is_own: bool) -> list[str]:
        """Hosts to which it goes already and where more of it finds room; of its own queue above its share, too."""
        twin, need, mine = self.twin, self.request.unit * units, self.twin.queues[self.request.queue]
        is_fair = mine.held + need <= mine.fair
        hosts = [host for host in twin.freed if is_fair or (is_own and self.is_inside(host))]
        is_right = twin.within_limits(self.request, need) and twin.may_be_fixed(self.request, need)
        return hosts if is_right and sum(map(self.room, hosts)) >= units else []

    def bring(self, units: int, first: list[str]) -> None:
        self.twin.count(self.request, units)
        for host in [*dict.fromkeys(first), *self.twin.room]:
            here = min(units, self.room(host))
            if here > 0:
                self.twin.coming[host] = self.twin.coming.get(host, 0) + here
                units -= here
        assert not units

    def take(self, *, is_own: bool) -> bool:
        """One turn; whether it got anything."""
        twin, units = self.twin, self.wants()
        if hosts := self.left(units, is_own=is_own):
            self.bring(units, hosts)
            return True
        victims = (twin.preempt if is_own else twin.take)(self.request, units)
        for unit in victims or ():
            unit.gone = True
            twin.count(unit.request, -1)
            twin.freed[unit.host] = twin.freed.get(unit.host, Fraction(0)) + unit.request.unit
        if victims is not None:
            self.told += victims
            self.bring(units, [unit.host for unit in victims])
        return victims is not None


def taken(twin: Twin, request: Request) -> Counter[tuple[str, str]]:
    """Who goes for the one request that waits until nobody does: of other queues first, then of its own."""
    story = EventTrace(twin, request)
    before = -1
    while len(story.told) != before:
        before = len(story.told)
        for is_own in (False, True):
            while story.wants() > 0 and story.take(is_own=is_own):
                pass
    found = Counter((unit.request.name, unit.host) for unit in story.told)
    for units in needless(twin, request, story.told):
        found.subtract((unit.request.name, unit.host) for unit in units)
    return +found


def needless(twin: Twin, request: Request, told: list[Unit]) -> Iterator[list[Unit]]:
    """Whose going brings nothing once all others go, the last told first; gangs that stop stop whole (R-NOTICE-2)."""
    kinds = {unit.request: unit for unit in told}
    whole = {each for each in kinds if each.least > 1 and all(unit.gone for unit in each.units)}
    bundles: dict[object, list[Unit]] = {}
    for unit in told:
        bundles.setdefault(unit.request if unit.request in whole else unit, []).append(unit)
    for units in sorted(bundles.values(), key=lambda units: max(map(told.index, units)), reverse=True):
        left = dict(twin.freed)
        for unit in units:
            left[unit.host] -= unit.request.unit
        room = {host: (twin.room[host] + left.get(host, 0)) // request.unit for host in twin.coming}
        amount = sum((unit.request.unit for unit in units), Fraction(0))
        may_stay = not twin.within_limits(units[0].request, Fraction(0)) or twin.within_limits(units[0].request, amount)
        if may_stay and all(room[host] >= coming for host, coming in twin.coming.items()):
            twin.freed = left
            for unit in units:
                twin.count(unit.request, 1)
            yield units


@FEWER
@given(clusters(waiting=1))
def test_who_goes_is_who_the_slow_twin_finds_among_all_sets_of_what_it_looked_at(cluster: Cluster) -> None:
    twin = twin_of(cluster)
    expected_grants = serve(twin)
    expected = taken(twin, twin.requests[-1])
    document = decided(cluster)
    found: Counter[tuple[str, str]] = Counter()
    for row in document["reclaims"]:
        found[row["request"], row["host"]] += row["units"]
    assert (granted(document), found) == (expected_grants, expected)

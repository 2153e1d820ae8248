"""Hosts that are not there for a while: stated one by one, or drawn by chance from a seed."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from fairhold.lab.moments import Moment, read_moment
from fairhold.planio.hosts import expand
from fairhold.planio.report import shown
from fairhold.sim.experiment import Outage
from fairhold.traces.draws import BITS, Stream, stream_of
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from collections.abc import Set as AbstractSet

    from fairhold.errors import Place
    from fairhold.model.plan import Plan
    from fairhold.planio.report import Report
    from fairhold.planio.values import Value

STATED_KEYS = ("hosts", "down", "up", "lead")
CHANCE_KEYS = ("hosts", "every", "lasts", "seed")
MOST = 100_000
"""Outages of one scenario at most."""


class Span(NamedTuple):
    """Instants between which chance strikes, and the number of the draw, each of which has a chance of its own."""

    start: int
    end: int
    draw: int = 0


class Stated(NamedTuple):
    """An outage of some hosts; up: None = they do not come back."""

    place: Place
    hosts: list[str]
    down: Moment
    up: Moment | None
    lead: int


class Chance(NamedTuple):
    """Outages by chance; every, lasts: microseconds in the mean."""

    place: Place
    hosts: list[str]
    every: int
    lasts: int
    seed: int


Told = tuple[Stated | Chance, ...]


def hosts_of_all(plans: Iterable[Plan]) -> set[str]:
    """Hosts that every plan has."""
    known = [{host.name for group in plan.resource_groups.values() for host in group.hosts} for plan in plans]
    return set.intersection(*known) if known else set()


def read_outages(report: Report, value: Value, names: AbstractSet[str] | None, start: int | None) -> Told:
    """Read the section: all of it that can be told before the workload is read.

    names : hosts of every plan, None = they are not known
    start : of the scenario, None = its workload says it
    """
    found: list[Stated | Chance] = []
    faults = len(report.faults)
    for at, item in enumerate(report.sequence(value, ("outages",), what="outages")):
        place: Place = ("outages", at)
        node = report.mapping(item, place)
        is_chance = "every" in node
        report.keys(node, CHANCE_KEYS if is_chance else STATED_KEYS, place, {})
        report.missing(node, ("hosts", "lasts") if is_chance else ("hosts", "down"), place, "an outage")
        hosts = _hosts(report, node.get("hosts", []), (*place, "hosts"), names)
        found.append((_chance if is_chance else _stated)(report, node, place, hosts, start))
    for each in found:
        if isinstance(each, Stated) and each.up is not None and each.up.is_up_to(each.down):
            _refuse_back(report, each)
    stated = [each for each in found if isinstance(each, Stated)]
    moments = [each for one in stated for each in (one.down, one.up) if each is not None]
    if len(report.faults) == faults and len({each.is_after for each in moments}) == 1:
        _refuse_twice(report, _outages(stated, 0))
    return tuple(found)


def outages_of(report: Report, told: Told, span: Span) -> tuple[Outage, ...]:
    """The outages of a scenario whose span is known, which every plan meets alike."""
    stated = [each for each in told if isinstance(each, Stated)]
    found = _outages(stated, span.start)
    for each in stated:
        if each.up is not None and each.up.at(span.start) <= each.down.at(span.start):
            _refuse_back(report, each)
    for drawn in told:
        if isinstance(drawn, Chance):
            found += [(outage, drawn.place) for outage in _by_chance(drawn, span)]
    if len(found) > MOST:
        report.fault("out-of-range", f"there are {len(found)} outages", f"give at most {MOST}", ("outages",))
    if not report.faults:
        _refuse_twice(report, found)
    return tuple(sorted((outage for outage, _ in found), key=lambda each: (each.down, each.host)))


def _hosts(report: Report, value: Value, place: Place, names: AbstractSet[str] | None) -> list[str]:
    """The hosts of `g[01-20]`, or of a list of such."""
    texts = [value] if isinstance(value, str) else report.sequence(value, place, what="hosts")
    found: list[str] = []
    for text in texts:
        try:
            found += expand(report.text(text, place, what="the name of a host"))
        except ValueError as error:
            report.fault("name", f"`{shown(text)}`: {error}", "write names such as `g[01-20]`", place)
    for host in found:
        if names is not None and host not in names:
            report.fault(
                "unknown-host", f"`{shown(host)}` is not a host of all plans", "name hosts that all plans have", place
            )
            return []
    return found


def _stated(report: Report, node: Mapping[str, Value], place: Place, hosts: list[str], start: int | None) -> Stated:
    down = read_moment(report, node.get("down", 0), (*place, "down"), start)
    up = read_moment(report, node["up"], (*place, "up"), start) if "up" in node else None
    return Stated(place, hosts, down, up, report.duration(node.get("lead", 0), (*place, "lead")))


def _refuse_back(report: Report, each: Stated) -> None:
    report.fault("out-of-range", "the host is up before it is down", "set a later `up`", (*each.place, "up"))


def _outages(stated: Iterable[Stated], start: int) -> list[tuple[Outage, Place]]:
    return [
        (Outage(host, each.down.at(start), UNLIMITED if each.up is None else each.up.at(start), each.lead), each.place)
        for each in stated
        for host in each.hosts
    ]


def _chance(report: Report, node: Mapping[str, Value], place: Place, hosts: list[str], _: int | None) -> Chance:
    faults = len(report.faults)
    every = report.duration(node["every"], (*place, "every"))
    lasts = report.duration(node.get("lasts", 0), (*place, "lasts"))
    seed = report.whole(node.get("seed", 0), (*place, "seed"))
    if "lasts" in node and not (every and lasts) and len(report.faults) == faults:
        report.fault("out-of-range", "an outage has no length", "write lengths above 0", place)
    return Chance(place, hosts, every, lasts, seed)


def _by_chance(each: Chance, span: Span) -> list[Outage]:
    """Every host fails once in `every`, at random, and is gone for as long as `lasts` in the mean."""
    names = ("outages", str(span.draw)) if span.draw else ("outages",)
    found: list[Outage] = []
    for host in each.hosts:
        chance, down = Stream(stream_of(each.seed, *names, host)), span.start
        while True:
            down += 1 + (each.every * chance.exponential() >> BITS)
            if down >= span.end or len(found) > MOST:
                break
            up = down + 1 + (each.lasts * chance.exponential() >> BITS)
            found.append(Outage(host, down, up))
            down = up
    return found


def _refuse_twice(report: Report, outages: list[tuple[Outage, Place]]) -> None:
    """A host that is gone cannot go: outages of one host do not overlap."""
    rows = sorted(outages, key=lambda row: (row[0].host, row[0].down))
    for (one, _), (other, place) in pairwise(rows):
        if one.host == other.host and other.down - other.lead < one.up:
            what = f"two outages of `{shown(other.host)}` overlap"
            report.fault("outages-overlap", what, "let one end before the next begins or is announced", place)
            return

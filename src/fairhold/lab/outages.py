"""Hosts that are not there for a while: stated one by one, or drawn by chance from a seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.planio.hosts import expand
from fairhold.planio.report import shown
from fairhold.sim.scene import Outage
from fairhold.traces.draws import BITS, Stream, stream_of
from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Mapping

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


def read_outages(report: Report, value: Value, plans: Mapping[str, Plan], span: Span) -> tuple[Outage, ...]:
    """Read the section: stated outages, and chances of them, which every plan meets alike.

    span : stated durations count from its start
    """
    known = [{host.name for group in plan.resource_groups.values() for host in group.hosts} for plan in plans.values()]
    names = set.intersection(*known) if known else set()
    found: list[Outage] = []
    for at, item in enumerate(report.sequence(value, ("outages",), what="outages")):
        place: Place = ("outages", at)
        node = report.mapping(item, place)
        is_chance = "every" in node
        report.keys(node, CHANCE_KEYS if is_chance else STATED_KEYS, place, {})
        report.missing(node, ("hosts", "lasts") if is_chance else ("hosts", "down"), place, "an outage")
        hosts = _hosts(report, node.get("hosts", []), (*place, "hosts"), names)
        if is_chance:
            found += _by_chance(report, node, place, hosts, span)
        else:
            found += _stated(report, node, place, hosts, span.start)
    if len(found) > MOST:
        report.fault("out-of-range", f"there are {len(found)} outages", f"let there be {MOST} at most", ("outages",))
    _refuse_twice(report, found)
    return tuple(sorted(found, key=lambda each: (each.down, each.host)))


def _hosts(report: Report, value: Value, place: Place, names: set[str]) -> list[str]:
    """The hosts of `g[01-20]`, or of a list of such."""
    texts = [value] if isinstance(value, str) else report.sequence(value, place, what="hosts")
    found: list[str] = []
    for text in texts:
        try:
            found += expand(report.text(text, place, what="the name of a host"))
        except ValueError as error:
            report.fault("name", f"`{shown(text)}`: {error}", "write names such as `g[01-20]`", place)
    for host in found:
        if host not in names:
            report.fault("unknown-host", f"`{shown(host)}` is no host of every plan", "name hosts of the plans", place)
            return []
    return found


def _stated(report: Report, node: dict[str, Value], place: Place, hosts: list[str], start: int) -> list[Outage]:
    down = moment(report, node.get("down", 0), (*place, "down"), start)
    up = moment(report, node["up"], (*place, "up"), start) if "up" in node else UNLIMITED
    lead = report.duration(node.get("lead", 0), (*place, "lead"))
    if up <= down:
        report.fault("out-of-range", "the host is back before it is gone", "set a later `up`", (*place, "up"))
    return [Outage(host, down, up, lead) for host in hosts]


def _by_chance(report: Report, node: dict[str, Value], place: Place, hosts: list[str], span: Span) -> list[Outage]:
    """Every host fails once in `every`, at random, and is gone for as long as `lasts` in the mean."""
    every = report.duration(node["every"], (*place, "every"))
    lasts = report.duration(node.get("lasts", 0), (*place, "lasts"))
    seed = report.whole(node.get("seed", 0), (*place, "seed"))
    names = ("outages", str(span.draw)) if span.draw else ("outages",)
    if not every or not lasts:
        if not report.faults:
            report.fault("out-of-range", "an outage of no length", "write lengths above 0", place)
        return []
    found: list[Outage] = []
    for host in hosts:
        chance, down = Stream(stream_of(seed, *names, host)), span.start
        while True:
            down += 1 + (every * chance.exponential() >> BITS)
            if down >= span.end or len(found) > MOST:
                break
            up = down + 1 + (lasts * chance.exponential() >> BITS)
            found.append(Outage(host, down, up))
            down = up
    return found


def _refuse_twice(report: Report, outages: list[Outage]) -> None:
    """A host that is gone cannot go: stated outages of one host do not overlap."""
    back: dict[str, int] = {}
    for each in sorted(outages, key=lambda each: (each.host, each.down)):
        if each.down - each.lead < back.get(each.host, 0):
            what = f"two outages of `{each.host}` overlap"
            report.fault("outages-overlap", what, "let one end before the next begins, or is announced", ("outages",))
            return
        back[each.host] = each.up


def moment(report: Report, value: Value, place: Place, start: int) -> int:
    """An instant, or so long after the start."""
    if isinstance(value, str) and value[4:5] == "-":
        return report.instant(value, place)
    return start + report.duration(value, place)

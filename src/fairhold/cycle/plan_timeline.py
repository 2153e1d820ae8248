"""Two plans over time: who gains and loses in every coming window, what is stopped, and how much work that loses."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.cycle.projection import SLOTS
from fairhold.cycle.window_preview import MOST_SWITCHES, local_time, switches
from fairhold.ledger.rows import in_force
from fairhold.model.tree import moved_path
from fairhold.model.vector import number
from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from fairhold.cycle.projection import Course, Held, Stopped
    from fairhold.model.plan import Plan

Document = dict[str, Any]
NO_DEMAND = "demand stays as it is now"
RUN_ON = "tasks run until they are stopped, or until their time limit"
STATED = "tasks run as long as the scenario says, each attempt from its beginning"


class Assumed(NamedTuple):
    """What is taken for granted of the work.

    runs       : how long tasks run, in words
    checkpoint : microseconds between two states that a task saves; 0 = it saves none, and a stop loses all of it
    """

    runs: str = RUN_ON
    checkpoint: int = 0

    def lost(self, stop: Stopped, begin: int) -> int:
        """Work that a stop loses, in unit-microseconds; begin: of the course, since when units were held at least."""
        done = max(0, stop.at - (begin if stop.since is None else stop.since))
        return stop.units * (done % self.checkpoint if self.checkpoint else done)


def instants_of(old: Plan, new: Plan, now: int, until: int) -> list[int]:
    """The coming switches of two plans, `MOST_SWITCHES` at most, and where the look ahead ends."""
    found = sorted({each.instant for plan in (old, new) for each in switches(plan, now, until)})
    return [*found, until] if len(found) <= MOST_SWITCHES else found[: MOST_SWITCHES + 1]


class Compared(NamedTuple):
    """A plan and what happens under it."""

    plan: Plan
    course: Course


def over_time(
    old: Compared,
    new: Compared,
    instants: Sequence[int],
    moved: Mapping[str, str] | None = None,
    assumed: Assumed | None = None,
) -> Document:
    """What differs over time between the courses of one state under two plans.

    instants : those that the courses were asked for
    moved    : old path → new path of consumers that the new plan calls otherwise

    Returns {"until", "assumes", "resources": those of which work is lost, "consumers": {path: {"stopped", "lost",
    "lost_of"}, each [old, new]}, "stops": tasks that hold units now and lose them under the new plan, "alone": what of
    them the new plan alone stops, in all, "waits": path of a leaf → unit-seconds that it waits longer, "spans": what is
    different in the time between two switches}. `lost` is in unit-seconds, `lost_of` in those of each resource.
    Equal spans are told once, with all their beginnings. The most lost work comes first.
    """
    return _Comparing(old, new, instants, moved or {}, assumed or Assumed()).document()


class _Comparing:
    def __init__(
        self, old: Compared, new: Compared, instants: Sequence[int], moved: Mapping[str, str], assumed: Assumed
    ) -> None:
        self.old, self.new, self.moved, self.assumed = old, new, moved, assumed
        self.begin = new.course.begin
        told = min(len(old.course.held), len(new.course.held))
        self.until = min(old.course.until, new.course.until)
        self.borders = [self.begin, *instants[:told]]
        self.bases = [{SLOTS: 1} | {each.name: each.base for each in side.plan.resources} for side in (old, new)]
        self.stops = [
            [self._renamed(each) for each in old.course.stops if each.at < self.until],
            [each for each in new.course.stops if each.at < self.until],
        ]
        self.resources = self._resources()

    def document(self) -> Document:
        """See `over_time`."""
        return {
            "until": format_instant(self.until),
            "assumes": [NO_DEMAND, self.assumed.runs]
            + ([f"a checkpoint every {self.assumed.checkpoint // SECOND} s"] if self.assumed.checkpoint else []),
            "resources": [{"resource": name, "unit": unit} for name, unit in self.resources.items()],
            "consumers": self._sums(*self.stops),
            "stops": self._rows(),
            "alone": self._alone(),
            "waits": self._waits(),
            "spans": self._spans(),
        }

    def _renamed(self, stop: Stopped) -> Stopped:
        return stop._replace(
            consumer=moved_path(stop.consumer, self.moved),
            taker=moved_path(stop.taker, self.moved) if stop.taker else "",
        )

    def _lost(self, stops: Iterable[Stopped]) -> int:
        return sum(self.assumed.lost(each, self.begin) for each in stops)

    def _lost_amounts(self, stops: Iterable[Stopped]) -> Counter[str]:
        """The same by resource, in base units times microseconds."""
        found: Counter[str] = Counter()
        for each in stops:
            lost = self.assumed.lost(each, self.begin)
            for name, amount in each.unit or ((SLOTS, 1),):
                found[name] += lost * amount
        return found

    def _lost_of(self, stops: Iterable[Stopped], side: int) -> Document:
        """The same in declared units times seconds, under the old plan (0) or the new one (1)."""
        found, bases = self._lost_amounts(stops), self.bases[side]
        return {
            name: number(Fraction(found[name], bases.get(name, 1) * SECOND)) for name in self.resources if found[name]
        }

    def _resources(self) -> dict[str, str]:
        """Resources of which work is lost, and what they are counted in.

        First the one of which the most is lost for what there is of it, or the scarcest.
        """
        sides = [*zip(map(_has, (self.old.plan, self.new.plan)), map(self._lost_amounts, self.stops), strict=True)]
        units = {each.name: each.unit for plan in (self.old.plan, self.new.plan) for each in plan.resources}
        has, bases = sides[1][0], self.bases[1]

        def weight(name: str) -> tuple[Fraction, Fraction]:
            part = sum((Fraction(lost[name], there[name] or 1) for there, lost in sides), Fraction(0))
            return -part, Fraction(has[name], bases.get(name, 1))

        names = sorted((name for name in (SLOTS, *units) if any(lost[name] for _, lost in sides)), key=weight)
        return {name: units.get(name, "") for name in names}

    def _sums(self, before: Sequence[Stopped], after: Sequence[Stopped]) -> Document:
        """Path → units that are stopped, and what is lost, of everybody who loses any."""
        found: Document = {}
        for path in dict.fromkeys(each.consumer for each in (*after, *before)):
            sides = [[each for each in side if each.consumer == path] for side in (before, after)]
            found[path] = {
                "stopped": [sum(each.units for each in side) for side in sides],
                "lost": [self._lost(side) // SECOND for side in sides],
                "lost_of": [self._lost_of(side, at) for at, side in enumerate(sides)],
            }
        return dict(sorted(found.items(), key=_weight))

    # Tasks that run now

    def _rows(self) -> list[Document]:
        """What holds units now and loses them under the new plan; what only the new plan stops comes first."""
        anyway: Counter[Hashable] = Counter()
        for each in self.stops[0]:
            if each.is_now:
                anyway[_who(each)] += each.units
        rows: dict[Hashable, Document] = {}
        stops: dict[Hashable, list[Stopped]] = {}
        for each in self.stops[1]:
            if not each.is_now:
                continue
            also = min(each.units, anyway[_who(each)])
            anyway[_who(each)] -= also
            key = (*_who(each), each.deadline, each.reason, each.taker)
            row = rows.setdefault(key, self._row(each))
            row["units"] += each.units
            row["anyway"] += also
            row["lost"] += self.assumed.lost(each, self.begin)
            stops.setdefault(key, []).append(each)
        for group, row in rows.items():
            row["lost_of"] = self._lost_of(stops[group], 1)
        found = sorted(
            rows.values(),
            key=lambda row: (row["anyway"] >= row["units"], -row["lost"], row["deadline"], str(list(row.values()))),
        )
        for row in found:
            row["lost"] //= SECOND
        return found

    def _alone(self) -> Document:
        """What is held now and the new plan alone stops: tasks, units, the latest stop, and what is lost of what.

        Tasks are null of a state file.
        """
        anyway: Counter[Hashable] = Counter()
        for each in self.stops[0]:
            if each.is_now:
                anyway[_who(each)] += each.units
        alone: list[Stopped] = []
        stops = [each for each in self.stops[1] if each.is_now]
        for each in stops:
            also = min(each.units, anyway[_who(each)])
            anyway[_who(each)] -= also
            if also < each.units:
                alone.append(each._replace(units=each.units - also))
        return {
            "units": sum(each.units for each in alone),
            "tasks": len(alone) if all(each.attempt for each in stops) else None,
            "by": format_instant(max(each.deadline for each in alone)) if alone else None,
            "lost": self._lost_of(alone, 1),
        }

    def _waits(self) -> dict[str, int]:
        """Path of a leaf → unit-seconds that it waits longer under the new plan, who waits the longest first."""
        longer: Counter[str] = Counter()
        for side, sign in ((self.old, -1), (self.new, 1)):
            for at, path, units in side.course.waiting:
                name = moved_path(path, self.moved) if sign < 0 else path
                longer[name] += sign * units * max(0, self.until - at)
        found = {path: span // SECOND for path, span in longer.items() if span >= SECOND}
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    def _row(self, stop: Stopped) -> Document:
        row: Document = {"consumer": stop.consumer, "resource_group": stop.resource_group}
        if stop.request:
            row["request"] = stop.request
        if stop.attempt:
            row |= {"task": stop.task, "attempt": stop.attempt} if stop.task >= 0 else {"attempt": stop.attempt}
        if stop.host:
            row["host"] = stop.host
        return row | {
            "units": 0,
            "since": None if stop.since is None else format_instant(stop.since),
            "told": None if stop.told is None else format_instant(stop.told),
            "deadline": format_instant(stop.deadline),
            "for": stop.taker or None,
            "reason": stop.reason,
            "lost": 0,
            "anyway": 0,
        }

    # Spans

    def _spans(self) -> list[Document]:
        """The time up to the first switch, between two, and after the last, equal ones folded; those that differ."""
        found: dict[str, Document] = {}
        for at, (begin, end) in enumerate(pairwise(self.borders)):
            stops = [[each for each in side if begin <= each.at < end] for side in self.stops]
            span = {
                "in_force": [_entries(side.plan, begin) for side in (self.old, self.new)],
                "consumers": self._gains(self.old.course.held[at], self.new.course.held[at]),
                "stops": self._sums(*stops),
            }
            seen = found.setdefault(str(span), {"from": format_instant(begin)} | self._shown(begin) | span | {"at": []})
            seen["at"].append({"from": format_instant(begin), "to": format_instant(end)})
        return list(found.values())

    def _shown(self, instant: int) -> Document:
        for side in (self.new, self.old):
            if side.plan.calendar is not None:
                return local_time(side.plan.calendar.windows, instant)
        return {}

    def _gains(self, before: Held, after: Held) -> Document:
        """Resource group → path of a leaf → resource → amounts held at the end, where they differ."""
        one = {(group, moved_path(path, self.moved)): amounts for (group, path), amounts in before.items()}
        found: Document = {}
        for group, path in dict.fromkeys((*after, *one)):
            was, will = one.get((group, path), {}), after.get((group, path), {})
            values = {
                name: [_amount(was, name, self.bases[0]), _amount(will, name, self.bases[1])]
                for name in dict.fromkeys((*will, *was))
            }
            values = {name: pair for name, pair in values.items() if pair[0] != pair[1]}
            if values:
                found.setdefault(group, {})[path] = values
        return {group: dict(sorted(rows.items(), key=_change)) for group, rows in found.items()}


def _who(stop: Stopped) -> tuple[Hashable, ...]:
    """By what units that are held now are known under both plans; their consumers may have other names."""
    return (
        (stop.attempt,) if stop.attempt else (stop.request or stop.consumer, stop.resource_group, stop.host, stop.since)
    )


def _has(plan: Plan) -> Counter[str]:
    """Resource → what a plan has of it in all, in base units; and its slots."""
    found: Counter[str] = Counter()
    for group in plan.resource_groups.values():
        found[SLOTS] += group.slots
        for vector in (group.capacity, *(host.amounts for host in group.hosts)):
            for resource, units in zip(plan.resources, vector or (), strict=False):
                found[resource.name] += units
    return found


def _amount(amounts: Mapping[str, int], name: str, bases: Mapping[str, int]) -> object:
    return number(Fraction(amounts.get(name, 0), bases.get(name, 1)))


def _entries(plan: Plan, instant: int) -> dict[str, list[int]]:
    return {group: list(dict.fromkeys(in_force(plan, group, instant))) for group in plan.resource_groups}


def _weight(item: tuple[str, Document]) -> tuple[int, int, str]:
    """The most that is lost more, or less, first."""
    path, values = item
    was, will = values["lost"]
    return -abs(will - was), -max(was, will), path


def _change(item: tuple[str, Document]) -> tuple[Fraction, str]:
    path, values = item
    return -max(abs(Fraction(str(will)) - Fraction(str(was))) for was, will in values.values()), path

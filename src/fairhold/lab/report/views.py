"""What a plot shows of many consumers: those right below one, the ten largest by themselves, the others together."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.lab.report.amounts import number
from fairhold.sim.summary import jain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fairhold.lab.report.amounts import Unit

    Document = Mapping[str, Any]

LARGEST = 10
"""Consumers that are shown by themselves."""
POINTS = 120
"""Points of time in a plot at most."""
NUMBERS = 100_000
"""Numbers in a page, about, so that it stays below two megabytes: below the first level what is largest is kept."""
SPREAD, LOANS = 150, 400
"""Numbers about how waits and slowdowns of a part are spread, and about the loans of a view."""
WAYS = 12
"""Pairs of a holder and a taker that are shown."""
ELSEWHERE = "others"


class View(NamedTuple):
    """The consumers right below one.

    above   : path of that one, `/` for the first level
    members : paths that are shown by themselves, the largest first
    others  : paths that are shown together
    """

    above: str
    members: tuple[str, ...]
    others: tuple[str, ...]

    @property
    def parts(self) -> list[tuple[str, tuple[str, ...]]]:
        """Name as it is shown → the paths that it stands for."""
        cut = 1 if self.above == "/" else len(self.above) + 1
        parts: list[tuple[str, tuple[str, ...]]] = [(path[cut:], (path,)) for path in self.members]
        return [*parts, (f"{len(self.others)} others", self.others)] if self.others else parts

    def name_of(self, path: str) -> str:
        """The part in which a consumer at or below a member is; empty where it is elsewhere."""
        for name, paths in self.parts:
            if any(path == each or path.startswith(f"{each}/") for each in paths):
                return name
        return ""


class Clock(NamedTuple):
    """Pieces of time.

    begin, end : instants; piece: microseconds; together: pieces of the summary in one point of a plot
    """

    begin: int
    end: int
    piece: int
    together: int

    def means(self, column: Sequence[int], base: int) -> list[float]:
        """The mean of each point, of sums over pieces."""
        step, found = self.piece * self.together, []
        for at in range(0, len(column), self.together):
            since = self.begin + at * self.piece
            length = max(1, min(self.end, since + step) - since)
            found.append(short(sum(column[at : at + self.together]) / (length * base)))
        return found

    def sums(self, pairs: Iterable[Sequence[int]], pieces: int, scale: int) -> list[float]:
        """The sum of each point, of pairs (piece, number)."""
        found = [0] * -(-pieces // self.together)
        for piece, value in pairs:
            found[min(piece // self.together, len(found) - 1)] += value
        return [short(value / scale) for value in found]


def short(value: float) -> float:
    """A number with four digits that count, a whole one where it is."""
    rounded = float(f"{value:.4g}")
    return int(rounded) if rounded == int(rounded) else rounded


def views_of(shared: Sequence[Document]) -> list[View]:
    """First level first, then the branches, the largest first; shared: the same resource in every summary."""
    size: dict[str, int] = {}
    for each in shared:
        for path, consumer in each["consumers"].items():
            size[path] = size.get(path, 0) + max(consumer["demand"], consumer["owned"])
    below: dict[str, list[str]] = {}
    for path in size:
        if path != "/":
            below.setdefault(path.rpartition("/")[0] or "/", []).append(path)
    found = []
    for above in sorted(below, key=lambda path: (path != "/", -size.get(path, 0), path)):
        ordered = sorted(below[above], key=lambda path: (-size[path], path))
        few = len(ordered) <= LARGEST + 1
        members = ordered if few and len(ordered) <= LARGEST else ordered[:LARGEST]
        found.append(View(above, tuple(members), tuple(ordered[len(members) :])))
    return found


def fitting(views: Sequence[View], plans: int) -> list[tuple[View, int]]:
    """Those that a page has room for, with how many points of time each; the first level is always there."""
    found, left = [], NUMBERS
    for at, view in enumerate(views):
        lines = len(view.parts) * plans
        share = left // (1 if at == 0 else min(4, len(views) - at)) - SPREAD * lines - LOANS * plans
        points = min(POINTS, share // (6 * lines))
        if at and points < POINTS // 5:
            break
        points = max(points, POINTS // 10)
        found.append((view, points))
        left -= (6 * points + SPREAD) * lines + LOANS * plans
    return found


def clock_of(document: Document, shared: Document, points: int) -> Clock:
    """The time of a summary in so many points at most."""
    pieces = len(shared["capacity_in"])
    return Clock(document["begin"], document["end"], document["piece"], max(1, -(-pieces // points)))


def summed(shared: Document, paths: Iterable[str], name: str) -> list[int]:
    """A column over time of several consumers together; those that a plan does not have count nothing."""
    columns = [shared["consumers"][path][name] for path in paths if path in shared["consumers"]]
    return [sum(row) for row in zip(*columns, strict=True)] if columns else [0] * len(shared["capacity_in"])


def over_time(plan: str, document: Document, shared: Document, view: View, *, points: int, unit: Unit) -> list[Any]:
    """A series for every part of a view: constants, the first instant and the step in milliseconds, columns."""
    clock, found = clock_of(document, shared, points), []
    for rank, (name, paths) in enumerate(view.parts):
        held, wanted, due, owned, borrowed = (
            clock.means(summed(shared, paths, column), unit.base)
            for column in ("allocated_in", "demand_in", "deficit_in", "owned_in", "borrowed_in")
        )
        columns = {
            "own": [short(one - other) for one, other in zip(held, borrowed, strict=True)],
            "borrowed": borrowed,
            "waiting": [short(max(0, one - other)) for one, other in zip(wanted, held, strict=True)],
            "deficit": due,
            "owned": owned,
        }
        if all("quota_in" in shared["consumers"][path] for path in paths if path in shared["consumers"]):
            columns["quota"] = clock.means(summed(shared, paths, "quota_in"), unit.base)
        if not rank:
            columns["capacity"] = clock.means(shared["capacity_in"], unit.base)
        found.append(_series(clock, columns, plan=plan, consumer=name, rank=rank))
    return found


def together(plan: str, document: Document, shared: Document, unit: Unit) -> Any:  # noqa: ANN401 - JSON
    """The series of all consumers together."""
    clock, pieces = clock_of(document, shared, POINTS), len(shared["capacity_in"])
    top = [path for path in shared["consumers"] if path.count("/") == 1 and path != "/"]
    room, used = (
        clock.means(column, unit.base) for column in (shared["capacity_in"], summed(shared, ("/",), "allocated_in"))
    )
    wanted = clock.means(summed(shared, ("/",), "demand_in"), unit.base)
    held_of, wanted_of, owned_of = (
        [clock.means(summed(shared, (path,), name), 1) for path in top]
        for name in ("allocated_in", "demand_in", "owned_in")
    )
    index = []
    for at in range(len(room)):
        rows = [row for row in range(len(top)) if wanted_of[row][at] and owned_of[row][at]]
        index.append(short(jain([int(1_000_000 * held_of[row][at] / owned_of[row][at]) for row in rows]) / 1_000_000))
    columns = {
        "used": [short(100 * one / whole) if whole else 0 for one, whole in zip(used, room, strict=True)],
        "wanted": [short(100 * one / whole) if whole else 0 for one, whole in zip(wanted, room, strict=True)],
        "jain": index,
        "notified": clock.sums(shared["notified_in"], pieces, 1),
        "lost": clock.sums(shared["lost_in"], pieces, unit.base * 3_600_000_000),
    }
    return _series(clock, columns, plan=plan)


def _series(clock: Clock, columns: Mapping[str, list[float]], **same: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    return {**same, "begin": clock.begin / 1000, "step": clock.piece * clock.together / 1000, "columns": columns}


def rows_of(series: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Series as rows for a plot; a last row carries each to the end of its last step."""
    found = []
    for each in series:
        same = {name: value for name, value in each.items() if name not in {"begin", "step", "columns"}}
        columns = each["columns"]
        count = len(next(iter(columns.values())))
        for at in range(count + 1) if count else ():
            row = {name: column[min(at, count - 1)] for name, column in columns.items()}
            found.append({**same, "t": each["begin"] + at * each["step"], **row})
    return found


def lending(plan: str, shared: Document, view: View, unit: Unit) -> list[dict[str, Any]]:
    """Who held what others own: what was borrowed in a piece, over all that others did not use then.

    A policy that books loans unit by unit knows it more exactly; this is seen the same way for all of them.
    """
    names = [name for name, _ in view.parts]
    borrowed = [summed(shared, paths, "borrowed_in") for _, paths in view.parts]
    unused, sums = [], [0] * len(shared["capacity_in"])
    for at, (_, paths) in enumerate(view.parts):
        owned, held = summed(shared, paths, "owned_in"), summed(shared, paths, "allocated_in")
        unused.append([max(0, e - h + b) for e, h, b in zip(owned, held, borrowed[at], strict=True)])
        sums = [one + more for one, more in zip(sums, owned, strict=True)]
    above = summed(shared, (view.above,), "owned_in")
    from_outside = summed(shared, (view.above,), "borrowed_in")
    unused.append([max(0, a - s) + o for a, s, o in zip(above, sums, from_outside, strict=True)])
    total: dict[tuple[int, int], float] = {}
    for piece in range(len(sums)):
        there = [column[piece] for column in unused]
        for taker, column in enumerate(borrowed):
            if not column[piece]:
                continue
            # One consumer lends nothing to itself; what several do together stays among them.
            own = there[taker] if taker < len(view.members) else 0
            whole = sum(there) - own
            for giver, amount in enumerate(there):
                if amount and whole and not (giver == taker and own):
                    total[giver, taker] = total.get((giver, taker), 0) + column[piece] * amount / whole
    givers = [*names, ELSEWHERE]
    found = []
    # Rows of nothing keep the order of both axes.
    for giver, taker in product(range(len(givers)), range(len(names))) if total else ():
        hours = short(total.get((giver, taker), 0) / (unit.base * 3_600_000_000))
        same = {"plan": plan, "lender": givers[giver], "borrower": names[taker]}
        found.append({**same, "hours": hours, "text": number(hours) if hours else ""})
    return found


def taken(shared: Mapping[str, Document], view: View) -> list[dict[str, Any]]:
    """How often units were preempted from whom for whom, and how often they were preempted again; the most first.

    shared : name of the plan → the resource in its summary
    """
    counts: dict[tuple[str, str], dict[str, list[int]]] = {}
    for plan, each in shared.items():
        for at, name in enumerate(("taken", "preempted_again")):
            for holder, taker, count in each[name]:
                way = view.name_of(holder), view.name_of(taker) or (ELSEWHERE if taker else "no taker")
                if way[0]:
                    counts.setdefault(way, {}).setdefault(plan, [0, 0])[at] += count
    order = sorted(counts, key=lambda way: (-sum(each[0] for each in counts[way].values()), way))
    return [
        {
            "plan": plan,
            "way": f"{holder} → {taker}",
            "holder": holder,
            "taker": taker,
            "taken": once,
            "preempted_again": again,
        }
        for holder, taker in order[:WAYS]
        for plan, (once, again) in counts[holder, taker].items()
    ]


def sufferings(plan: str, shared: Document, view: View, unit: Unit) -> list[dict[str, Any]]:
    """What was taken from whom, what was lost, what waited."""
    found = []
    for rank, (name, paths) in enumerate(view.parts):
        rows = [shared["consumers"][path] for path in paths if path in shared["consumers"]]
        told, stopped, withdrawn = (sum(row[key] for row in rows) for key in ("notified", "stopped", "withdrawn"))
        lost = short(sum(row["lost"] for row in rows) / (unit.base * 3_600_000_000))
        same = {"plan": plan, "consumer": name, "rank": rank, "count": 0, "hours": 0}
        found += [
            same | {"what": "notified, withdrawn", "count": withdrawn},
            same | {"what": "stopped, and done again later", "count": stopped},
            same | {"what": "notified, finished in time", "count": max(0, told - stopped - withdrawn)},
            same | {"what": "lost", "hours": lost},
        ]
    return found


def spreads(plan: str, shared: Document, view: View, name: str, *, scale: int, least: float) -> list[dict[str, Any]]:
    """Which part of the tasks is at or below a bound; name: `waits` or `slowdowns`; least: smaller bounds are one."""
    found = []
    for rank, (consumer, paths) in enumerate(view.parts):
        counts: dict[int, int] = {}
        for path in paths:
            for bound, count in shared["consumers"].get(path, {}).get(name, ()):
                counts[bound] = counts.get(bound, 0) + count
        whole, below, points = sum(counts.values()), 0, {least: 0.0}
        for bound in sorted(counts):
            below += counts[bound]
            points[max(least, bound / scale)] = short(100 * below / whole)
        same = {"plan": plan, "consumer": consumer, "rank": rank}
        found += [same | {"bound": short(bound), "part": part} for bound, part in points.items() if whole]
    return found

"""The coming windows of a plan: its switches, what each changes for whom and, of a state, what each would reclaim."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.cycle.diff import diff
from fairhold.cycle.document import cycle_on
from fairhold.cycle.open import open_books, settle
from fairhold.cycle.pooled.merge_results import run_entries, with_pools, with_vectors
from fairhold.cycle.pooled.open import entries_of
from fairhold.cycle.settings_format import beside, said
from fairhold.ledger.rows import in_force, in_other_window, lay_out
from fairhold.ledger.transitions import next_deadline
from fairhold.model.plan import ConsumerSettings
from fairhold.model.state import State
from fairhold.model.window import DAY, MINUTE, WEEKDAYS
from fairhold.units import SECOND, format_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from fairhold.cycle.document import Cycle
    from fairhold.cycle.pooled.merge_results import Cycles
    from fairhold.ledger.books import Books
    from fairhold.ledger.rows import Rows
    from fairhold.model.calendar import Switch
    from fairhold.model.plan import Plan
    from fairhold.model.setting import Setting
    from fairhold.model.window import Windows

Document = dict[str, Any]
MOST_CYCLES = 10_000
"""Cycles between two switches at most; under constant demand they end long before."""
MOST_SWITCHES = 400
"""Switches at which two plans are compared at most."""
_DEFAULT = ConsumerSettings()


def switches(plan: Plan, begin: int, end: int) -> list[Switch]:
    """The switches after one instant and before another, in the order of time."""
    return [] if plan.calendar is None else plan.calendar.switches(begin + 1, end)


def look_ahead(plan: Plan, state: State, instants: Iterable[int]) -> Iterator[Cycle]:
    """The cycles at instants after a state's own, rising, if nobody wants more or less and nothing ends by itself."""
    books = open_books(plan, state)
    settle(books, state)
    return look_on(books, state.now, instants)


def look_on(books: Mapping[str, Books], now: int, instants: Iterable[int]) -> Iterator[Cycle]:
    """The cycles at instants after now, rising, on books that go on with their windows; they are changed by it.

    Between them cycles run whenever a grace runs out, so that each finds what the ones before have left.
    """
    cycle_on(books, now)
    for instant in instants:
        for _ in range(MOST_CYCLES):
            # Without a grace the units are there at the next instant: a cycle settles what was told before it.
            dues = (due for book in books.values() for due in (next_deadline(book), book.due) if due is not None)
            due = min(dues, default=instant)
            now = max(due, now + 1)
            if now >= instant:
                break
            _cycle_at(books, now)
        now = instant
        yield _cycle_at(books, now)


def _cycle_at(books: Mapping[str, Books], now: int) -> Cycle:
    """Settle, and the cycle under the entries that are in force by then."""
    for group, book in books.items():
        force = in_force(book.rows.source, group, now)
        if force != book.rows.force:
            book.use(in_other_window(book.rows, force))
    return cycle_on(books, now, tuple(settle(books, State(now))))


def pooled_ahead(plan: Plan, state: State, instants: Iterable[int]) -> Iterator[Cycles]:
    """The cycles at instants after a state's own, rising.

    Further cycles run in between, where a grace runs out or controls have left something.
    """
    cycles: Cycles = ()
    has_vectors = bool(entries_of(plan))
    if has_vectors:
        state, cycles = _vectors_at(plan, state, state.now)
    for instant in instants:
        for _ in range(MOST_CYCLES if has_vectors else 0):
            dues = (notice.deadline for notice in state.notices if notice.host not in state.hosts_down)
            later = (cycle.due for _, cycle in cycles if cycle.due is not None)
            now = min(instant, max(min([*dues, *later], default=instant), state.now + 1))
            state, cycles = _vectors_at(plan, state, now)
            if now == instant:
                break
        yield cycles


def _vectors_at(plan: Plan, state: State, now: int) -> tuple[State, Cycles]:
    """The vectors of a state after a cycle, and what it decided."""
    state = replace(state, now=now)
    cycles = run_entries(plan, state)
    empty = replace(state, requests=(), allocations=(), notices=(), held=(), shortages=(), previous_cycle=now)
    return with_vectors(empty, state, cycles), cycles


def calendar_document(plan: Plan, begin: int, end: int, state: State | None = None) -> Document:
    """The entries in force at an instant and every switch after it and before another, for `windows --json`.

    state : of `begin`; with it every switch has the reclaims of its first cycle
    """
    found = switches(plan, begin, end)
    instants = list(dict.fromkeys(switch.instant for switch in found))
    cycles = dict(zip(instants, look_ahead(plan, state, instants), strict=True)) if state is not None else {}
    pooled = dict(zip(instants, pooled_ahead(plan, state, instants), strict=True)) if state is not None else {}
    rows = {
        group: lay_out(plan, group, force) for group in plan.resource_groups if (force := in_force(plan, group, begin))
    }
    document: Document = {
        "time_zone": plan.time_zone,
        "from": format_instant(begin),
        "to": format_instant(end),
        "in_force": {group: _entries(plan, each.force) for group, each in rows.items()},
        "switches": [],
    }
    for switch in found:
        group = switch.resource_group
        assert plan.calendar is not None
        row: Document = {"at": format_instant(switch.instant)} | local_time(plan.calendar.windows, switch.instant)
        if switch.opens != switch.instant:
            row["opens"] = format_instant(switch.opens)
        row |= {"resource_group": group, "from": _entries(plan, switch.before), "to": _entries(plan, switch.after)}
        row["consumers"] = changes(
            in_other_window(rows[group], switch.before), in_other_window(rows[group], switch.after)
        )
        if state is not None:
            of_pools = (each for _, cycle in pooled[switch.instant] for each in cycle.reclaims)
            reclaims = [*cycles[switch.instant].document["reclaims"], *of_pools]
            row["reclaims"] = [each for each in reclaims if each["resource_group"] == group]
        document["switches"].append(row)
    return document


def local_time(windows: Windows, instant: int) -> Document:
    """What the clocks of the plan's time zone show: `{"local": "2026-01-05T18:00:00+01:00", "day": "Mon"}`.

    A special day has its name in place of the weekday's.
    """
    ahead = windows.zone.ahead(instant)
    wall = instant + ahead
    day = wall // (DAY * MINUTE)
    name = next((each.name for each in windows.special_days if day in each.dates), WEEKDAYS[(day + 3) % 7])
    minutes = abs(ahead) // MINUTE
    offset = f"{'-' if ahead < 0 else '+'}{minutes // 60:02d}:{minutes % 60:02d}"
    seconds = abs(ahead) // SECOND % 60
    return {"local": format_instant(wall).rstrip("Z") + offset + (f":{seconds:02d}" if seconds else ""), "day": name}


def _entries(plan: Plan, force: Sequence[int]) -> list[Document]:
    return [
        {"entry": at, "policy": plan.policies[at].policy.name, "window": plan.policies[at].window or None}
        for at in dict.fromkeys(force)
    ]


def changes(before: Rows, after: Rows) -> Document:
    """Path → setting → [before, after] of all consumers for which a switch changes what entries state."""
    found: Document = {}
    policies = [entry.policy for rows in (before, after) for entry in rows.entries]
    known = {each.name: beside(each.of_consumer, *(other.of_consumer for other in policies)) for each in policies}
    for node, path in enumerate(before.paths):
        old, new = _stated(before, node, known), _stated(after, node, known)
        if old != new:
            found[path] = {key: [old[key], new[key]] for key in old if old[key] != new[key]}
    return found


def _stated(rows: Rows, node: int, known: Mapping[str, Sequence[Setting]]) -> Document:
    entry = rows.entries[rows.chosen[node]]
    stated = entry.consumers.get(node, _DEFAULT)
    values = {"policy": entry.policy.name} if node else {}
    return values | said(stated, rows.paths, rows.source.resources, known[entry.policy.name])


class Side(NamedTuple):
    """One of two plans that are compared, with the books that a cycle under it has left.

    The books are changed by looking ahead.

    state : with the vectors; None = there are none
    """

    plan: Plan
    books: Mapping[str, Books]
    state: State | None = None

    def look(self, now: int, instants: Sequence[int]) -> Iterator[Cycle]:
        """The cycles at instants after now, rising, of slots and vectors; see `look_on`."""
        slots = look_on(self.books, now, instants)
        if self.state is None:
            yield from slots
            return
        for cycle, pooled in zip(slots, pooled_ahead(self.plan, self.state, instants), strict=True):
            yield cycle._replace(document=with_pools(self.plan, cycle.document, pooled), pooled=pooled)


def side(plan: Plan, state: State) -> Side:
    """A plan with the state that a cycle under it has left."""
    return Side(plan, open_books(plan, state), state)


def diff_windows(
    old: Side, new: Side, now: int, until: int, moved: Mapping[str, str] | None = None
) -> list[Document] | None:
    """What is different at the coming switches of two plans, at most `MOST_SWITCHES` of them.

    Each item is what `diff` says, and the time as `local_time` tells it. None where no plan has windows.
    moved : as for `diff`
    """
    if old.plan.calendar is None and new.plan.calendar is None:
        return None
    found = {switch.instant: plan for plan in (new.plan, old.plan) for switch in switches(plan, now, until)}
    instants = sorted(found)[:MOST_SWITCHES]
    cycles = zip(instants, old.look(now, instants), new.look(now, instants), strict=True)
    return [diff(before, after, moved) | _shown(found[instant], instant) for instant, before, after in cycles]


def _shown(plan: Plan, instant: int) -> Document:
    assert plan.calendar is not None
    return local_time(plan.calendar.windows, instant)

"""Whether a change of the plan below some consumers stays within the terms that these have.

What results is compared, not what was written: a setting comes from an entry, from the tree or from a consumer above.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.access.rights import covers
from fairhold.errors import place_text
from fairhold.model.plan import ConsumerSettings, PolicyEntry
from fairhold.model.policy import Policy
from fairhold.model.tree import ROOT, moved_path
from fairhold.units import UNLIMITED, format_duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fairhold.errors import Place
    from fairhold.model.plan import Plan

Term = tuple[int, "Place"]
"""A time in microseconds, and where the plan says it; () = nowhere."""
_NOTHING = ConsumerSettings()
_NO_ENTRY = PolicyEntry((), Policy("", (), ()))
"""The tree alone: an entry that is written later finds what it says."""
_DEFAULTS = {
    "reclaim_grace": 0,
    "min_runtime": 0,
    "reclaim_min_runtime": 0,
    "max_run_time": UNLIMITED,
    "preemption_delay": 0,
}
_SHORTEST = "preemption_delay"
"""The one time that burdens others where it is short; all others do where they are long."""


class _Pair(NamedTuple):
    """An entry as it was and as it is to be.

    at     : position of the new one; None = the tree alone
    before : row of the new plan → row of the old one; None = the consumer is new
    homes  : row of the new plan → rows of the consumers above it below which the plan may be changed
    """

    old: Plan
    new: Plan
    was: PolicyEntry
    will: PolicyEntry
    at: int | None
    before: Sequence[int | None]
    homes: Sequence[Sequence[int]]


def past_terms(old: Plan, new: Plan, moved: Mapping[str, str], paths: Sequence[str]) -> Iterator[tuple[Place, str]]:
    """The places by which consumers go past the terms of those below which the plan may be changed, and why.

    What a consumer had before, it may keep; a new one may have what the consumer above it had. Entries that are not in
    both plans are left out.

    moved : old path → new path of consumers that are called otherwise
    paths : consumers below which the plan may be changed
    """
    rows = {moved_path(path, moved): row for row, path in enumerate(old.tree.paths)}
    before = [rows.get(path) for path in new.tree.paths]
    inside = [(path, new.tree.rows[path]) for path in paths if path in new.tree.rows]
    homes = [[row for path, row in inside if path != each and covers(path, each)] for each in new.tree.paths]
    pairs = [_Pair(old, new, _NO_ENTRY, _NO_ENTRY, None, before, homes)]
    entries = {_key(entry): entry for entry in old.policies}
    for at, entry in enumerate(new.policies):
        if (was := entries.get(_key(entry))) is not None:
            pairs.insert(at, _Pair(old, new, was, entry, at, before, homes))
    told: dict[Place, str] = {}
    for pair in pairs:
        for place, why in (*_times(pair), *_reserves(pair), *_reserved_parts(pair)):
            told.setdefault(place, why)
    yield from told.items()


def _key(entry: PolicyEntry) -> tuple[object, ...]:
    return entry.resource_groups, entry.window, entry.policy.name


def _times(pair: _Pair) -> Iterator[tuple[Place, str]]:
    """Times that burden others more than those of the consumers above do."""
    paths, parent = pair.new.tree.paths, pair.new.tree.parent
    where = "" if pair.at is None else f" under `{place_text(('policies', pair.at))}`"
    for key in _DEFAULTS:
        sign, word = (-1, "shorter") if key == _SHORTEST else (1, "longer")
        had, has = _terms(pair.old, pair.was, None, key), _terms(pair.new, pair.will, pair.at, key)
        kept: list[int] = []
        for row, (micros, place) in enumerate(has):
            was = pair.before[row]
            kept.append(kept[parent[row]] if was is None else sign * had[was][0])
            homes = pair.homes[row]
            if homes and sign * micros > max(kept[row], *(sign * has[home][0] for home in homes)):
                bound = f"{word} than that of `{paths[homes[0]]}`, {_shown(has[homes[0]][0])}"
                yield place, f"`{paths[row]}` would have {_shown(micros)}{where}, {bound}"


def _shown(micros: int) -> str:
    return "no limit" if micros >= UNLIMITED else format_duration(micros)


def _terms(plan: Plan, entry: PolicyEntry, at: int | None, key: str) -> list[Term]:
    """By row, the time that results: stated in the entry, in the tree, or as above."""
    tree = plan.tree
    found: list[Term] = []
    for row, path in enumerate(tree.paths):
        inherited = found[tree.parent[row]] if row != ROOT else (_DEFAULTS[key], ())
        found.append(_own_term(plan, entry.consumers.get(row, _NOTHING), row, key, (at or 0, path)) or inherited)
    return found


def _own_term(plan: Plan, stated: ConsumerSettings, row: int, key: str, at: tuple[int, str]) -> Term | None:
    """The time that is stated for a consumer itself."""
    position, path = at
    here: Place = ("policies", position, "consumers", path)
    said = {
        "reclaim_grace": stated.grace,
        "min_runtime": stated.min_runtime,
        "reclaim_min_runtime": stated.queue.reclaim_min_runtime,
        "max_run_time": UNLIMITED if stated.max_run_time == 0 else stated.max_run_time,
        "preemption_delay": stated.queue.preemption_delay,
    }
    if (micros := said[key]) is not None:
        return micros, (*here, key)
    if key == "reclaim_min_runtime" and stated.min_runtime is not None:
        return stated.min_runtime, (*here, "min_runtime")
    if key == "reclaim_grace" and (grace := plan.tree.grace[row]) is not None:
        return grace, ("consumers", path, key)
    return None


def _reserves(pair: _Pair) -> Iterator[tuple[Place, str]]:
    """Slots that are not lent any more because the sum that is reserved below a consumer has grown (R-SCALE-2)."""
    had, has = _reserved(pair.old, pair.was), _reserved(pair.new, pair.will)
    for home in sorted({home for homes in pair.homes for home in homes}):
        was = pair.before[home]
        if has[home] <= max(0 if was is None else had[was], _own_reserve(pair, home)):
            continue
        below = [row for row in sorted(pair.will.consumers) if home in pair.homes[row] and _own_reserve(pair, row)]
        path = pair.new.tree.paths[home]
        for row in [row for row in below if _own_reserve(pair, row) > _earlier_reserve(pair, row)] or below:
            place = ("policies", pair.at or 0, "consumers", pair.new.tree.paths[row], "reserved")
            yield place, f"{has[home]} slots would be reserved below `{path}`, more than `{path}` reserves"


def _own_reserve(pair: _Pair, row: int) -> int:
    return pair.will.consumers.get(row, _NOTHING).reserved


def _earlier_reserve(pair: _Pair, row: int) -> int:
    was = pair.before[row]
    return 0 if was is None else pair.was.consumers.get(was, _NOTHING).reserved


def _reserved_parts(pair: _Pair) -> Iterator[tuple[Place, str]]:
    """Parts of hosts that are newly reserved, where the consumer above lends some of what it owns of them."""
    for row, stated in sorted(pair.will.consumers.items()):
        was = pair.before[row]
        earlier = () if was is None else pair.was.consumers.get(was, _NOTHING).own
        groups = {own.resource_group for own in stated.own if own.reserved and own not in earlier}
        for home in pair.homes[row]:
            lent = {own.resource_group for own in pair.will.consumers.get(home, _NOTHING).own if not own.reserved}
            if groups & lent:
                place = ("policies", pair.at or 0, "consumers", pair.new.tree.paths[row], "own")
                yield place, f"it would reserve hosts that `{pair.new.tree.paths[home]}` lends"


def _reserved(plan: Plan, entry: PolicyEntry) -> list[int]:
    """By row, the slots that are not lent: its own, or the sum of those below where that is more."""
    found = [0] * len(plan.tree)
    for row in range(len(plan.tree) - 1, -1, -1):
        below = sum(found[child] for child in plan.tree.children[row])
        found[row] = max(entry.consumers.get(row, _NOTHING).reserved, below)
    return found

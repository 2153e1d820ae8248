"""Whether a change of the plan stays below certain consumers, and within what these have."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.access.rights import covers
from fairhold.cycle.plan_diff import changes
from fairhold.errors import place_text
from fairhold.model.tree import ROOT
from fairhold.units import parse_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from fairhold.cycle.plan_diff import Changed
    from fairhold.errors import Place
    from fairhold.model.plan import ConsumerSettings, Plan, PolicyEntry
    from fairhold.model.tree import ConsumerTree

_PEERS = ("lend_to", "borrow_from")
_KEPT: Mapping[str, Callable[[ConsumerSettings], int | None]] = {
    "reclaim_grace": lambda stated: stated.grace,
    "min_runtime": lambda stated: stated.min_runtime,
    "reclaim_min_runtime": lambda stated: stated.queue.reclaim_min_runtime,
}
"""Times for which others wait for what is theirs."""


class Outside(NamedTuple):
    """A place that a change must not touch, and why."""

    place: Place
    why: str

    def text(self) -> str:
        """As people read it."""
        return f"`{place_text(self.place)}`: {self.why}"


def beyond(old: Plan, new: Plan, moved: Mapping[str, str], paths: Sequence[str]) -> Iterator[Outside]:
    """All by which a change goes beyond what is below some consumers; nothing for one who may change everything.

    moved : old path → new path of consumers that are called otherwise
    paths : consumers below which everything may change; what they have themselves may not
    """
    if "/" in paths:
        return
    for before, after in moved.items():
        if not any(_is_below(path, before) and _is_below(path, after) for path in paths):
            yield Outside(("consumers", after), f"it was `{before}`, and one of the two is outside")
    for change in changes(old, new, moved):
        home = next((path for path in paths if _is_inside(change.place, path)), None)
        if home is None:
            yield Outside(change.place, "this is outside")
            continue
        yield from _peers_outside(change, home)
        yield from _held_longer(change, new, home)


def _is_below(above: str, path: str) -> bool:
    return path != above and covers(above, path)


def _is_inside(place: Place, path: str) -> bool:
    """Whether what stands at a place belongs to the consumers below a path."""
    match place:
        case ("consumers", str(consumer), *rest):
            return _is_below(path, consumer) or (consumer == path and rest == ["consumers"])
        case ("policies", int(), "consumers", str(consumer), *_):
            return _is_below(path, consumer)
    return False


def _peers_outside(change: Changed, path: str) -> Iterator[Outside]:
    """Whom a consumer below a path is to lend to or borrow from now, and was not before, that is not below it."""
    if change.place[-1] not in _PEERS:
        return
    before, after = set(_words(change.old)), set(_words(change.new))
    for peer in sorted(before ^ after):
        if peer.startswith("/") and not covers(path, peer):
            yield Outside(change.place, f"`{peer}` is outside")


def _words(value: object) -> Iterator[str]:
    """All texts in a value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _words(key)
            yield from _words(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _words(each)


def _held_longer(change: Changed, new: Plan, path: str) -> Iterator[Outside]:
    """A time for which what is borrowed is kept from its owners, where it is longer now than that of a consumer."""
    key = str(change.place[-1])
    if key not in _KEPT or change.new is None:
        return
    wanted = 0 if change.new == 0 else parse_duration(str(change.new))
    at = change.place[1]
    entry = new.policies[at] if isinstance(at, int) else None
    if wanted is None or wanted > _kept(new.tree, entry, path, key):
        yield Outside(change.place, f"it is longer than that of `{path}`")


def _kept(tree: ConsumerTree, entry: PolicyEntry | None, path: str, key: str) -> int:
    """The time of a consumer, stated or inherited, in microseconds; 0 = none."""
    row = tree.rows.get(path, ROOT)
    above = [row]
    while row != ROOT:
        row = tree.parent[row]
        above.append(row)
    stated = [entry.consumers[each] for each in above if each in entry.consumers] if entry is not None else []
    times = [_KEPT[key](each) for each in stated]
    if key == "reclaim_grace":
        times += [tree.grace[each] for each in above]
    return next((each for each in times if each is not None), 0)

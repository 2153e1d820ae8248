"""Whether a change of the plan stays below certain consumers, and within what these have."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.access.plan_terms import past_terms
from fairhold.access.rights import covers
from fairhold.cycle.plan_diff import changes
from fairhold.errors import place_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fairhold.cycle.plan_diff import Changed
    from fairhold.errors import Place
    from fairhold.model.plan import Plan

_PEERS = ("lend_to", "borrow_from")


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
    for place, why in past_terms(old, new, moved, paths):
        yield Outside(place, why)


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

"""Objects that name their parent → a tree: who stands where, parents first, and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from fairhold.planio.report import shown

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from fairhold.errors import Place
    from fairhold.planio.imports.objects import KubernetesObject

MOST_LEVELS = 100
"""Levels of consumers that an import makes."""
SHOWN = 5
"""How many names of a circle are told."""
Key = TypeVar("Key", bound="Hashable")


@dataclass(frozen=True)
class Member:
    """One object in a tree.

    name   : of the consumer
    parent : key of the one above it, None = on the first level
    object : what it was read from, None where it is only named
    place  : where it names its parent
    """

    name: str
    parent: Hashable | None
    object: KubernetesObject | None
    place: Place = ()


def arrange(members: Mapping[Key, Member]) -> dict[Key, str]:
    """The path of every member, parents first; faults go to the reports of the objects, and then it may be incomplete.

    Every parent is one of the members.
    """
    children: dict[Hashable | None, list[Key]] = {}
    for key, member in members.items():
        children.setdefault(member.parent, []).append(key)
    paths: dict[Key, str] = {}
    todo: list[tuple[Key, str, int]] = []

    def put(keys: Sequence[Key], above: str, level: int) -> None:
        _refuse_same(members, keys)
        todo.extend((key, above, level) for key in reversed(_by_age(members, keys)))

    put(children.get(None, ()), "", 1)
    while todo:
        key, above, level = todo.pop()
        member = members[key]
        if level > MOST_LEVELS:
            _fault(member, "import-too-deep", f"the tree has more than {MOST_LEVELS} levels", "use fewer levels")
            return paths
        paths[key] = f"{above}/{member.name}"
        put(children.get(key, ()), paths[key], level + 1)
    _refuse_loops(members, paths)
    return paths


def _by_age(members: Mapping[Key, Member], keys: Sequence[Key]) -> list[Key]:
    """Siblings oldest first, where Kubernetes says how old they all are; else as they stand in the files."""
    ages = [(each.object.created if each.object else "", each.name) for each in map(members.__getitem__, keys)]
    if not all(created for created, _ in ages):
        return list(keys)
    return [key for _, key in sorted(zip(ages, keys, strict=True), key=lambda pair: pair[0])]


def _refuse_same(members: Mapping[Key, Member], keys: Iterable[Key]) -> None:
    seen: dict[str, Key] = {}
    for key in keys:
        member = members[key]
        first = members[seen.setdefault(member.name, key)]
        if first is not member:
            one, other = (member, first) if member.object else (first, member)
            with_whom = other.object.called() if other.object else f"`{shown(other.name)}`, which others name"
            what = f"it would be the same consumer as {with_whom}"
            _fault(one, "import-same-path", what, "rename one of the two")


def _refuse_loops(members: Mapping[Key, Member], placed: Mapping[Key, str]) -> None:
    """Whoever has no path is above itself, or below one who is."""
    known: set[Hashable] = set(placed)
    for key in members:
        trail: list[Key] = []
        on_it: set[Hashable] = set()
        at: Hashable | None = key
        while at is not None and at not in known and at not in on_it:
            trail.append(at)  # type: ignore[arg-type] # every parent is a key
            on_it.add(at)
            at = members[at].parent  # type: ignore[index]
        if at in on_it:
            circle = trail[trail.index(at) :]  # type: ignore[arg-type]
            names = [shown(members[each].name) for each in circle]
            told = names if len(names) <= SHOWN else [*names[: SHOWN - 1], "…"]
            what = f"`{names[0]}` is its own ancestor: {' -> '.join([*told, names[0]])}"
            _fault(members[circle[0]], "import-loop", what, "let one of them be on the first level")
        known |= on_it


def _fault(member: Member, code: str, what: str, mend: str) -> None:
    if member.object is not None:
        member.object.report.fault(code, f"{member.object.called()}: {what}", mend, member.place)

"""Jobs that a new plan has no place for and that have not ended: the plan cannot come into force."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.errors import Fault, InputError
from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator.vectors import knows_unit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from fairhold.model.vector import Told
    from fairhold.orchestrator.renaming import Renaming

NAMED = 5
"""How many jobs a fault names."""


class InUseError(InputError):
    """A plan cannot come into force while these jobs have not ended.

    jobs : their names
    """

    def __init__(self, faults: Iterable[Fault], jobs: Iterable[str] = ()) -> None:
        super().__init__(faults)
        self.jobs = tuple(jobs)


def takes(now: Renaming, group: str, path: str, unit: Told) -> bool:
    """Whether a plan has a leaf and, of vectors, what a job of it needs."""
    leaf = now.leaf(group, path)
    return leaf is not None and (not unit or knows_unit(now.books[POOLED], leaf, unit))


def refuse_where_in_use(jobs: Iterable[tuple[str, str, str, Told]], now: Renaming) -> None:
    """Raise InUseError where a plan does not take all of these jobs.

    jobs : name, resource group, path of the leaf before the plan, unit of a vector
    """
    gone: dict[tuple[str, str], list[str]] = {}
    strange: list[str] = []
    for name, group, path, unit in jobs:
        if now.leaf(group, path) is None:
            gone.setdefault((group, now.path(path)), []).append(name)
        elif not takes(now, group, path, unit):
            strange.append(name)
    if gone or strange:
        names = [job for each in gone.values() for job in each]
        raise InUseError([*_gone(gone, now.books), *_strange(strange)], [*names, *strange])


def _gone(gone: Mapping[tuple[str, str], list[str]], groups: Collection[str]) -> Iterator[Fault]:
    for (group, path), jobs in gone.items():
        if group == POOLED and group not in groups:
            what = f"the plan no longer shares resources of hosts, which jobs need that run or wait: {_named(jobs)}"
            mend = "cancel them or wait for them"
        elif group not in groups:
            what = f"the plan no longer has the resource group `{group}`, where jobs run or wait: {_named(jobs)}"
            mend = "cancel them or wait for them"
        else:
            what = f"the plan no longer has the leaf `{path}`, which has jobs that have not ended: {_named(jobs)}"
            was = f"`fairhold plan apply --was NEW={path}`"
            mend = f"move or cancel them, or name its new path: {was}"
        yield Fault("consumer-in-use", what, mend)


def _strange(jobs: list[str]) -> Iterator[Fault]:
    if jobs:
        what = f"jobs that have not ended need what the plan does not share, or not with their leaves: {_named(jobs)}"
        mend = "cancel them or wait for them, or keep their resources, base units and policy entries"
        yield Fault("unit-in-use", what, mend)


def _named(jobs: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in jobs[:NAMED]) + (" and others" if len(jobs) > NAMED else "")

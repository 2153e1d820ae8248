"""Jobs that a new plan has no place for and that have not ended: the plan cannot come into force."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.errors import Fault, InputError
from fairhold.ledger.vectors import POOLED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

NAMED = 5
"""How many jobs a fault names."""


class InUseError(InputError):
    """A plan cannot come into force while these jobs have not ended.

    jobs : their names
    """

    def __init__(self, faults: Iterable[Fault], jobs: Iterable[str] = ()) -> None:
        super().__init__(faults)
        self.jobs = tuple(jobs)


def refuse_where_in_use(gone: Mapping[tuple[str, str], list[str]], strange: list[str], groups: Collection[str]) -> None:
    """Raise InUseError where there are any.

    gone    : resource group and path, as it is called by now, of leaves that the plan does not have → their jobs
    strange : jobs that need what the plan does not have, or not in such amounts, or does not share with them
    groups  : resource groups that the plan shares
    """
    if gone or strange:
        jobs = [job for each in gone.values() for job in each]
        raise InUseError([*_gone(gone, groups), *_strange(strange)], [*jobs, *strange])


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

"""A workload: the jobs that a simulation plays, in columns, wherever they were read or made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.model.vector import Told

ENDLESS = UNLIMITED
"""Duration of a task that never ends by itself, a service; every other is shorter."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Jobs in columns, one row a job, sorted by `submit`, those of one instant in the order of their source.

    A column whose description names a default may be empty, which gives the default to all; else it has a row for
    every job. Names that repeat stand once in a table, and the column holds their place in it.

    name        : (jobs,) unique
    submit      : (jobs,) instant, microseconds since 1970
    consumer    : (jobs,) place in `consumers`
    tasks       : (jobs,) tasks, at least 1; each needs one unit, and runs by itself unless `min_count` ties it
    duration    : (jobs,) microseconds that each task runs, at least 0; `ENDLESS` = until it is stopped for good
    unit        : (jobs,) place in `units`; default 0
    min_count   : (jobs,) tasks that begin together or not at all, and stop together below that number; at most
                  `tasks`, 0 = none; default 0
    priority    : (jobs,) inside the leaf, larger first; default 0
    user        : (jobs,) place in `users`; default 0, where there are no users: one unnamed user
    preemptible : (jobs,) 1, or 0 where no task may be taken back; default 1
    consumers   : paths of leaves as the trace's rules gave them, whether or not a plan has them
    units       : what a task can need: (resource, amount as an exact decimal in the declared unit); () = one slot
    groups      : resource group of each of `units`, "" = the only one that the leaf has; default ""
    users       : who asks
    """

    name: Sequence[str]
    submit: Sequence[int]
    consumer: Sequence[int]
    tasks: Sequence[int]
    duration: Sequence[int]
    unit: Sequence[int] = ()
    min_count: Sequence[int] = ()
    priority: Sequence[int] = ()
    user: Sequence[int] = ()
    preemptible: Sequence[int] = ()
    consumers: tuple[str, ...] = ()
    units: tuple[Told, ...] = ((),)
    groups: tuple[str, ...] = ()
    users: tuple[str, ...] = ()

    def __len__(self) -> int:
        """How many jobs there are."""
        return len(self.submit)

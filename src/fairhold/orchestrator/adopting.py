"""What a cluster tells of itself: work that runs already, and labels of nodes that change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.errors import Fault, InputError
from fairhold.ledger.vectors import POOLED
from fairhold.orchestrator import changes as say

if TYPE_CHECKING:
    from fairhold.orchestrator.events import MachineLabelled, TaskAdopted
    from fairhold.orchestrator.handle import Orchestrator


def adopt(live: Orchestrator, event: TaskAdopted) -> None:
    """The next task of a job runs on a host already: it holds its units from now on, whoever's turn it is.

    What it uses of a vector is nobody's yet: the next cycle says of whom.
    """
    job = live.jobs.get(event.job)
    if job is None or not job.startable:
        raise _refused("unknown-job", f"job `{event.job}` has no task that could start", "submit the job first")
    group = job.resource_group
    if (group, event.host) not in live.cluster.hosts:
        what = f"the host `{event.host}` is none of those that `{job.consumer}` may use"
        raise _refused("unknown-host", what, "look at the plan's `nodes`, and at the labels of the node")
    index, number = job.peek()
    if event.last >= live.cluster.next_attempt:
        live.do(say.AttemptNumbersTaken(event.last))
    name = live.cluster.next_attempt
    unit = ("/", (), (), ()) if group == POOLED else ("", (), (), ())
    live.do(say.Started(name, job.name, index, number, ((event.host, job.units),), *unit))
    if event.is_running:
        live.do(say.Running(name))
    live.changed(group)


def label(live: Orchestrator, event: MachineLabelled) -> None:
    """A machine has other labels; one that is not connected tells them when it is again."""
    machine = live.cluster.machines.get(event.machine)
    if machine is not None and not machine.is_silent and machine.labels != event.labels:
        live.do(say.MachineSeen(event.machine, machine.boot, machine.spool, event.labels))
        live.changed_all()


def _refused(code: str, what: str, mend: str) -> InputError:
    return InputError([Fault(code, what, mend)])

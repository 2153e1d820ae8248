"""What tasks have written and left in the folders of their jobs: of this machine, or through the agent of another."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from fairhold.agent import reading
from fairhold.engines.agents.questions import AgentAwayError, AgentBusyError, Question
from fairhold.engines.files import folder_name
from fairhold.runtime.live.finished_overlay import attempts_over
from fairhold.service.problems import refused, unknown_job

if TYPE_CHECKING:
    from concurrent.futures import Future

    from fairhold.agent.reading import Entry, Piece
    from fairhold.errors import InputError
    from fairhold.runtime.live.core import Core
    from fairhold.service.context import Service

MOST = 8 * 1024 * 1024
"""Bytes of one answer."""
PATIENCE = 10.0
"""Seconds that an agent may take to answer."""
_LOOK = 0.05
_LONGEST_LOOK = 0.4
"""Seconds between two looks at a file that somebody waits for; longer the longer it takes."""
_PAGE = 1_000


@runtime_checkable
class Answering(Protocol):
    """A hub whose agents answer questions about files."""

    def ask(self, machine: str, question: Question) -> Future[Any]:
        """Ask the agent of a machine."""
        ...


class Tried(NamedTuple):
    """An attempt of a task.

    number  : from 1; 0 = the task was never started
    folder  : of its job, in that of all jobs
    is_over : nothing more will be written, unless another attempt comes
    host    : on which it ran; machine: of the agent there, empty = the service's own
    """

    folder: str
    task: int
    number: int
    is_over: bool
    host: str = ""
    machine: str = ""

    @property
    def output(self) -> str:
        """Path of the file that it writes, below the folder of all jobs."""
        return f"{self.folder}/{self.task}.{self.number}.out"

    def left(self, path: str) -> str:
        """A path in the job directory of its task, likewise."""
        return f"{self.folder}/{self.task}.dir" + (f"/{path}" if path else "")


def attempt_of(core: Core, job: str, task: int, number: int) -> Tried:
    """The attempt of this number of a task, 0 = the latest; in the desk's thread. InputError: no such job or task."""
    record = core.orchestrator.jobs.get(job)
    done = None if record else core.finished(job)
    if record is None and done is None:
        raise unknown_job(job)
    tasks = record.terms.tasks if record else int(json.loads(done.summary)["tasks"]) if done else 0
    if task >= tasks:
        raise refused("unknown-task", f"job `{job}` has no task {task}", "tasks count from 0")
    folder = folder_name(job)
    for name in record.attempts if record is not None else ():
        attempt = core.orchestrator.attempts[name]
        if attempt.index == task and number in {0, attempt.number}:
            host = attempt.places[0][0]
            machine = core.cluster.machine_of(host)
            return Tried(folder, task, attempt.number, is_over=False, host=host, machine=machine)
    over, host = _last_over(core, job, task, number)
    if number and not over:
        raise refused("unknown-attempt", f"task {task} of job `{job}` has no attempt {number}", "leave it out")
    machine = core.cluster.machine_of(host) if over else ""
    return Tried(folder, task, over, bool(over) or record is None or record.is_over, host, machine)


def _last_over(core: Core, job: str, task: int, number: int) -> tuple[int, str]:
    """Number of the latest attempt of a task that is over, or the one asked for, and its host; 0 = there is none."""
    after, found = (task, number - 1 if number else 0), (0, "")
    while True:
        rows = attempts_over(core, job, after, 1 if number else _PAGE)
        mine = [(row.number, row.host) for row in rows if row.task == task]
        if number:
            return mine[0] if mine and mine[0][0] == number else (0, "")
        if not mine:
            return found
        found = mine[-1]
        if len(mine) < len(rows) or len(rows) < _PAGE:
            return found
        after = (task, found[0])


async def read(service: Service, tried: Tried, path: str, offset: int, limit: int) -> Piece | None:
    """Bytes of a file below the folder of all jobs, on the machine of an attempt; None where there is no such file.

    A file on this machine comes first: where machines share a storage, nobody has to be asked. InputError: the other
    machine is away.
    """
    jobs = str(service.jobs_directory)
    piece = await asyncio.to_thread(reading.read, jobs, path, offset, min(limit, MOST))
    if piece is not None or not tried.machine:
        return piece
    found: Piece | None = await _ask(service, tried, Question("read", path, limit, offset=offset))
    return found


async def entries(service: Service, tried: Tried, path: str, after: str, limit: int) -> list[Entry] | None:
    """What lies in a folder, likewise."""
    jobs = str(service.jobs_directory)
    found = await asyncio.to_thread(reading.entries, jobs, path, after, limit)
    if found is not None or not tried.machine:
        return found
    answer: list[Entry] | None = await _ask(service, tried, Question("list", path, limit, after=after))
    return answer


async def output_of(service: Service, tried: Tried, offset: int, limit: int) -> Piece | None:
    """A piece of what an attempt has written; None where its file is not there, or not yet.

    An attempt that has ended on this machine and has written nothing leaves no file in the folder of its job.
    """
    piece = await read(service, tried, tried.output, offset, limit)
    if piece is None and tried.is_over and not tried.machine:
        is_there = await entries(service, tried, tried.folder, "", 1) is not None
        return reading.Piece(b"", offset, is_end=True) if is_there else None
    return piece


async def _ask(service: Service, tried: Tried, question: Question) -> Any:  # noqa: ANN401 - as the question is
    hub = service.desk.agents
    if not isinstance(hub, Answering):
        return None
    busy: AgentBusyError | None = None
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    answer = hub.ask(tried.machine, question)
                except AgentBusyError as error:  # others are before it
                    busy = error
                    await asyncio.sleep(_LOOK)
                else:
                    busy = None
                    return await asyncio.wrap_future(answer)
    except TimeoutError:
        if busy is not None:
            raise refused("too-many", f"the files are {on_host(tried.host)}: {busy}", "ask again in a moment") from None
        raise _away(tried.host, f"its agent has not answered within {PATIENCE:g} seconds") from None
    except AgentAwayError as error:
        raise _away(tried.host, str(error)) from None


def on_host(name: str) -> str:
    """Where something is, as people read it; empty = the machine of a plan that names no hosts."""
    return f"on host `{name}`" if name else "on the service's machine"


def _away(host: str, why: str) -> InputError:
    what = f"the files are {on_host(host)}, which cannot be reached: {why}"
    return refused("host-away", what, "see `fairhold hosts`, and ask again when it is connected")


async def pause(spent: float) -> None:
    """Wait until a file is looked at again that has been waited for since so many seconds."""
    await asyncio.sleep(min(max(_LOOK, spent / 10), _LONGEST_LOOK))

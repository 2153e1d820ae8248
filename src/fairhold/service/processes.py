"""Long work for one request, done by a process of its own and only as long as somebody waits for it."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.responses import Response

from fairhold.errors import Fault, InputError
from fairhold.service.problems import refused

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from starlette.requests import Request

    Document = dict[str, Any]

_NOBODY = 499
"""Status of a request whose client has gone, for the log and the metrics: nobody is sent it."""


class Work(NamedTuple):
    """What a process does.

    module  : that answers once (`sim.own_process`)
    longest : seconds that it may take
    name    : of the work, for people and in codes; mend: how to ask for less
    """

    module: str
    longest: float
    name: str
    mend: str


async def answer_of(work: Work, asked: bytes) -> Document:
    """What the process answers; it is ended where it takes too long, or where this is cancelled.

    Raises InputError with what it says, or `NAME-too-long`, `NAME-failed`.
    """
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", work.module), stdin=pipe, stdout=pipe, stderr=pipe
    )
    try:
        async with asyncio.timeout(work.longest):
            answer, trouble = await process.communicate(asked)
    except TimeoutError:
        what = f"the {work.name} did not finish within {work.longest:g} seconds"
        raise refused(f"{work.name}-too-long", what, work.mend) from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        last = trouble.decode(errors="replace").strip().rpartition("\n")[2]
        raise refused(f"{work.name}-failed", f"the process of the {work.name} failed: {last}", "report this")
    found: Document = json.loads(answer)
    if "faults" in found:
        raise InputError([Fault(code, what, mend) for code, what, mend in found["faults"]])
    return found


async def while_asked(request: Request, work: Coroutine[Any, Any, Response]) -> Response:
    """The answer that work gives; when the client goes, work is cancelled."""
    task, gone = asyncio.create_task(work), asyncio.create_task(_gone(request))
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else Response(status_code=_NOBODY)
    finally:
        task.cancel()
        gone.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _gone(request: Request) -> None:
    """Returns when the client has gone; its body has been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass

"""The output of tasks."""

import asyncio
import time
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response

from fairhold.access.permissions import Permission as May
from fairhold.runtime.live.core import Core
from fairhold.service import output
from fairhold.service.allowing import allows, require_for_job
from fairhold.service.context import ServiceOf
from fairhold.service.fields import MOST
from fairhold.service.problems import refused
from fairhold.service.settings import MIB

router = APIRouter(prefix="/jobs", tags=["jobs"])
_LARGEST_OFFSET = 2**60
_BYTES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Bytes from `offset` on.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        "headers": {
            "Fairhold-Attempt": {"description": "Number of the attempt.", "schema": {"type": "integer"}},
            "Fairhold-Next": {"description": "Offset behind these bytes.", "schema": {"type": "integer"}},
            "Fairhold-Ended": {"description": "1: it writes no more.", "schema": {"type": "integer"}},
        },
    }
}


class Bytes(Response):
    """Bytes as they are."""

    media_type = "application/octet-stream"


@router.get("/{job}/tasks/{task}/output", response_class=Bytes, responses=_BYTES, openapi_extra=allows(May.VIEW))
async def task_output(
    service: ServiceOf,
    job: str,
    *,
    task: Annotated[int, Path(ge=0, le=MOST)],
    attempt: Annotated[int, Query(ge=0, le=MOST, description="Its number, 0 = the latest.")] = 0,
    offset: Annotated[int, Query(ge=0, le=_LARGEST_OFFSET)] = 0,
    limit: Annotated[int, Query(ge=1, le=output.MOST)] = MIB,
    wait: Annotated[float, Query(ge=0, le=60, description="Seconds to wait for more.")] = 0,
) -> Response:
    """A piece of the output of one attempt; with `wait`, when there is any, it has ended, or the time is over."""

    def look(core: Core) -> output.Tried:
        require_for_job(core, service.rights, job, May.READ_OUTPUT, May.VIEW)
        return output.attempt_of(core, job, task, attempt)

    began = time.monotonic()
    piece = None
    while True:
        tried = await service.read(look)
        if tried.number:
            name = (job, task, tried.number)
            where = (service.jobs_directory, name, offset, limit)
            piece = await asyncio.to_thread(output.read, *where, is_here=tried.is_here)
        spent = time.monotonic() - began
        if (piece and piece.content) or tried.is_over or spent >= wait or service.news.is_ended:
            break
        await output.pause(spent)
    if piece is None and tried.is_over and tried.number:
        what = f"the output of attempt {tried.number} of task {task} is not on this machine"
        raise refused("no-output", what, "look on the host that it ran on; outputs of old jobs are removed")
    piece = piece or output.Piece(b"", offset, is_end=True)
    headers = {
        "Fairhold-Attempt": str(tried.number),
        "Fairhold-Next": str(piece.next),
        "Fairhold-Ended": str(int(tried.is_over and piece.is_end)),
    }
    return Bytes(piece.content, headers=headers)

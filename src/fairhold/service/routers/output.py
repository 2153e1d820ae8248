"""What tasks have written, and the files that they have left in their job directories."""

import time
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response

from fairhold.access.permissions import Permission as May
from fairhold.agent.reading import Piece
from fairhold.runtime.live.core import Core
from fairhold.service import output
from fairhold.service.allowing import allows, require_for_job
from fairhold.service.context import Service, ServiceOf
from fairhold.service.fields import MOST
from fairhold.service.models.job_answers import TaskFiles
from fairhold.service.output import Tried
from fairhold.service.problems import refused
from fairhold.service.settings import MIB
from fairhold.units import format_instant

router = APIRouter(prefix="/jobs/{job}/tasks/{task}", tags=["jobs"])
_LARGEST_OFFSET = 2**60
_LONGEST_PATH = 4096
_NEXT = {"description": "Offset behind these bytes.", "schema": {"type": "integer"}}


def _bytes(**headers: dict[str, Any]) -> dict[int | str, dict[str, Any]]:
    """How an answer of bytes is described."""
    return {
        200: {
            "description": "Bytes from `offset` on.",
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
            "headers": {f"Fairhold-{name}": header for name, header in headers.items()},
        }
    }


_OUTPUT = _bytes(
    Attempt={"description": "Number of the attempt.", "schema": {"type": "integer"}},
    Next=_NEXT,
    Ended={"description": "1: it writes no more.", "schema": {"type": "integer"}},
)
_FILE = _bytes(Next=_NEXT, Ended={"description": "1: there is no more at present.", "schema": {"type": "integer"}})
Task = Annotated[int, Path(ge=0, le=MOST)]
Attempt = Annotated[int, Query(ge=0, le=MOST, description="Its number, 0 = the latest.")]
Offset = Annotated[int, Query(ge=0, le=_LARGEST_OFFSET)]
Limit = Annotated[int, Query(ge=1, le=output.MOST)]


class Bytes(Response):
    """Bytes as they are."""

    media_type = "application/octet-stream"


@router.get("/output", response_class=Bytes, responses=_OUTPUT, openapi_extra=allows(May.VIEW))
async def task_output(
    service: ServiceOf,
    job: str,
    *,
    task: Task,
    attempt: Attempt = 0,
    offset: Offset = 0,
    limit: Limit = MIB,
    wait: Annotated[float, Query(ge=0, le=60, description="Seconds to wait for more.")] = 0,
) -> Response:
    """A piece of the output of one attempt; with `wait`, when there is any, it has ended, or the time is over."""
    began = time.monotonic()
    piece = None
    while True:
        tried = await _tried(service, job, task, attempt)
        if tried.number:
            piece = await output.output_of(service, tried, offset, limit)
        spent = time.monotonic() - began
        if (piece and piece.content) or tried.is_over or spent >= wait or service.news.is_ended:
            break
        await output.pause(spent)
    if piece is None and tried.is_over and tried.number:
        what = f"the output of attempt {tried.number} of task {task} is no longer {output.on_host(tried.host)}"
        raise refused("no-output", what, "outputs of old jobs are removed; `--keep-jobs` of `serve` says when")
    piece = piece or Piece(b"", offset, is_end=True)
    headers = {
        "Fairhold-Attempt": str(tried.number),
        "Fairhold-Next": str(piece.next),
        "Fairhold-Ended": str(int(tried.is_over and piece.is_end)),
    }
    return Bytes(piece.content, headers=headers)


@router.get("/files", response_model=TaskFiles, openapi_extra=allows(May.VIEW))
async def task_files(
    service: ServiceOf,
    job: str,
    *,
    task: Task,
    attempt: Attempt = 0,
    path: Annotated[str, Query(max_length=_LONGEST_PATH, description="A folder in the job directory.")] = "",
    after: Annotated[str, Query(max_length=_LONGEST_PATH, description="`next` of the page before.")] = "",
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> dict[str, Any]:
    """What a task has left in its job directory, on the host of its latest attempt, or of the one asked for."""
    tried = await _begun(service, job, task, attempt)
    found = await output.entries(service, tried, tried.left(path), after, limit)
    if found is None:
        raise _missing(tried, path, "folder")
    rows = [
        {"name": each.name, "kind": each.kind, "size": each.size, "modified": format_instant(each.modified)}
        for each in found
    ]
    following = found[-1].name if len(found) == limit else None
    where = {"job": job, "task": task, "attempt": tried.number, "host": tried.host, "path": path}
    return {**where, "files": rows, "next": following}


@router.get("/file", response_class=Bytes, responses=_FILE, openapi_extra=allows(May.VIEW))
async def task_file(
    service: ServiceOf,
    job: str,
    *,
    task: Task,
    path: Annotated[str, Query(min_length=1, max_length=_LONGEST_PATH, description="A file in the job directory.")],
    attempt: Attempt = 0,
    offset: Offset = 0,
    limit: Limit = MIB,
) -> Response:
    """A piece of a file in the job directory of a task."""
    tried = await _begun(service, job, task, attempt)
    piece = await output.read(service, tried, tried.left(path), offset, limit)
    if piece is None:
        raise _missing(tried, path, "file")
    return Bytes(piece.content, headers={"Fairhold-Next": str(piece.next), "Fairhold-Ended": str(int(piece.is_end))})


async def _tried(service: Service, job: str, task: int, attempt: int) -> Tried:
    """An attempt, where the caller may read what jobs write, or the job is his own."""

    def look(core: Core) -> Tried:
        require_for_job(core, service.rights, job, May.READ_OUTPUT, May.VIEW)
        return output.attempt_of(core, job, task, attempt)

    return await service.read(look)


async def _begun(service: Service, job: str, task: int, attempt: int) -> Tried:
    tried = await _tried(service, job, task, attempt)
    if not tried.number:
        what = f"task {task} of job `{job}` has not begun"
        raise refused("no-output", what, "wait for it, or see why it waits: `fairhold explain JOB`")
    return tried


def _missing(tried: Tried, path: str, kind: str) -> Exception:
    what = f"the job directory of task {tried.task} {output.on_host(tried.host)} has no {kind} `{path}`"
    if not path:
        what = f"task {tried.task} has no job directory {output.on_host(tried.host)}, or none any more"
    return refused("no-file", what, "links are not followed; directories of old jobs are removed")

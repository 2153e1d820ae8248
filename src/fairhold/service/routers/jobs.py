"""Jobs: submitted, looked at, waited for, changed."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import JSONResponse

from fairhold.access.document import SUMS
from fairhold.access.permissions import Permission as May
from fairhold.access.rights import Rights
from fairhold.errors import InputError
from fairhold.orchestrator.events import Event, JobCancelled, JobChanged, JobHeld, JobReleased, JobRequeued
from fairhold.runtime.live.core import Core
from fairhold.runtime.live.desk import Freeing
from fairhold.runtime.live.path_suggestions import better
from fairhold.runtime.live.views import jobs as view
from fairhold.runtime.live.views.explanation import job_explanation
from fairhold.runtime.live.views.pool_jobs import what_would_help
from fairhold.runtime.live.views.tasks import tasks_page
from fairhold.service.allowing import allows, cache_of, require, require_for_job
from fairhold.service.bodies import ReadingRoute
from fairhold.service.context import CallerOf, Service, ServiceOf
from fairhold.service.expecting import expect
from fairhold.service.fields import MOST, KeyOfClient
from fairhold.service.forecasting import PendingRequest, job_forecast
from fairhold.service.limits import check_job, check_labels
from fairhold.service.models import job_answers as answers
from fairhold.service.models.requests import ChangeBody, HoldBody, SubmitBody
from fairhold.service.problems import refused, unknown_job
from fairhold.service.processes import while_asked
from fairhold.service.sorted_jobs import sorted_page
from fairhold.service.submitting import check, most_waiting, submit
from fairhold.sim.forecast import DRAWS, HORIZON, MOST_DRAWS
from fairhold.units import LONGEST, SECOND

router = APIRouter(prefix="/jobs", tags=["jobs"], route_class=ReadingRoute)
OVER = frozenset({"done", "failed", "cancelled"})
LONGEST_WAIT = 60
State = Literal["waiting", "blocked", "held", "running", "done", "failed", "cancelled"]
Column = Literal[
    "job", "name", "consumer", "user", "state", "priority", "tasks", "running", "waiting", "submitted", "ended"
]
Downwards = Literal[
    "-job",
    "-name",
    "-consumer",
    "-user",
    "-state",
    "-priority",
    "-tasks",
    "-running",
    "-waiting",
    "-submitted",
    "-ended",
]
Key = Annotated[KeyOfClient | None, Header(alias="Idempotency-Key", description="The same key is the same job.")]
Wait = Annotated[float, Query(ge=0, le=LONGEST_WAIT, description="Seconds to wait.")]
Limit = Annotated[int, Query(ge=1, le=1000)]
Cursor = Annotated[str, Query(max_length=200, description="`next` of the page before.")]
Expected = Annotated[bool, Query(description="Say when tasks that wait are expected to start.")]


_WHERE = {"Location": {"description": "Address of the job.", "schema": {"type": "string"}}}


@router.post(
    "",
    response_model=answers.Job,
    status_code=201,
    responses={200: {"model": answers.Job, "headers": _WHERE}, 201: {"headers": _WHERE}},
    openapi_extra=allows(May.SUBMIT),
)
async def submit_job(service: ServiceOf, caller: CallerOf, body: SubmitBody, key: Key = None) -> Response:
    """Submit a job; answered when it is durable. 200: the key was used before, and this is its job."""
    check_job(body, service.settings.limits)
    user = owner_of(service, body)
    if not service.keeper.lets_submit(caller):
        what = f"the limit `submits` of `{caller.user}` is {caller.rights.limits.submits} a second"
        raise refused("too-many", what, "submit fewer jobs with more tasks, or have it raised in the access document")
    detail = {"consumer": body.consumer} | ({"for": user} if user != caller.user else {})
    service = service._replace(deed=service.deed._replace(detail=detail))
    name, document = await service.write(
        lambda core: submit(core, body, user, key or "", service.caller), told=lambda found: found[0]
    )
    status = 200 if document is None else 201
    document = await _document(service, name) if document is None else service.shown(document)
    return JSONResponse(document, status, {"Location": f"/v1/jobs/{name}"})


@router.post("/check", response_model=answers.Accepted, openapi_extra=allows(May.SUBMIT))
async def check_job_terms(service: ServiceOf, body: SubmitBody, key: Key = None) -> Response:
    """Whether a job would be accepted now, by itself; nothing is submitted."""
    check_job(body, service.settings.limits)
    user = owner_of(service, body)
    return JSONResponse(await service.read(lambda core: check(core, body, user, key or "", service.caller)))


@router.get("", response_model=answers.Jobs, openapi_extra=allows(May.VIEW))
async def list_jobs(
    service: ServiceOf,
    *,
    consumer: Annotated[str, Query(max_length=10_000)] = "",
    state: Annotated[State | None, Query()] = None,
    user: Annotated[str, Query(max_length=100)] = "",
    label: Annotated[str, Query(max_length=1000, description="`NAME:VALUE`")] = "",
    text: Annotated[str, Query(max_length=200, description="Part of number, name, consumer or user.")] = "",
    all: Annotated[bool, Query(description="Finished ones too.")] = False,  # noqa: A002 - a query
    sort: Annotated[Column | Downwards | None, Query(description="Column; `-` before it: downwards.")] = None,
    limit: Limit = 100,
    cursor: Annotated[str, Query(max_length=20_000, description="`next` of the page before.")] = "",
    expected: Expected = False,
) -> Response:
    """A page of jobs; the newest first, and behind them those that have ended, or by a column."""
    name, colon, value = label.partition(":")
    if label and not (name and colon):
        raise refused("name", f"`label={label}` is not a label with its value", "write `label=NAME:VALUE`")
    sees = None if service.rights.sees_all else cache_of(service.rights)
    wanted = view.Wanted(consumer, state or "", user, (name, value), all or state in OVER, sees, text)

    if sort:
        page = await sorted_page(service, wanted, sort, cursor, limit)
    else:
        page = await service.read(lambda core: view.jobs_page(core, wanted, cursor, limit))
    is_told = sees is not None and service.rights.others == SUMS and not cursor
    page["others"] = (
        await service.read(lambda core: view.jobs_elsewhere(core, service.rights.sees)) if is_told else None
    )
    if expected:
        await expect(service, page["jobs"])
    return JSONResponse(service.shown(page))


@router.get("/{job}", response_model=answers.Job, openapi_extra=allows(May.VIEW))
async def show_job(service: ServiceOf, job: str, *, wait: Wait = 0, expected: Expected = False) -> Response:
    """One job; with `wait`, when it has ended or the time is up."""
    if not wait:
        document = await _document(service, job)
        if expected:
            await expect(service, (document,))
        return JSONResponse(document)
    with service.news.expect(job) as end:
        document = await _document(service, job)
        if document["state"] not in OVER:
            await end.wait(wait)
            document = await _document(service, job)
    return JSONResponse(document)


@router.get("/{job}/tasks", response_model=answers.Tasks, openapi_extra=allows(May.VIEW))
async def list_tasks(service: ServiceOf, job: str, limit: Limit = 100, cursor: Cursor = "") -> Response:
    """A page of a job's tasks with their attempts."""
    return _found(service, await service.read_job(job, lambda core: tasks_page(core, job, cursor, limit)), job)


@router.get("/{job}/explanation", response_model=answers.JobExplanation, openapi_extra=allows(May.VIEW))
async def explain_job(service: ServiceOf, job: str) -> Response:
    """Why a job waits: its place, what bounds it, who has the units, when they come back, and what would help."""
    found, look_closer = await service.read_job(
        job, lambda core: (job_explanation(core, job), what_would_help(core, job))
    )
    return _found(service, found if found is None else await asyncio.to_thread(look_closer, found), job)


@router.get("/{job}/forecast", response_model=answers.Forecast, openapi_extra=allows(May.VIEW))
async def forecast_job(
    request: Request,
    service: ServiceOf,
    job: str,
    *,
    draws: Annotated[int, Query(ge=1, le=MOST_DRAWS)] = DRAWS,
    seed: Annotated[int, Query(ge=0, le=MOST)] = 0,
    ahead: Annotated[int, Query(ge=1, le=LONGEST // SECOND, description="Seconds.")] = HORIZON // SECOND,
) -> Response:
    """When a waiting job will start: the state now, played on with run times drawn from those of finished tasks."""
    await service.read_job(job, lambda _: None)

    async def answer() -> Response:
        found = await job_forecast(service, PendingRequest(job, draws, seed, ahead * SECOND))
        return JSONResponse(service.shown(found))

    return await while_asked(request, answer())


@router.post("/{job}/cancel", response_model=answers.Job, openapi_extra=allows(May.SUBMIT, May.MANAGE_JOBS))
async def cancel_job(service: ServiceOf, job: str) -> Response:
    """Cancel a job: drop its waiting tasks and stop the running ones; nothing if it has ended."""
    await service.write(Freeing(lambda core: _cancel(core, service.rights, job)), job)
    return JSONResponse(await _document(service, job))


@router.post("/{job}/hold", response_model=answers.Job, openapi_extra=allows(May.SUBMIT, May.MANAGE_JOBS))
async def hold_job(service: ServiceOf, job: str, body: HoldBody | None = None) -> Response:
    """Hold a job: none of its tasks starts."""
    reason = body.reason if body else ""
    return await _tell(service, job, lambda: JobHeld(job, reason))


@router.post("/{job}/release", response_model=answers.Job, openapi_extra=allows(May.SUBMIT, May.MANAGE_JOBS))
async def release_job(service: ServiceOf, job: str) -> Response:
    """Release a held job."""
    return await _tell(service, job, lambda: JobReleased(job))


@router.post("/{job}/requeue", response_model=answers.Job, openapi_extra=allows(May.SUBMIT, May.MANAGE_JOBS))
async def requeue_job(service: ServiceOf, job: str) -> Response:
    """Stop the running tasks of a job and queue them again at the front."""
    return await _tell(service, job, lambda: JobRequeued(job))


@router.patch("/{job}", response_model=answers.Job, openapi_extra=allows(May.SUBMIT, May.MANAGE_JOBS))
async def change_job(service: ServiceOf, job: str, body: ChangeBody) -> Response:
    """Change the priority or the labels of a job, or move it to another leaf: all that is named, or nothing."""
    labels = body.labels
    if labels is not None:
        check_labels(labels, service.settings.limits)

    def change(core: Core) -> None:
        _require_active(core, service.rights, job)
        if body.consumer is not None:
            require(service.rights, May.SUBMIT, body.consumer)
        try:
            most = most_waiting(core, service.caller, core.orchestrator.jobs[job].terms.user)
            core.change(JobChanged(job, body.priority, body.consumer or ""), labels, most)
        except InputError as error:
            told = better(error, core.plan.tree, body.consumer or "") if service.rights.sees_all else error
            raise told from None

    await service.write(change, job)
    return JSONResponse(await _document(service, job))


def owner_of(service: Service, body: SubmitBody) -> str:
    """Whose a job will be: the caller's, or that of somebody for whom he may act. InputError `not-allowed`."""
    require(service.rights, May.SUBMIT, body.consumer)
    if body.user and body.user != service.caller.user:
        require(service.rights, May.IMPERSONATE, body.consumer)
    return body.user or service.caller.user


def _found(service: Service, document: dict[str, Any] | None, job: str) -> Response:
    if document is None:
        raise unknown_job(job)
    return JSONResponse(service.shown(document))


async def _document(service: Service, job: str) -> dict[str, Any]:
    document = await service.read_job(job, lambda core: view.job_document(core, job))
    if document is None:
        raise unknown_job(job)
    return service.shown(document)


async def _tell(service: Service, job: str, event: Callable[[], Event]) -> Response:
    """Hand an event about a job that has not ended to the core; the job after it."""

    def tell(core: Core) -> None:
        _require_active(core, service.rights, job)
        core.feed(event())

    await service.write(tell, job)
    return JSONResponse(await _document(service, job))


def _cancel(core: Core, rights: Rights, job: str) -> None:
    if _is_active(core, rights, job):
        core.feed(JobCancelled(job))


def _require_active(core: Core, rights: Rights, job: str) -> None:
    if not _is_active(core, rights, job):
        raise refused("job-over", f"job `{job}` has ended", "submit it again")


def _is_active(core: Core, rights: Rights, job: str) -> bool:
    """Whether a job has not ended; raises InputError where there is none, or somebody may not change it."""
    require_for_job(core, rights, job, May.MANAGE_JOBS, May.SUBMIT)
    if job in core.orchestrator.jobs:
        return True
    if core.finished(job) is None:
        raise unknown_job(job)
    return False

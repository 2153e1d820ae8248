"""What somebody wants to be told of: of one job, and of all his jobs; and how he is reached."""

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from fairhold.access.permissions import Permission as May
from fairhold.runtime.live.core import Core
from fairhold.service.allowing import allows, not_allowed, require_visible
from fairhold.service.auth import VIEWER
from fairhold.service.bodies import ReadingRoute
from fairhold.service.context import Service, ServiceOf
from fairhold.service.models import people_answers as answers
from fairhold.service.models.people_requests import NotificationsBody, WatchBody
from fairhold.service.problems import refused, unknown_job
from fairhold.service.subscribing import change, check_watch, document, host_of, ordered, test, watch

router = APIRouter(tags=["notifications"], route_class=ReadingRoute)


@router.get("/me/notifications", response_model=answers.Notifications, openapi_extra=allows())
async def show_notifications(service: ServiceOf) -> Response:
    """How the caller is reached, and what he is told of all his jobs."""
    return JSONResponse(await service.read(lambda core: document(core, service.caller)))


@router.patch("/me/notifications", response_model=answers.NewNotifications, openapi_extra=allows())
async def change_notifications(service: ServiceOf, body: NotificationsBody) -> Response:
    """Change how the caller is reached, and what he is told of all his jobs; what is left out stays."""
    _require_own_name(service)
    detail = body.model_dump(exclude_none=True) | ({"webhook": host_of(body.webhook)} if body.webhook else {})
    service = service._replace(deed=service.deed._replace(detail=detail))

    def work(core: Core) -> dict[str, object]:
        secret = change(core, service.caller, body)
        return document(core, service.caller) | {"secret": secret or None}

    return JSONResponse(await service.write(work, service.caller.user))


@router.post("/me/notifications/test", response_model=answers.Notifications, openapi_extra=allows())
async def test_notifications(service: ServiceOf) -> Response:
    """Send the caller a message that says so, by all ways on which he is reached."""
    _require_own_name(service)

    def work(core: Core) -> dict[str, object]:
        test(core, service.caller)
        return document(core, service.caller)

    return JSONResponse(await service.write(work, service.caller.user))


@router.get("/jobs/{job}/notifications", response_model=answers.Watch, openapi_extra=allows(May.VIEW))
async def show_watch(service: ServiceOf, job: str) -> Response:
    """Of what of a job the caller is told."""
    return JSONResponse(await service.read(lambda core: _watch(core, service, job)))


@router.put("/jobs/{job}/notifications", response_model=answers.Watch, openapi_extra=allows(May.VIEW))
async def watch_job(service: ServiceOf, job: str, body: WatchBody) -> Response:
    """Say of what of a job, which has not ended, the caller wants to be told."""
    _require_own_name(service)
    service = service._replace(deed=service.deed._replace(detail={"events": [*body.events]}))

    def work(core: Core) -> dict[str, object]:
        require_visible(core, service.rights, job)
        if job not in core.orchestrator.jobs:
            if core.finished(job) is None:
                raise unknown_job(job)
            raise refused("job-over", f"job `{job}` has ended", "`fairhold show` tells how")
        watch(core, check_watch(core, service.caller, job, service.caller.user, body.events), job, body.events)
        return _watch(core, service, job)

    return JSONResponse(await service.write(work, job))


def _watch(core: Core, service: Service, job: str) -> dict[str, object]:
    """Of what of a job the caller is told: as he said of it, else as he said of all his jobs."""
    require_visible(core, service.rights, job)
    user, notifications = service.caller.user, core.notifications
    record, events = core.cluster.jobs.get(job), notifications.watch_of(job, user)
    if record is None and core.finished(job) is None:
        raise unknown_job(job)
    standing = notifications.subscription(user)
    if events is None and record is not None and record.terms.user == user:
        events = standing.events
    return {"job": job, "events": [*ordered(events or ())] if record else []}


def _require_own_name(service: Service) -> None:
    """Raise InputError `not-allowed` where the caller is nobody in particular."""
    if service.caller.via == VIEWER.via:
        raise not_allowed(service.rights, ["a token of one's own"])

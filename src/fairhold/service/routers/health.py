"""The state of the service, its metrics, and its end."""

import time
from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse, PlainTextResponse

from fairhold import __version__
from fairhold.access.permissions import Permission as May
from fairhold.service.allowing import SEE_ALL, allows
from fairhold.service.bodies import ReadingRoute
from fairhold.service.cluster_metrics import cluster_exposition, cluster_numbers
from fairhold.service.context import Governing, Service, ServiceOf
from fairhold.service.metrics import exposition, numbers
from fairhold.service.models import answers
from fairhold.service.models.requests import StopBody
from fairhold.service.problems import refused
from fairhold.units import format_instant

router = APIRouter(tags=["service"], route_class=ReadingRoute)
_EXPOSITION = "text/plain; version=0.0.4; charset=utf-8"


@router.get("/health", response_model=answers.Health, openapi_extra=allows(May.VIEW))
async def health(service: ServiceOf) -> Response:
    """The state of the service; answered also while its desk is busy."""
    core, trouble = service.desk.core, service.desk.trouble
    agents = _agents(service)
    document = {
        "state": service.condition,
        **service.role,
        "trouble": None if trouble is None else f"{trouble.what}; {_unwritten(service)}",
        "version": __version__,
        "plan": core.version,
        "entries": core.store.last,
        "started": format_instant(service.started),
        "uptime": round(time.monotonic() - service.began, 6),
        "agents": agents,
    }
    return JSONResponse(document)


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    openapi_extra=allows(SEE_ALL),
)
async def metrics(service: ServiceOf) -> Response:
    """Numbers for Prometheus."""
    read = await service.read(numbers)
    agents = sum(bool(each["connected"]) for each in _agents(service))
    text = exposition(service, read, agents)
    engine = service.desk.agents
    if isinstance(engine, Governing):
        governor = engine.governor
        text += cluster_exposition(await service.read(lambda _: cluster_numbers(governor)), engine.measures)
    return Response(text, media_type=_EXPOSITION)


@router.post("/stop", status_code=202, response_model=answers.Stop, openapi_extra=allows(May.STOP))
async def stop(service: ServiceOf, body: StopBody | None = None) -> Response:
    """Stop the service; answered when that has begun."""
    how = body.how if body else "leave"
    if service.stopping is None:
        raise refused(
            "not-supported-yet", "this service can only be stopped by the process that started it", "ask them"
        )
    if how == "failover" and not service.settings.stands_by:
        what = "this service was started without --standby: it would not come back to stand by"
        raise refused("no-standby", what, "start both services with --standby, or stop this one")
    service.desk.write(service.recorded(lambda _: None, how))
    await service.stopping.ask(how)
    return JSONResponse({"how": how}, 202)


def _unwritten(service: Service) -> str:
    """Since when nothing can be written, and what."""
    return f"since {format_instant(service.desk.since)}; not written: {service.desk.unwritten}"


def _agents(service: Service) -> list[dict[str, Any]]:
    return [
        {
            "machine": each.machine,
            "host": each.host,
            "connected": each.is_connected,
            "since": format_instant(each.since),
            "version": each.version,
            "slots": each.slots,
            "waiting": each.waiting,
            "beat": format_instant(each.beat) if each.beat else None,
        }
        for each in service.agents()
    ]

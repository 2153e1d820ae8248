"""The service in a few numbers, and its state as a file."""

import asyncio
import time

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from fairhold import __version__
from fairhold.access.permissions import Permission as May
from fairhold.runtime.live.views.cycles import cycles_page
from fairhold.runtime.live.views.status import status_document
from fairhold.service.allowing import SEE_ALL, allows
from fairhold.service.context import ServiceOf
from fairhold.service.models import status_answers as answers
from fairhold.service.planning import at_hand, plan_head, state_now
from fairhold.units import format_instant

router = APIRouter(tags=["service"])


@router.get("/status", response_model=answers.Status, openapi_extra=allows(May.VIEW))
async def status(service: ServiceOf) -> Response:
    """The service, its plan, hosts, what is used, who waits, what is under notice, and the last cycle."""
    gone = {agent.machine: agent.gone_at for agent in service.agents() if agent.gone_at}
    found = await service.read(lambda core: status_document(core, gone))
    plan = await asyncio.to_thread(service.store.plan)
    assert plan is not None, "a service has a plan"
    cycles = (await asyncio.to_thread(cycles_page, service.store, limit=1))["cycles"]
    trouble = service.desk.trouble
    head = {
        "state": service.condition,
        **service.role,
        "trouble": None if trouble is None else str(trouble),
        "version": __version__,
        "address": service.url,
        "directory": str(service.settings.directory),
        "started": format_instant(service.started),
        "uptime": round(time.monotonic() - service.began, 6),
    }
    document = {"service": head, "plan": plan_head(plan)} | found | {"cycle": next(iter(cycles), None)}
    return JSONResponse(service.shown(document))


@router.get("/state", response_model=answers.State, openapi_extra=allows(SEE_ALL))
async def state(service: ServiceOf) -> Response:
    """The live state as a state file has it, which the commands on files take beside the plan in force."""
    return JSONResponse(await service.work_out(state_now, *await at_hand(service)))

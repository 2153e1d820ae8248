"""Pods of a governed cluster."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse

from fairhold.runtime.live.views import pods as view
from fairhold.runtime.live.views.observed import seats_of, would_do
from fairhold.service.allowing import SEE_ALL, allows
from fairhold.service.context import Service, ServiceOf
from fairhold.service.models import pod_answers as answers
from fairhold.service.planning import frozen_of

ALL = 2**31
router = APIRouter(prefix="/pods", tags=["pods"])


@router.get("", response_model=answers.Pods, openapi_extra=allows(SEE_ALL))
async def list_pods(
    service: ServiceOf,
    namespace: Annotated[str, Query(max_length=100)] = "",
    state: Annotated[answers.State | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1_000,
) -> Response:
    """Pods that are governed and not over."""
    governor = service.governor
    return JSONResponse(
        await service.read(lambda core: view.pods_document(core, governor, namespace, state or "", limit))
    )


@router.get("/observed", response_model=answers.Observed, openapi_extra=allows(SEE_ALL))
async def show_observed(service: ServiceOf, limit: Annotated[int, Query(ge=1, le=10_000)] = 1_000) -> Response:
    """What would be started, told to go and stopped now; nothing is done."""
    return JSONResponse(await _observed(service, limit))


@router.get("/{namespace}/{pod}", response_model=answers.Pod, openapi_extra=allows(SEE_ALL))
async def show_pod(service: ServiceOf, namespace: str, pod: str) -> Response:
    """One pod: where it stands, and why."""
    governor = service.governor
    found = await service.read(lambda core: view.pod_document(core, governor, namespace, pod))
    if service.settings.is_observing:
        actions = (await _observed(service, ALL))["actions"]
        seat = (found["job"], found["task"])
        found["would"] = next((row for row in actions if (row["job"], row["task"]) == seat), None)
    return JSONResponse(found)


async def _observed(service: Service, limit: int) -> dict[str, Any]:
    governor = service.governor
    seats, refused = await service.read(lambda _: seats_of(governor))
    frozen = await frozen_of(service)
    return await service.work_out(lambda: would_do(frozen.standing(), seats, refused, limit))

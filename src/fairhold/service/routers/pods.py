"""Pods of a governed cluster."""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse

from fairhold.runtime.live.views import pods as view
from fairhold.service.context import ServiceOf
from fairhold.service.models import pod_answers as answers

router = APIRouter(prefix="/pods", tags=["pods"])


@router.get("", response_model=answers.Pods)
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


@router.get("/{namespace}/{pod}", response_model=answers.Pod)
async def show_pod(service: ServiceOf, namespace: str, pod: str) -> Response:
    """One pod: where it stands, and why."""
    governor = service.governor
    return JSONResponse(await service.read(lambda core: view.pod_document(core, governor, namespace, pod)))

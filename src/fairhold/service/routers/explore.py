"""Other numbers on the state of now, what happened under another plan, the coming windows. Nothing is changed."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from fairhold.service.allowing import SEE_ALL, allows
from fairhold.service.bodies import ReadingRoute
from fairhold.service.context import ServiceOf
from fairhold.service.exploring import content, drafted, explored, windows_ahead
from fairhold.service.fields import Span
from fairhold.service.limits import check_plan
from fairhold.service.models import explore_answers as answers
from fairhold.service.models import simulate_answers
from fairhold.service.models.requests import AHEAD, DraftBody, ExploreBody, SimulateBody
from fairhold.service.planning import at_hand
from fairhold.service.processes import while_asked
from fairhold.service.simulating import Asked, simulated

router = APIRouter(tags=["what if"], route_class=ReadingRoute)


@router.get("/explore", response_model=answers.Explorable, openapi_extra=allows(SEE_ALL))
async def explorable(service: ServiceOf) -> Response:
    """What can be changed to look what would be."""
    return JSONResponse(await service.work_out(content, *await at_hand(service)))


@router.post("/explore", response_model=answers.Explored, openapi_extra=allows(SEE_ALL))
async def explore(service: ServiceOf, body: ExploreBody) -> Response:
    """What other numbers would do to the cluster now."""
    return JSONResponse(await service.work_out(explored, *await at_hand(service), body.changes, body.consumer))


@router.post("/explore/draft", response_model=answers.Draft, openapi_extra=allows(SEE_ALL))
async def draft_plan(service: ServiceOf, body: DraftBody) -> Response:
    """The text of the plan in force with changes; its comments are kept where single values can be put in."""
    return JSONResponse(await service.work_out(drafted, *await at_hand(service), body.changes))


@router.post("/simulate", response_model=simulate_answers.Simulated, openapi_extra=allows(SEE_ALL))
async def simulate(request: Request, service: ServiceOf, body: SimulateBody) -> Response:
    """What happened, played as it was and under another plan. It is given up when the client goes."""
    text = body.text
    if text is None:
        _, text = await at_hand(service)
    check_plan(text, service.settings.limits)
    asked = Asked(text, body.since or 0, body.until or 0)

    async def answer() -> Response:
        return JSONResponse(await simulated(service, asked))

    return await while_asked(request, answer())


@router.get("/windows", response_model=answers.Windows, openapi_extra=allows(SEE_ALL))
async def windows(
    service: ServiceOf,
    *,
    next: Annotated[Span | None, Query(description="How far to look ahead; default: 7d.")] = None,  # noqa: A002 - a query
    reclaims: Annotated[bool, Query(description="Also what each switch takes back.")] = False,
) -> Response:
    """The calendar of the plan in force."""
    held = await at_hand(service)
    return JSONResponse(await service.work_out(windows_ahead, *held, next or AHEAD, with_reclaims=reclaims))

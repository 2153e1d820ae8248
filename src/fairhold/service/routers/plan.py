"""The plan: looked at, checked, compared, put in force, taken back."""

import asyncio
import json
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import JSONResponse

from fairhold.access.permissions import Permission as May
from fairhold.planio.schema import schema
from fairhold.ports import PlanVersion
from fairhold.runtime.live.core import Core
from fairhold.service.allowing import SEE_ALL, allows
from fairhold.service.bodies import ReadingRoute
from fairhold.service.context import CallerOf, Service, ServiceOf
from fairhold.service.fields import MOST
from fairhold.service.limits import check_plan
from fairhold.service.models import plan_answers as answers
from fairhold.service.models.requests import AHEAD, CheckBody, DiffBody, PlanBody, RevertBody
from fairhold.service.planning import (
    Effect,
    Look,
    Scope,
    frozen_of,
    plan_check,
    plan_document,
    plan_effect,
    plan_head,
    work_over_time,
)
from fairhold.service.problems import refused
from fairhold.service.versions import ETAG, with_version
from fairhold.service.versions import seen as seen_version

router = APIRouter(prefix="/plan", tags=["plan"], route_class=ReadingRoute)
DryRun = Annotated[bool, Query(description="Only say what would happen.")]
OverTime = Annotated[
    bool,
    Query(description="Also say what becomes of the work over time, as a dry run does; the plan is in force first."),
]
IfMatch = Annotated[str | None, Header(description='`"VERSION"` of the plan that the change was made from.')]


class Wanted(NamedTuple):
    """A plan that somebody wants in force.

    seen : version that they have seen
    was  : new path → old path
    look : how far what it does is looked at
    span : microseconds after which the plan before comes back, 0 = never
    """

    text: str
    author: str
    comment: str
    seen: int
    was: dict[str, str]
    look: Look
    span: int = 0

    def put_in_force(self, core: Core, effect: Effect) -> int:
        """Do it; its version. In the desk's thread."""
        until = core.now() + self.span if self.span else 0
        return core.apply_plan(
            self.text, self.author, self.comment, self.seen, until=until, moved=effect.moved, plan=effect.plan
        )


@router.get("", response_model=answers.Plan, responses=ETAG, openapi_extra=allows(SEE_ALL, May.EDIT_PLAN))
async def plan_in_force(service: ServiceOf) -> Response:
    """The plan in force; its `ETag` is wanted as `If-Match` to change it."""
    plan = await asyncio.to_thread(service.store.plan)
    assert plan is not None, "a service has a plan"
    return with_version(plan_document(plan), plan.version)


@router.get("/schema", openapi_extra=allows(May.VIEW))
async def plan_schema() -> dict[str, Any]:
    """The JSON schema of plans: their keys, with what may stand there."""
    found: dict[str, Any] = json.loads(schema("plan"))
    return found


@router.get("/versions", response_model=answers.Plans, openapi_extra=allows(SEE_ALL, May.EDIT_PLAN))
async def plan_versions(
    service: ServiceOf,
    before: Annotated[int, Query(ge=0, le=MOST)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:
    """Versions of the plan, the latest first."""
    plans = await asyncio.to_thread(service.store.plans, before, limit)
    return JSONResponse({"versions": [plan_head(plan) for plan in plans]})


@router.get(
    "/versions/{version}", response_model=answers.Plan, responses=ETAG, openapi_extra=allows(SEE_ALL, May.EDIT_PLAN)
)
async def plan_version(service: ServiceOf, version: int) -> Response:
    """One version of the plan."""
    plan = await _version(service, version)
    return with_version(plan_document(plan), plan.version)


@router.post("/check", response_model=answers.Check, openapi_extra=allows(May.VIEW))
async def check(service: ServiceOf, body: CheckBody) -> Response:
    """Every fault of a plan with its place and mend; the balance of every parent. Nothing is changed."""
    check_plan(body.text, service.settings.limits)
    return JSONResponse(await service.work_out(plan_check, body.text))


@router.post("/diff", response_model=answers.Difference, openapi_extra=allows(SEE_ALL, May.EDIT_PLAN))
async def difference(service: ServiceOf, body: DiffBody) -> Response:
    """What another plan would do now: who gains, who loses, what is reclaimed by when; and over time.

    Jobs that keep it from being in force are listed as `in_the_way`, and count as cancelled.
    """
    check_plan(body.text, service.settings.limits)
    frozen = await frozen_of(service)
    look = Look(body.next, body.checkpoint or 0, is_strict=False)
    scope = None if service.rights.sees_all else _scope(service)  # what is in the way of others is not for all
    effect = await service.work_out(plan_effect, frozen, body.text, body.was, look, scope)
    return JSONResponse(service.shown(effect.diff | {"warnings": effect.warnings}))


@router.put("", response_model=answers.Applied, responses=ETAG, openapi_extra=allows(May.EDIT_PLAN))
async def apply(
    service: ServiceOf,
    caller: CallerOf,
    body: PlanBody,
    *,
    if_match: IfMatch = None,
    dry_run: DryRun = False,
    over_time: OverTime = False,
) -> Response:
    """Put another plan in force, whole or not at all."""
    check_plan(body.text, service.settings.limits)
    look = Look(body.next, body.checkpoint or 0, is_played=dry_run)
    wanted = Wanted(
        body.text,
        caller.user,
        body.comment,
        seen_version(if_match, "plan-changed", "GET /v1/plan"),
        body.was,
        look,
        body.for_ or 0,
    )
    return await _apply(service, wanted, is_dry=dry_run, with_time=over_time)


@router.post("/revert", response_model=answers.Applied, responses=ETAG, openapi_extra=allows(May.EDIT_PLAN))
async def revert(
    service: ServiceOf, caller: CallerOf, body: RevertBody, *, if_match: IfMatch = None, dry_run: DryRun = False
) -> Response:
    """Put an earlier version of the plan in force again, as a new version."""
    seen = seen_version(if_match, "plan-changed", "GET /v1/plan")
    if body.to is None and seen == 1:
        what = "version 1 is in force, and there is no version before it to go back to"
        raise refused("unknown-plan", what, "to change the plan, use `fairhold plan apply FILE`")
    earlier = await _version(service, body.to or seen - 1)
    comment = body.comment or f"back to version {earlier.version}"
    wanted = Wanted(earlier.text, caller.user, comment, seen, body.was, Look(AHEAD, is_played=dry_run))
    return await _apply(service, wanted, is_dry=dry_run)


async def _apply(service: Service, wanted: Wanted, *, is_dry: bool, with_time: bool = False) -> Response:
    frozen = await frozen_of(service)
    if frozen.version != wanted.seen:
        what = f"plan {frozen.version} is in force, and the change was made from plan {wanted.seen}"
        raise refused("plan-changed", what, "read the plan in force and make the change again")
    effect = await service.work_out(plan_effect, frozen, wanted.text, wanted.was, wanted.look, _scope(service))
    version = wanted.seen
    if not is_dry:
        version = await service.write(
            lambda core: wanted.put_in_force(core, effect), told=lambda number: f"plan {number}"
        )
    if with_time and not is_dry:  # told after it is in force: a large cluster takes long to look at
        effect.diff["over_time"] = await service.work_out(work_over_time, frozen, effect, wanted.look)
    return with_version(service.shown({"version": version, "warnings": effect.warnings, "diff": effect.diff}), version)


def _scope(service: Service) -> Scope:
    return Scope(service.rights, service.desk.core.people.access)


async def _version(service: Service, version: int) -> PlanVersion:
    plan = await asyncio.to_thread(service.store.plan, version) if 0 < version <= MOST else None
    if plan is None:
        raise refused(
            "unknown-plan", f"there is no version {version} of the plan", "`fairhold plan versions` lists them"
        )
    return plan

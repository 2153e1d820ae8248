"""The access document: looked at, compared, put in force."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import JSONResponse

from fairhold.access.changes import access_changes
from fairhold.access.permissions import Permission as May
from fairhold.ports.people import AccessVersion
from fairhold.runtime.live.core import Core
from fairhold.runtime.live.people import checked, dead_bindings
from fairhold.service.allowing import allows
from fairhold.service.bodies import ReadingRoute
from fairhold.service.context import Service, ServiceOf
from fairhold.service.fields import MOST
from fairhold.service.limits import check_plan
from fairhold.service.models import people_answers as answers
from fairhold.service.models.people_requests import AccessBody
from fairhold.service.problems import fault_document, refused
from fairhold.service.versions import ETAG, with_version
from fairhold.service.versions import seen as seen_version
from fairhold.units import format_instant

router = APIRouter(prefix="/access", tags=["people"], route_class=ReadingRoute)
IfMatch = Annotated[str | None, Header(description='`"VERSION"` of the document that the change was made from.')]
DryRun = Annotated[bool, Query(description="Only say what would change.")]


@router.get("", response_model=answers.Access, responses=ETAG, openapi_extra=allows(May.MANAGE_ACCESS))
async def access_in_force(service: ServiceOf) -> Response:
    """The access document in force, with what in it gives nobody anything."""
    found = await asyncio.to_thread(service.store.access)
    if found is None:
        mend = "write one and put it in force: `fairhold access apply FILE`"
        raise refused("unknown-access", "there is no access document", mend)
    warnings = await service.read(lambda core: [*dead_bindings(core.people.access, core.plan.tree)])
    return with_version(_document(found) | {"warnings": [fault_document(each) for each in warnings]}, found.version)


@router.get("/versions", response_model=answers.AccessVersions, openapi_extra=allows(May.MANAGE_ACCESS))
async def access_versions(
    service: ServiceOf,
    before: Annotated[int, Query(ge=0, le=MOST)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:
    """Versions of the access document, the latest first."""
    found = await asyncio.to_thread(service.store.accesses, before, limit)
    return JSONResponse({"versions": [_head(each) for each in found]})


@router.get(
    "/versions/{version}", response_model=answers.Access, responses=ETAG, openapi_extra=allows(May.MANAGE_ACCESS)
)
async def access_version(service: ServiceOf, version: int) -> Response:
    """One version of the access document."""
    found = await asyncio.to_thread(service.store.access, version) if 0 < version <= MOST else None
    if found is None:
        what = f"there is no version {version} of the access document"
        raise refused("unknown-access", what, "`fairhold access versions` lists them")
    return with_version(_document(found) | {"warnings": []}, version)


@router.put("", response_model=answers.AccessApplied, responses=ETAG, openapi_extra=allows(May.MANAGE_ACCESS))
async def apply_access(
    service: ServiceOf, body: AccessBody, *, if_match: IfMatch = None, dry_run: DryRun = False
) -> Response:
    """Put another access document in force, whole or not at all; the first one is made from version 0."""
    check_plan(body.text, service.settings.limits)
    seen = seen_version(if_match, "access-changed", "GET /v1/access")

    def look(core: Core) -> dict[str, Any]:
        access, warnings = checked(core, body.text)
        changes = access_changes(core.people.access, access)
        return {"warnings": [fault_document(each) for each in warnings], "changes": changes}

    told = await service.read(look)
    version = await _apply(service, body, seen) if not dry_run else service.desk.core.people.version
    return with_version({"version": version, **told}, version)


async def _apply(service: Service, body: AccessBody, seen: int) -> int:
    said = (service.caller.user, body.comment)
    return await service.write(
        lambda core: core.people.apply(core, body.text, said, seen), told=lambda version: f"version {version}"
    )


def _head(access: AccessVersion) -> dict[str, Any]:
    return {
        "version": access.version,
        "at": format_instant(access.at),
        "author": access.author,
        "comment": access.comment,
    }


def _document(access: AccessVersion) -> dict[str, Any]:
    return _head(access) | {"text": access.text}

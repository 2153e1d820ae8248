"""Who asks, and tokens: one's own, and for administrators those of all."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from fastapi.responses import JSONResponse

from fairhold.access.permissions import Permission as May
from fairhold.ports.people import TokenRecord
from fairhold.runtime.live.core import Core
from fairhold.runtime.live.people import Wished
from fairhold.service.allowing import allows, not_allowed
from fairhold.service.bodies import ReadingRoute
from fairhold.service.context import Service, ServiceOf, now
from fairhold.service.fields import MOST
from fairhold.service.models import people_answers as answers
from fairhold.service.models.people_requests import TokenBody
from fairhold.service.problems import refused
from fairhold.units import format_instant

router = APIRouter(tags=["people"], route_class=ReadingRoute)
_MOST_TOKENS = 1_000
"""Of one person that are good at a time."""


@router.get("/me", response_model=answers.Me, openapi_extra=allows())
async def who_am_i(service: ServiceOf) -> Response:
    """Who asks, and what he may do."""
    access, caller = service.desk.core.people.access, service.caller
    tree = service.desk.core.plan.tree
    held = [] if caller.is_built_in else [*access.bindings_of(caller.user, caller.groups)]
    return JSONResponse(
        {
            "user": caller.user,
            "via": caller.via,
            "expires": format_instant(caller.expires) if caller.expires else None,
            "administrator": caller.is_built_in,
            "groups": access.groups_of(caller.user, caller.groups),
            "roles": [{"role": each.role, "at": each.at, "live": each.at in tree.rows} for each in held],
            "permissions": {str(each): [*paths] for each, paths in sorted(caller.rights.paths.items())},
            "others": caller.rights.others,
            "limits": caller.rights.limits._asdict(),
        }
    )


@router.get("/tokens", response_model=answers.Tokens, openapi_extra=allows())
async def list_tokens(
    service: ServiceOf,
    user: Annotated[str, Query(max_length=64, description="Default: all that the caller may see.")] = "",
) -> Response:
    """Tokens: the caller's own; with `manage_access` those of all."""
    wanted = user
    if not service.rights.may(May.MANAGE_ACCESS):
        if user not in {"", service.caller.user}:
            raise not_allowed(service.rights, [May.MANAGE_ACCESS])
        wanted = service.caller.user
    tokens = await service.read(lambda core: core.people.tokens())
    moment = now()
    return JSONResponse({"tokens": [_document(each, moment) for each in tokens if wanted in {"", each.user}]})


@router.post("/tokens", response_model=answers.NewToken, status_code=201, openapi_extra=allows())
async def create_token(service: ServiceOf, body: TokenBody) -> Response:
    """Make a token, for the caller, or with `manage_access` for somebody else.

    One that is made with a token ends with it at the latest.
    """
    caller, user = service.caller, body.user or service.caller.user
    if user != caller.user and not caller.rights.may(May.MANAGE_ACCESS):
        raise not_allowed(service.rights, [May.MANAGE_ACCESS])

    def create(core: Core) -> tuple[TokenRecord, str]:
        if not core.people.knows(user):
            mend = "add the user with `fairhold access apply`, then make the token"
            mend += "" if body.user else "; or name another one with `--user`"
            raise refused("unknown-user", f"the access document does not know `{user}`", mend)
        moment = core.now()
        good = [each for each in core.people.tokens() if each.user == user and _state(each, moment) == "good"]
        if len(good) >= _MOST_TOKENS:
            what = f"the limit `tokens` is {_MOST_TOKENS}, of tokens of one user that are good"
            raise refused("too-many", what, "revoke some: `fairhold token revoke`")
        expires = moment + body.expires if body.expires else 0
        if caller.expires:
            expires = min(expires or caller.expires, caller.expires)
        return core.people.create(core, Wished(user, body.name, expires, caller.user))

    kept, text = await service._replace(deed=service.deed._replace(detail={"for": user})).write(
        create, told=lambda made: f"token {made[0].number}"
    )
    return JSONResponse(_document(kept, now()) | {"text": text}, 201)


@router.post("/tokens/{token}/revoke", response_model=answers.Token, openapi_extra=allows())
async def revoke_token(service: ServiceOf, token: Annotated[int, Path(ge=1, le=MOST)]) -> Response:
    """Let a token count no more: one's own; with `manage_access` any. Once more is no error."""

    def revoke(core: Core) -> TokenRecord:
        if not _may_revoke(core, service, token):  # as for one that is not there
            raise refused("unknown-token", f"there is no token {token}", "`fairhold token list` shows what there is")
        return core.people.revoke(core, token)

    return JSONResponse(_document(await service.write(revoke, f"token {token}"), now()))


def _may_revoke(core: Core, service: Service, token: int) -> bool:
    kept = core.people.token(token)
    if kept is None:
        return False
    return kept.user == service.caller.user or service.rights.may(May.MANAGE_ACCESS)


def _document(token: TokenRecord, moment: int) -> dict[str, Any]:
    return {
        "token": token.number,
        "user": token.user,
        "name": token.name,
        "state": _state(token, moment),
        "created": format_instant(token.created),
        "expires": format_instant(token.expires) if token.expires else None,
        "used": format_instant(token.used) if token.used else None,
        "revoked": format_instant(token.revoked) if token.revoked else None,
        "creator": token.creator,
    }


def _state(token: TokenRecord, moment: int) -> str:
    if token.revoked:
        return "revoked"
    return "expired" if token.expires and moment >= token.expires else "good"

"""Which permissions an address asks for: said where the address is, and looked at before its handler.

Nothing is allowed by silence: an address that does not say it is refused to everybody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import Request  # noqa: TC002 - FastAPI reads it
from fastapi.routing import APIRoute

from fairhold.access.permissions import CLUSTER_WIDE, Permission
from fairhold.errors import Fault, InputError
from fairhold.service.problems import unknown_job

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairhold.access.rights import Rights
    from fairhold.orchestrator.tasks import JobRecord
    from fairhold.runtime.live.core import Core

KEY = "x-permissions"
"""Under which an operation of the OpenAPI document says what it asks for."""
SEE_ALL = "see_all"
"""That nothing of others is kept from somebody; see `Rights.sees_all`."""


def allows(*permissions: str) -> dict[str, Any]:
    """What a route says for those who may use it: one of these is enough, at least somewhere; none = everybody known.

    For which consumers somebody has it is looked at by the handler.
    """
    return {KEY: [str(each) for each in permissions]}


def permissions_of(route: object) -> Sequence[str] | None:
    """What a route asks for; None = it does not say."""
    extra = route.openapi_extra if isinstance(route, APIRoute) else None
    return None if extra is None else extra.get(KEY)


async def authorise(request: Request) -> None:
    """Raise InputError `not-allowed` where the caller may not use an address at all."""
    asked = permissions_of(request.scope.get("route"))
    rights: Rights = request.scope["state"]["caller"].rights
    if asked is None or (asked and not any(_has(rights, each) for each in asked)):
        raise not_allowed(rights, asked or ())


def _has(rights: Rights, permission: str) -> bool:
    return rights.sees_all if permission == SEE_ALL else rights.somewhere(Permission(permission))


def not_allowed(rights: Rights, permissions: Sequence[str], path: str = "") -> InputError:
    """That somebody lacks all of some permissions, for a consumer or anywhere; it says nothing of what is there."""
    needs = " or ".join(f"`{each}`" for each in permissions) or "more than anybody has"
    at = path or ("/" if permissions and set(permissions) <= CLUSTER_WIDE else "")
    what = f"`{rights.user}` may not do this: it needs {needs}" + (f" for `{at}`" if at else "")
    return InputError([Fault("not-allowed", what, "ask an administrator for a role: `fairhold whoami` shows yours")])


def require(rights: Rights, permission: Permission, path: str) -> None:
    """Raise InputError `not-allowed` where somebody lacks a permission for a consumer, be it there or not."""
    if not rights.may(permission, path):
        raise not_allowed(rights, [permission], path)


def require_seen(rights: Rights, path: str) -> None:
    """Raise InputError `not-allowed` where somebody does not see a consumer, be it there or not."""
    if not rights.sees(path):
        raise not_allowed(rights, [Permission.VIEW], path)


def require_visible(core: Core, rights: Rights, job: str) -> None:
    """Raise InputError `unknown-job`, as for one that is not there, where somebody does not see a job."""
    if not rights.sees_all and not sees_job(core, rights, job):
        raise unknown_job(job)


def sees_job(core: Core, rights: Rights, job: str) -> bool:
    """Whether somebody sees a job; False where there is none. Any thread may ask."""
    consumer, owner = owner_of(core, job)
    return bool(consumer) and rights.sees_job(consumer, owner)


def cache_of(rights: Rights) -> Callable[[str, str], bool]:
    """Whether somebody sees a job of a consumer and a user; each consumer is looked at once."""
    known: dict[str, bool] = {}

    def sees(consumer: str, owner: str) -> bool:
        if owner == rights.user:
            return True
        found = known.get(consumer)
        if found is None:
            found = known[consumer] = rights.sees(consumer)
        return found

    return sees


def owner_of(core: Core, job: str) -> tuple[str, str]:
    """Consumer and owner of a job; empty where there is none."""
    record: JobRecord | None = core.cluster.jobs.get(job)
    if record is not None:
        return record.consumer, record.terms.user
    done = core.finished(job)
    return ("", "") if done is None else (done.consumer, done.user)


def require_for_job(core: Core, rights: Rights, job: str, of_others: Permission, of_own: Permission) -> None:
    """Raise InputError where somebody may not do something with a job: `unknown-job` where he does not see it."""
    require_visible(core, rights, job)
    consumer, owner = owner_of(core, job)
    needed = of_own if owner == rights.user else of_others
    if consumer and not (rights.may(needed, consumer) or rights.may(of_others, consumer)):
        raise not_allowed(rights, [needed], consumer if rights.sees(consumer) else "")

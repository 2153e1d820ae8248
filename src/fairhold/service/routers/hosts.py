"""Hosts and resource groups: closed and opened, paused and resumed."""

from typing import Any, Protocol, runtime_checkable

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from fairhold.access.permissions import Permission as May
from fairhold.orchestrator.events import GroupPaused
from fairhold.runtime.live.core import Core
from fairhold.runtime.live.views import hosts as view
from fairhold.service.allowing import allows
from fairhold.service.bodies import ReadingRoute
from fairhold.service.context import ServiceOf
from fairhold.service.models import answers, people_answers
from fairhold.service.models.requests import CloseBody, PauseBody
from fairhold.service.problems import refused
from fairhold.units import format_instant

router = APIRouter(tags=["hosts"], route_class=ReadingRoute)
OWN = "-"
"""How the service's own machine is addressed."""


@runtime_checkable
class Issuing(Protocol):
    """A hub of agents that may have certificates."""

    authority: Any

    def revoke(self, host: str) -> int:
        """Let those of a host count no more; the instant."""
        ...


_Told = tuple[dict[str, int], dict[str, tuple[str, ...] | None], dict[str, int]]


def _machine(core: Core, host: str) -> str:
    return "" if host == OWN else core.cluster.machine_of(host)


async def _pause(service: ServiceOf, group: str, body: PauseBody | None, *, to: bool) -> Response:
    """Set what is true in the body, or both where it names neither, to paused or not."""
    both = body is None or (body.grants is None and body.reclaims is None)
    if not both and body is not None and not (body.grants or body.reclaims):
        what = "neither `grants` nor `reclaims` is true, so nothing would change"
        raise refused("out-of-range", what, "set one of them to `true`, or leave both out for both")

    def pause(core: Core) -> tuple[bool, bool]:
        shared = {each.rows.group.name: key for key, each in core.cluster.books.items()}
        if group not in shared:
            known = ", ".join(list(shared)[:10])
            raise refused(
                "unknown-resource-group", f"no policy shares the resource group `{group}`", f"shared are {known}"
            )
        grants, reclaims = core.cluster.paused.get(shared[group], (False, False))
        if both or (body is not None and body.grants):
            grants = to
        if both or (body is not None and body.reclaims):
            reclaims = to
        core.feed(GroupPaused(shared[group], grants, reclaims))
        return grants, reclaims

    grants, reclaims = await service.write(pause, group)
    return JSONResponse({"resource_group": group, "grants": grants, "reclaims": reclaims})


@router.post("/groups/{group}/pause", response_model=answers.Paused, openapi_extra=allows(May.MANAGE_HOSTS))
async def pause_group(service: ServiceOf, group: str, body: PauseBody | None = None) -> Response:
    """Pause grants or reclaims of a resource group; true in the answer: paused."""
    return await _pause(service, group, body, to=True)


@router.post("/groups/{group}/resume", response_model=answers.Paused, openapi_extra=allows(May.MANAGE_HOSTS))
async def resume_group(service: ServiceOf, group: str, body: PauseBody | None = None) -> Response:
    """Resume grants or reclaims of a resource group."""
    return await _pause(service, group, body, to=False)


@router.get("/hosts", response_model=answers.Hosts, openapi_extra=allows(May.VIEW))
async def list_hosts(service: ServiceOf) -> Response:
    """All hosts."""
    told = _told(service)
    return JSONResponse(service.shown(await service.read(lambda core: view.hosts_document(core, *told))))


@router.post("/hosts/{host}/close", response_model=answers.Host, openapi_extra=allows(May.MANAGE_HOSTS))
async def close_host(service: ServiceOf, host: str, body: CloseBody) -> Response:
    """Close a host, now or at an instant: it starts nothing more; `-` is the service's own machine."""

    def close(core: Core) -> None:
        if body.until is not None and body.until <= (body.at or core.now()):
            raise refused("out-of-range", "`until` is not after the closing", "give a later instant")
        if body.by is not None and (not body.drain or body.by < (body.at or core.now())):
            raise refused("out-of-range", "`by` is before the closing, or nothing is drained", "give a later instant")
        machine = _machine(core, host)
        reason = body.reason or _reason(core, machine, drain=body.drain)
        times = {"at": body.at or 0, "until": body.until or 0, "by": body.by or 0}
        core.close_machine(machine, reason, drain=body.drain, **times)

    await service.write(close, host)
    told = _told(service)
    return JSONResponse(await service.read(lambda core: _host(core, host, told)))


@router.post("/hosts/{host}/open", response_model=answers.Host, openapi_extra=allows(May.MANAGE_HOSTS))
async def open_host(service: ServiceOf, host: str) -> Response:
    """Open a closed host; a planned closing is cancelled."""
    await service.write(lambda core: core.open_machine(_machine(core, host)), host)
    told = _told(service)
    return JSONResponse(await service.read(lambda core: _host(core, host, told)))


@router.post(
    "/hosts/{host}/enrol",
    response_model=people_answers.HostCode,
    status_code=201,
    openapi_extra=allows(May.MANAGE_ACCESS),
)
async def enrol_host(service: ServiceOf, host: str) -> Response:
    """Make a code with which a host of the plan can enrol once, within an hour; it is told this once."""

    def invite(core: Core) -> str:
        _require_host(core, host)
        return str(_issuing(service).authority.invite(host))

    return JSONResponse({"host": host, "code": await service.write(invite, host)}, 201)


@router.post("/hosts/{host}/revoke", response_model=people_answers.HostRevoked, openapi_extra=allows(May.MANAGE_ACCESS))
async def revoke_host(service: ServiceOf, host: str) -> Response:
    """Let the certificates of a host count no more, and end the connection of its agent."""
    at = await service.write(lambda _: _issuing(service).revoke(host), host)
    return JSONResponse({"host": host, "revoked": format_instant(at)})


def _issuing(service: ServiceOf) -> Issuing:
    """Who signs for agents. InputError `no-agent-tls`."""
    hub = service.desk.agents
    if not isinstance(hub, Issuing) or hub.authority is None:
        what = "agents have no certificates here"
        raise refused("no-agent-tls", what, "have the service started with --agents-tls")
    return hub


def _require_host(core: Core, host: str) -> None:
    if not any((group, host) in core.cluster.hosts for group in core.cluster.books):
        raise refused("unknown-host", f"there is no host `{host}`", "`fairhold hosts` shows them")


def _reason(core: Core, machine: str, *, drain: bool) -> str:
    """Why a host is closed where nobody says it now: as it was said before."""
    if not drain:
        raise refused("missing-key", "`reason` is missing", "write why the host is closed; all users see it")
    record, planned = core.cluster.machines.get(machine), core.closings.get(machine)
    said = record.shut if record and not record.try_at else ""
    return said or (planned.reason if planned else "") or "drained"


def _told(service: ServiceOf) -> _Told:
    """By machine, what the threads of the connections know.

    Starts that wait for the limit of starts a second, or for a slow agent; limits that are kept there; when its lease
    was over.
    """
    agents = service.agents()
    return (
        {agent.machine: agent.waiting for agent in agents},
        {agent.machine: agent.enforced for agent in agents},
        {agent.machine: agent.gone_at for agent in agents if agent.gone_at},
    )


def _host(core: Core, host: str, told: _Told) -> dict[str, Any]:
    """The document of one host."""
    name = host if host == OWN else core.cluster.machine_of(host) or OWN
    rows: list[dict[str, Any]] = view.hosts_document(core, *told)["hosts"]
    for row in rows:
        if row["host"] == host or row["machine"] == name:
            return row
    raise refused("unknown-host", f"there is no host `{host}`", "`fairhold hosts` shows them")

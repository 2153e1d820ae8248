"""`serve`: the live service in the foreground; `agent`: the agent of another machine."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fairhold.cli.live.printing import say
from fairhold.client.finding import CURRENT, STATE, STORE, base_directory
from fairhold.errors import Fault, InputError, UsageError, printable
from fairhold.runtime.outlet import warn
from fairhold.units import SECOND, parse_duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.runtime.live.opening import LiveSettings
    from fairhold.runtime.live.retention import Keep
    from fairhold.service.settings import ServiceSettings

_LONGEST_LEASE = 86_400 * SECOND
_LEAST_OF_LEADER, _LONGEST_OF_LEADER = 2 * SECOND, 600 * SECOND
_LEAST_INTERVAL, _LONGEST_INTERVAL = SECOND // 100, 3_600 * SECOND
_LEAST_SILENCE = 5.0
"""Seconds: a busy machine may say nothing for a while."""
_NEEDS = "the service needs more than the base: pip install 'fairhold[service]'"
_EXTRA = ("fastapi", "pydantic", "pydantic_core", "prometheus_client", "starlette", "uvicorn", "anyio", "h11")


class WantedCluster(NamedTuple):
    """Which cluster is governed, as the options say it; lease: duration, empty = there is none."""

    kubeconfig: Path | None
    context: str
    lease: str | int
    lease_namespace: str
    plan_object: str = ""
    observes: bool = False


class Wanted(NamedTuple):
    """How a service is wanted, as the options say it.

    agents  : `HOST:PORT`, empty = none of other machines; agents_tls: the same for those with certificates
    cluster : that is governed, None = none is
    """

    plan: Path | None
    state: Path | None
    host: str
    listen: str
    port: int
    certificate: Path | None
    key: Path | None
    agents: str
    lease: str | int
    output: int
    names: Sequence[str]
    level: str
    keep_jobs: str | int = "30d"
    keep_log: str | int = "7d"
    keep_usage: str | int = "400d"
    keep_audit: str | int = "400d"
    starts: int = 2000
    gap: str | int = "50ms"
    interval: str | int = "1s"
    limits: Sequence[str] = ()
    cluster: WantedCluster | None = None
    viewer_token: Path | None = None
    oidc_secret: Path | None = None
    smtp_secret: Path | None = None
    socket: Path | None = None
    agents_tls: str = ""
    store: str = ""
    standby: bool = False
    failover: str | int = "3s"

    @property
    def plan_object(self) -> str:
        """Name of the plan's object in the cluster, empty = there is none."""
        return self.cluster.plan_object if self.cluster else ""


def serve(wanted: Wanted) -> None:
    """Run the service until it is asked to stop. Raises InputError, UsageError."""
    try:
        from fairhold.service.server import serve as run  # noqa: PLC0415
        from fairhold.store.choosing import has_store  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name and error.name.partition(".")[0] in _EXTRA:
            raise UsageError(_NEEDS) from None
        raise
    _check(wanted)
    directory = _directory(wanted)
    live, settings = _settings(wanted, directory)
    if wanted.plan is None and not wanted.plan_object and not has_store(live.place):
        raise UsageError(f"{printable(str(directory))} has no plan yet; name one: `fairhold serve PLAN`")
    settings.check()
    settings = replace(settings, pointers=_pointers(directory))
    run(live, settings, level=wanted.level, on_ready=lambda url: _say_ready(url, live, settings))


def _check(wanted: Wanted) -> None:
    """Raise UsageError for what cannot be, whatever the plan and the state directory are."""
    if str(wanted.plan) == "-":
        raise UsageError(
            "the plan of a service is a file, which its next start reads again; name a file instead of `-`"
        )
    if (wanted.certificate is None) != (wanted.key is None):
        raise UsageError("--tls-cert and --tls-key go together: name both files")


def _settings(wanted: Wanted, directory: Path) -> tuple[LiveSettings, ServiceSettings]:
    """What the options say, for both halves of the service. Raises UsageError."""
    from fairhold.cli.live.limits import the_limits  # noqa: PLC0415
    from fairhold.engines.agents.settings import AgentSettings  # noqa: PLC0415
    from fairhold.runtime.live.opening import ClusterSettings, LiveSettings  # noqa: PLC0415
    from fairhold.service.settings import ServiceSettings  # noqa: PLC0415
    from fairhold.store.choosing import place_of  # noqa: PLC0415

    lease = _lease(wanted.lease)
    silence = min(AgentSettings().silence, max(lease, _LEAST_SILENCE))  # so that a lease that is over is noticed
    tasks = AgentSettings(starts_per_second=wanted.starts, lease=lease, silence=silence, output=wanted.output)
    place = place_of(wanted.store, os.environ.get(STORE, ""), directory)
    agents, secure = _address("--agents", wanted.agents), _address("--agents-tls", wanted.agents_tls)
    live = LiveSettings(
        wanted.plan, directory, own=wanted.host, agents=agents, agents_tls=secure, tasks=tasks, keep=_kept(wanted)
    )
    of_all, of_one = the_limits(wanted.limits)
    live = replace(_paced(live, wanted), store=None if isinstance(place, Path) else place, limits=of_all, tell=say)
    live = replace(live, standby=wanted.standby, failover=_lease_of_leader(wanted.failover))
    if wanted.cluster is not None:
        of_lease = _lease_of_leader(wanted.cluster.lease)
        kubeconfig, context, _, namespace, plan_object, observes = wanted.cluster
        cluster = ClusterSettings(kubeconfig, context, of_lease, namespace, plan_object, observes)
        live = replace(live, cluster=cluster)
    settings = ServiceSettings(
        directory,
        host=wanted.listen,
        port=wanted.port,
        certificate=wanted.certificate,
        key=wanted.key,
        names=tuple(wanted.names),
        viewer_token=wanted.viewer_token,
        oidc_secret=wanted.oidc_secret,
        smtp_secret=wanted.smtp_secret,
        is_observing=wanted.cluster is not None and wanted.cluster.observes,
        has_pods=wanted.cluster is not None and not wanted.cluster.observes,
        limits=of_one,
        socket=wanted.socket and wanted.socket.absolute(),
    )
    return live, settings


def _say_ready(url: str, live: LiveSettings, settings: ServiceSettings) -> None:
    """What people are told when the service listens."""
    from fairhold.service.settings import is_loopback  # noqa: PLC0415

    say(f"listening at {url}, state in {settings.directory}")
    if settings.socket is not None:
        say(f"users of this machine that the access document knows may use --service unix:{settings.socket}")
    if settings.pointers:
        say(f"commands without --service use this service from now on, as {settings.pointers[0]} says")
    else:
        say(f"another service runs here; use this one with --service unix:{settings.directory / 'api.sock'}")
    if live.agents and not is_loopback(live.agents[0]):
        host, port = live.agents
        warn(
            f"agents may connect at {host}:{port}; they prove who they are with the secret, but the connection is"
            " not encrypted: commands and their variables can be read on the network"
        )


def _directory(wanted: Wanted) -> Path:
    """The state directory: a given one, FAIRHOLD_STATE, or one of the cluster's or the plan object's name."""
    if wanted.state is not None:
        return wanted.state.absolute()
    if os.environ.get(STATE):
        return base_directory().absolute()
    if wanted.plan is None and not wanted.plan_object:
        raise UsageError(f"without a plan it is not clear which service is meant; name a PLAN, --state or {STATE}")
    from fairhold.engines.files import folder_name  # noqa: PLC0415
    from fairhold.planio.plan import read_plan  # noqa: PLC0415

    cluster = wanted.plan_object if wanted.plan is None else read_plan(wanted.plan)[0].cluster
    return base_directory() / folder_name(cluster or "cluster")


def _pointers(directory: Path) -> tuple[Path, ...]:
    """Where clients look; none where another service runs, which keeps that."""
    base = base_directory()
    pointer = base / CURRENT
    try:
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        other = json.loads(pointer.read_bytes())
        is_other = Path(other["token_file"]).parent != directory and Path(f"/proc/{int(other['pid'])}").exists()
    except (OSError, ValueError, KeyError, TypeError):
        is_other = False
    return () if is_other else (pointer,)


def _address(option: str, text: str) -> tuple[str, int] | None:
    """`HOST:PORT`, or `PORT` for all addresses of this machine."""
    if not text:
        return None
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65_535:
        raise UsageError(f"{option} {printable(text)}: write HOST:PORT, as 10.0.0.1:7879")
    return host.strip("[]") or "0.0.0.0", int(port)  # noqa: S104 - what its user asked for


def _lease(duration: str | int) -> float:
    """Seconds."""
    micros = _micros(duration)
    if not SECOND <= micros <= _LONGEST_LEASE:
        raise UsageError("--lease: write 1s to 1d")
    return micros / SECOND


def _lease_of_leader(duration: str | int) -> float:
    """Seconds, 0 = none."""
    if not duration:
        return 0.0
    micros = _micros(duration)
    if not _LEAST_OF_LEADER <= micros <= _LONGEST_OF_LEADER:
        raise UsageError("--lease-duration: write 2s to 10m")
    return micros / SECOND


def _paced(live: LiveSettings, wanted: Wanted) -> LiveSettings:
    """With the time between two cycles, at least and at most. Raises UsageError."""
    gap, interval = _micros(wanted.gap), _micros(wanted.interval)
    if not gap <= interval <= _LONGEST_INTERVAL or interval < _LEAST_INTERVAL:
        raise UsageError("--cycle-gap, --cycle-interval: write an interval of 10ms to 1h, and a gap that is no longer")
    return replace(live, cycle_min_gap=gap, cycle_max_interval=interval)


def _kept(wanted: Wanted) -> Keep:
    from fairhold.runtime.live.retention import Keep  # noqa: PLC0415

    log = _micros(wanted.keep_log)
    jobs, usage, audit = (_micros(each) for each in (wanted.keep_jobs, wanted.keep_usage, wanted.keep_audit))
    return Keep(log, log, jobs, cycles=log, documents=min(log, Keep().documents), usage=usage, records=audit)


def _micros(duration: str | int) -> int:
    return parse_duration(str(duration)) or 0


def run_agent(words: Sequence[str]) -> None:
    """Become an agent: a small process of its own, without what the command line has imported. Does not return.

    With `enrol` in front, only have its host enrolled.
    """
    import fairhold.agent  # noqa: PLC0415

    if words and words[0] == "enrol":
        _enrol(words[1:])
        return
    path = Path(fairhold.agent.__file__).with_name("__main__.py")
    sys.stdout.flush()
    try:
        os.execv(sys.executable, [sys.executable, "-I", "-S", str(path), *words])  # noqa: S606 - no shell is wanted
    except OSError as error:
        raise InputError(
            [
                Fault(
                    "cannot-read",
                    f"the agent cannot be started: {error.strerror}",
                    "install fairhold again",
                    file=str(path),
                )
            ]
        ) from None


def _enrol(words: Sequence[str]) -> None:
    """`agent enrol`. Raises UsageError, InputError."""
    from fairhold.agent.link import Address  # noqa: PLC0415

    options = dict(zip(words[::2], words[1::2], strict=False))
    if len(words) % 2 or {*options} != {"--directory", "--connect", "--host"}:
        raise UsageError("write `fairhold agent enrol --directory DIR --connect tls:HOST:PORT --host NAME`")
    try:
        address = Address(options["--connect"])
    except ValueError as error:
        raise UsageError(f"--connect: {printable(str(error))}") from None
    if not address.is_secure:
        raise UsageError("a host enrols where TLS is spoken: --connect tls:HOST:PORT")
    try:
        from fairhold.engines.agents.enrolling import enrol, read_code  # noqa: PLC0415
    except ModuleNotFoundError:
        raise UsageError("to enrol needs more than the base: pip install 'fairhold[service]'") from None
    directory = Path(options["--directory"])
    enrol(directory, address, options["--host"], read_code())
    say(f"{options['--host']} has enrolled; its identity is in {directory / 'identity'}")

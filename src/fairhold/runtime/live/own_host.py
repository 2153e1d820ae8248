"""The host that is the service's own machine: what runs there from before is not taken for somebody else's."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

from fairhold.errors import Fault, InputError, printable
from fairhold.runtime.live.place import check_own_host

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fairhold.model.plan import Plan
    from fairhold.runtime.live.core import Core

_OWN = ""
_HELD = (".order", ".alive", ".exit")


def check_taken_up(spool: Path, plan: Plan | None, core: Core, is_new: bool) -> None:  # noqa: FBT001 - as it is called
    """Look at what the store holds before anything is done; raises InputError.

    spool : of the own machine's agent
    plan  : of the file; is_new: it will take the place of the one in force
    """
    check_work(core, spool)
    if is_new and plan is not None:
        check_own_host(plan, core.own)


def check_work(core: Core, spool: Path) -> None:
    """Raise InputError where this machine holds attempts that the service would look for on another host.

    Its agent would come as the host that it is to be now, and would be told to stop what nobody expects there.

    spool : of the own machine's agent
    """
    name = _name_of(spool)
    hosts: Counter[str] = Counter()
    for number in _held(spool):
        attempt = core.cluster.attempts.get(number)
        if attempt is not None and _OWN not in attempt.machines:
            known = core.cluster.machines.get(attempt.machine)
            if known is None or known.spool in {"", name}:  # else a machine of its own has an attempt of that number
                hosts[attempt.machine] += 1
    if not hosts:
        return
    host, tasks = hosts.most_common(1)[0]
    runs = f"{tasks} task" + (" of it is" if tasks == 1 else "s of it are")
    what = f"this machine was the host `{printable(host)}` so far, {runs} not over, and --host "
    what += f"names `{printable(core.own)}`" if core.own else "is not given"
    mend = f"start with --host {printable(host)}; when nothing runs there, the machine can be another host"
    raise InputError([Fault("host-in-use", what, mend)])


def check_host_in_force(core: Core, plan: Plan | None, name: str) -> str:
    """What people are told where the plan in force does not have the service's own host, and tasks run there.

    plan : of the file, None = none was given; name: of the file

    Raises InputError where none do.
    """
    try:
        check_own_host(core.plan, core.own)
    except InputError:
        tasks = len(core.cluster.on(_OWN))
        if tasks:
            runs = "1 task that runs there goes" if tasks == 1 else f"{tasks} tasks that run there go"
            has_none = f"plan {core.version} is in force and has no host {printable(core.own)}"
            return f"{has_none}: {runs} on, and nothing new starts there"
        if plan is None or plan == core.plan:
            raise
        check_own_host(plan, core.own)
        what = f"plan {core.version}, which is in force, has no host `{printable(core.own)}`, which --host names"
        mend = f"start without --host, then `fairhold plan apply {printable(name)}`, and start again"
        raise InputError([Fault("unknown-host", what, mend)]) from None
    return ""


def _held(spool: Path) -> Iterator[int]:
    """Numbers of attempts that an agent keeps."""
    with suppress(OSError):
        for path in spool.iterdir():
            if path.suffix in _HELD and path.stem.isdecimal():
                yield int(path.stem)


def _name_of(spool: Path) -> str:
    with suppress(OSError, ValueError):
        return (spool / "name").read_text("ascii").strip()
    return ""

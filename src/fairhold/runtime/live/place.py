"""The state directory of a service and the machine it runs on: checked before anything is written or started."""

from __future__ import annotations

import errno
import logging
import os
import stat
from difflib import get_close_matches
from shlex import quote
from typing import TYPE_CHECKING

from fairhold.engines.agents.launch import SPOOL
from fairhold.errors import Fault, InputError, printable
from fairhold.ports import StoreFull

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.model.plan import Plan

JOBS = "jobs"
"""In the state directory: outputs and folders of jobs."""
_ROOT = 0
_OTHER = "name another state directory with --state, one that you may write to"
_COMPARED = 5_000
"""Hosts among which one is looked for that was meant."""
_LOG = logging.getLogger("fairhold")


def make_state_directory(directory: Path) -> None:
    """Make the state directory, or look whether one that is there may be trusted; warns where others may look into it.

    Raises InputError where it is somebody else's, anybody may write to it, or this program cannot; StoreFull.
    """
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = directory.stat()
    except OSError as error:
        raise _not_made(directory, error) from error
    if status.st_uid not in {os.geteuid(), _ROOT}:
        raise _unusable(directory, "belongs to another user", "run as its owner, or name another with --state")
    if status.st_mode & stat.S_IWOTH:
        mend = f"name a directory of its own with --state, or run: chmod 700 {quote(str(directory))}"
        raise _unusable(directory, "can be written to by everybody", mend)
    if not os.access(directory, os.R_OK | os.W_OK | os.X_OK):
        raise _unusable(directory, "cannot be written to", _OTHER)
    for name in (JOBS, SPOOL):
        if (path := directory / name).exists() and not path.is_dir():
            raise _unusable(path, "has a file where it needs a directory", "move the file away, or " + _OTHER)
    if status.st_mode & 0o077:
        _LOG.warning("others may look into the state directory; run: chmod 700 %s", quote(printable(str(directory))))


def check_own_host(plan: Plan, own: str) -> None:
    """Raise InputError where this machine is to be a host that the plan does not have; empty = it is none."""
    names = [host.name for group in plan.resource_groups.values() for host in group.hosts]
    if not own or own in names:
        return
    if not names:
        what, mend = f"the plan has no hosts, and --host names `{printable(own)}`", "leave --host out"
    else:
        close = get_close_matches(own[:200], names[:_COMPARED], n=1)
        what = f"the plan has no host `{printable(own)}`, which --host names"
        mend = f"did you mean `{close[0]}`?" if close else "name a host of the plan"
    raise InputError([Fault("unknown-host", what, mend)])


def nothing_can_start(plan: Plan, own: str, *, others: bool) -> str:
    """What people are told where no host of the plan can ever come up; empty where one can.

    own : the host that is this machine, empty = none; others : agents of other machines may connect
    """
    groups = plan.resource_groups.values()
    if own or others or not groups or any(not group.hosts for group in groups):
        return ""
    return (
        "no host of the plan is this machine, and agents cannot connect: nothing will start; name this machine's host "
        "with --host, or an address for agents with --agents"
    )


def _not_made(directory: Path, error: OSError) -> InputError | StoreFull:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return StoreFull(
            f"{printable(str(directory))}: the disk is full, so the state directory cannot be made; free some space"
        )
    if error.errno == errno.EEXIST:
        return _unusable(directory, "is a file", _OTHER)
    return _unusable(directory, f"cannot be made: {error.strerror or error}", _OTHER)


def _unusable(directory: Path, why: str, mend: str) -> InputError:
    return InputError([Fault("state-directory", f"the state directory {why}", mend, file=str(directory))])

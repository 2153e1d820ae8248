"""A line about the plan file at a start: which plan is in force, and why."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from fairhold.errors import InputError, printable
from fairhold.units import format_instant

if TYPE_CHECKING:
    from fairhold.model.plan import Plan
    from fairhold.ports import PlanVersion
    from fairhold.runtime.live.core import Core


def told_of(core: Core, before: PlanVersion | None, plan: Plan, name: str) -> str:
    """A line where the file is not simply the plan that was in force and is; else empty.

    core   : open
    before : the latest version before it was opened, None = there was none
    plan   : what the file says; name : of the file
    """
    if before is None:
        return ""
    if core.version > before.version:
        return (
            f"plan {core.version} is in force: {printable(name)} has changed since the last start; "
            f"it replaces plan {before.version}, {_origin(before)}"
        )
    if core.plan == plan:
        return ""
    back = f" until {format_instant(core.returns[0].at)}" if core.returns else ""
    return (
        f"plan {before.version} is in force{back}, {_origin(before)}; {printable(name)} differs and has not changed "
        f"since the last start; to put it in force: fairhold plan apply {printable(shlex.quote(name))}"
    )


def not_now(error: InputError, name: str) -> InputError:
    """Why a file cannot take the place of the plan in force, with a way out: there is no service yet that is asked.

    name : of the file
    """
    command = "`fairhold plan apply "
    return InputError(
        replace(
            fault,
            file=name,
            mend=f"start without the file; then {fault.mend}".replace(command, f"{command}{shlex.quote(name)} "),
        )
        if fault.code == "consumer-in-use"
        else fault
        for fault in error.faults
    )


def _origin(plan: PlanVersion) -> str:
    comment = f" ({printable(plan.comment)})" if plan.comment else ""
    return f"which {printable(plan.author)} applied at {format_instant(plan.at)}{comment}"

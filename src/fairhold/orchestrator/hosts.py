"""Hosts of resource groups, and the machines that they are."""

from __future__ import annotations


class HostRecord:
    """A host of a resource group.

    slots   : that it has; the books know fewer while it may start nothing
    is_up   : as its group's inventory says
    planned : slots that the plan gives it; None where it is none of the plan's
    """

    __slots__ = ("is_up", "planned", "row", "slots")

    def __init__(self, row: int, slots: int, planned: int | None = None) -> None:
        self.row = row
        self.slots = slots
        self.is_up = True
        self.planned = planned


class MachineRecord:
    """A machine on which attempts run.

    boot     : identity of its start; spool: of its agent's memory
    is_silent : its agent is not connected
    shut     : why it starts nothing, None = it does
    refusals : attempts that it could not start, in a row
    """

    __slots__ = ("boot", "is_silent", "refusals", "shut", "spool")

    def __init__(self) -> None:
        self.boot = self.spool = ""
        self.is_silent = False
        self.shut: str | None = None
        self.refusals = 0

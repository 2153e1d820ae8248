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
    pauses   : how often in a row it was closed because it could not start anything
    try_at   : instant at which it is opened again after such a pause, 0 = not before somebody opens it
    drains   : while it is closed, what holds units there is to leave
    """

    __slots__ = ("boot", "drains", "is_silent", "pauses", "refusals", "shut", "spool", "try_at")

    def __init__(self) -> None:
        self.boot = self.spool = ""
        self.is_silent = self.drains = False
        self.shut: str | None = None
        self.refusals = self.pauses = self.try_at = 0

"""The leases that the service has promised, by its own clock.

A host counts its lease from sending a heartbeat, the service from the later instant of reading it. So when the lease
has run out by the service's clock, plus a margin, no attempt of the host runs any more (docs/attempts.md, rule 4).
"""

from __future__ import annotations

DRIFT = 0.01
"""Part of a lease by which two clocks may run apart."""
MARGIN = 5.0
"""Seconds on top, for supervisors that kill and for what is rounded."""


def length(seconds: float) -> float:
    """Seconds after which a lease is certainly over, counted by the service."""
    return seconds * (1 + DRIFT) + MARGIN


class Leases:
    """Instant until which attempts may run on each machine, by the service's clock.

    seconds : how long a lease is; the same on every machine
    """

    def __init__(self, seconds: float) -> None:
        self._length = length(seconds)
        self._until: dict[str, float] = {}
        self._silent: set[str] = set()

    def promise(self, machine: str, now: float, seconds: float | None = None) -> None:
        """A machine is about to be given a lease; `now` is not before the host's own beginning of it.

        seconds : of a lease that was given before, which may have been longer
        """
        ends = now + (self._length if seconds is None else length(seconds))
        self._until[machine] = max(self._until.get(machine, now), ends)

    def runs(self, machine: str, now: float) -> bool:
        """Whether a lease of a machine may not be over yet."""
        return self._until.get(machine, now) > now

    def connected(self, machine: str) -> None:
        """It tells itself what runs; nothing is concluded from its lease."""
        self._silent.discard(machine)

    def broken(self, machine: str) -> None:
        """It is silent: when its lease is over it is gone. Nothing where it never had one (the own machine)."""
        if machine in self._until:
            self._silent.add(machine)

    def due(self) -> float | None:
        """The next instant at which a silent machine is gone."""
        return min((self._until[machine] for machine in self._silent), default=None)

    def gone(self, now: float) -> list[str]:
        """Silent machines whose lease is over, each told once."""
        over = sorted(machine for machine in self._silent if self._until[machine] <= now)
        self._silent.difference_update(over)
        for machine in over:
            del self._until[machine]
        return over

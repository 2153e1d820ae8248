"""The order of hosts for a unit while idle resources of a level are granted (R-PLACE-1, R-PLACE-2, R-HOSTS-1)."""

from __future__ import annotations

from fractions import Fraction
from heapq import heapify, heappop, heappush, heapreplace
from typing import TYPE_CHECKING, Any

from fairhold.cycle.verify.pooled.amounts import fits, plus
from fairhold.cycle.verify.pooled.lending import is_at, may_use
from fairhold.cycle.verify.pooled.owners import workload
from fairhold.cycle.verify.pooled.siting import is_choosy, leaves_on, will_do, wish

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.cycle.verify.pooled.amounts import Amounts
    from fairhold.cycle.verify.pooled.stock import Asked, Host, Parcel, Stock

Key = tuple[tuple[int, int], Fraction | int, int]
"""Place of a host: by wishes, by workload where that counts, in inventory order."""


class Seeking:
    """Hosts that may have room for equal requests, in order.

    Idle resources only shrink during grants, so that a host without room for a unit has none for an equal unit later;
    only resources that a gang gives back must be examined again.

    level      : a pool, or a leaf for what it owns
    preference : of own parcels, None = any
    """

    def __init__(self, stock: Stock, level: str, hosts: Iterable[Host], preference: int | None) -> None:
        self.stock, self.terms, self.level, self.preference = stock, stock.terms, level, preference
        self.hosts = [host for host in hosts if self.parcels(host)]
        there = [parcel for host in self.hosts for parcel in self.parcels(host)]
        self.kept = {request for parcel in there for request in parcel.kept}
        self.owners = {parcel.owner for parcel in there}
        self.packing = stock.terms.settings.packing
        self.sizes: dict[Amounts, list[Host]] = {}
        self.lines: dict[Any, list[tuple[Key, str]]] = {}
        self.alike: dict[str, Any] = {}
        self.loads: dict[str, Fraction] = {}

    def parcels(self, host: Host) -> list[Parcel]:
        """The parcels of a host that are available at this level, whoever may use them."""
        mine = (each for each in host.parcels if is_at(self.terms, each, self.level))
        return [each for each in mine if self.preference in {None, each.preference}]

    def has_room(self, asked: Asked, host: Host) -> bool:
        """Whether a unit fits on a suitable host and may use it."""
        able = [each for each in self.parcels(host) if may_use(self.terms, each, asked.leaf, self.level)]
        if not able or not fits(asked.unit, plus(*(each.room(asked.id) for each in able))):
            return False
        return not self._is_exclusive or leaves_on(self.stock, host) <= {asked.leaf}

    def first(self, asked: Asked) -> Host | None:
        """The host for one more unit; None: no host has room."""
        line = self.line(asked)
        while line:
            said, name = line[0]
            host = self.stock.hosts[name]
            now = self.key(asked, host)
            if now != said:
                heapreplace(line, (now, name))
            elif self.has_room(asked, host):
                return host
            else:
                heappop(line)
        return None

    def changed(self, asked: Asked, hosts: Iterable[Host], *, is_back: bool = False) -> None:
        """Something was placed on hosts for a request, or is back."""
        for host in hosts:
            self.loads.pop(host.name, None)
            if is_back or is_choosy(asked):
                heappush(self.line(asked), (self.key(asked, host), host.name))

    def line(self, asked: Asked) -> list[tuple[Key, str]]:
        """Hosts that may have room for a request, as a heap."""
        alike = self._alike(asked)
        if alike not in self.lines:
            able = [host for host in self._roomy(asked.unit) if will_do(asked, host)]
            self.lines[alike] = [(self.key(asked, host), host.name) for host in able]
            heapify(self.lines[alike])
        return self.lines[alike]

    def _alike(self, asked: Asked) -> Any:  # noqa: ANN401 - whatever tells requests from one another
        """What requests have in common for which the same hosts have room, in the same order."""
        if asked.id not in self.alike:
            siting, leaf = asked.model.siting, asked.leaf
            above = tuple(path for path in self.terms.up[leaf] if path in self.owners)
            found = asked.unit, siting.need, siting.avoid, self.terms.grace[leaf], above, leaf * self._is_exclusive
            self.alike[asked.id] = asked.id if asked.id in self.kept or is_choosy(asked) else found
        return self.alike[asked.id]

    @property
    def _is_exclusive(self) -> bool:
        return self.packing == "exclusive"

    def _roomy(self, unit: Amounts) -> list[Host]:
        """Hosts on which all that is there, kept or not, is enough for a unit."""
        if unit not in self.sizes:
            self.sizes[unit] = [
                host
                for host in self.hosts
                if fits(unit, plus(*(plus(each.idle, *each.kept.values()) for each in self.parcels(host))))
            ]
        return self.sizes[unit]

    def key(self, asked: Asked, host: Host) -> Key:
        """Place of a host for one more unit; the smallest first."""
        wanted = wish(asked, host) if is_choosy(asked) else (0, 0)
        if self.packing != "balanced":
            return wanted, 0, host.place
        if host.name not in self.loads:
            self.loads[host.name] = workload(host)
        return wanted, self.loads[host.name], host.place

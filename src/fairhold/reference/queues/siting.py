"""On which hosts units of a request go, best first (R-SITE-1, R-SITE-3, R-PLACE-1, R-PLACE-2, R-HOSTS-3)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.model.siting import PACK, SPREAD

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairhold.reference.queues.cluster import Ask, Cluster


class Siting:
    """Orders hosts as an entry packs."""

    def __init__(self, cluster: Cluster, packing: str) -> None:
        self.cluster, self.packing = cluster, packing

    def order(self, ask: Ask, hosts: Iterable[str], *, packed: bool = True) -> list[str]:
        """The best first.

        packed : as the packing says; where units are taken it is not looked at (R-SITE-5)
        """
        packing = self.packing if packed else "stacked"
        return sorted(hosts, key=lambda host: self._key(ask, host, packing))

    def _key(self, ask: Ask, host: str, packing: str) -> tuple[object, ...]:
        cluster = self.cluster
        there = cluster.hosts[host]
        mine = sum(unit.host == host for unit in cluster.of(ask))
        beside = {SPREAD: mine, PACK: -mine}.get(ask.siting.place, 0)
        liking = -ask.siting.liking(there.labels)
        return liking, beside, self.part_in_use(host) if packing == "balanced" else 0, there.place

    def part_in_use(self, host: str) -> Fraction:
        """The largest part of any resource that units use."""
        there, used = self.cluster.hosts[host].total, self.cluster.used(host)
        return max((Fraction(one, all_) for one, all_ in zip(used, there, strict=True) if all_), default=Fraction(0))

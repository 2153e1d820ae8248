"""One entry of `own`, and what it owns (R-ADJUST-0)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairhold.cycle.verify.pooled.amounts import Amounts, minus, plus

if TYPE_CHECKING:
    from fairhold.cycle.verify.pooled.stock import Host
    from fairhold.model.vector import Owning


@dataclass(eq=False)
class Claim:
    """One entry of a consumer.

    target : whole hosts, None = it is for parts
    has    : host → what it owns of it
    """

    path: str
    entry: Owning
    target: int | None = None
    has: dict[Host, Amounts] = field(default_factory=dict)

    @property
    def group(self) -> str:
        """The resource group of the entry."""
        return self.entry.resource_group

    def add(self, host: Host, amounts: Amounts) -> None:
        """Own more of a host."""
        if any(amounts):
            self.has[host] = plus(self.has[host], amounts) if host in self.has else amounts

    def lose(self, host: Host, amounts: Amounts) -> None:
        """Own less of a host."""
        left = minus(self.has.pop(host), amounts)
        if any(left):
            self.has[host] = left

"""The rules that a policy of slots runs in a cycle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.rules.reclaiming import weigh

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairhold.ledger.draft import CycleContext
    from fairhold.ledger.snapshot import Snapshot

    Rule = Callable[[Snapshot, CycleContext], None]


@dataclass(frozen=True)
class Rules:
    """The rules of a cycle, in the order in which they run.

    quotas : rules that only compute what every consumer is entitled to
    moves  : rules that grant idle units and reclaim units
    weigh  : finds how many units every consumer misses, can give and gives, without choosing units
    """

    quotas: tuple[Rule, ...]
    moves: tuple[Rule, ...]
    weigh: Rule = weigh

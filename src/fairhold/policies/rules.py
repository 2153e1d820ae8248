"""What a policy of slots runs in a cycle."""

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

    quotas : rules that only compute what everybody is entitled to
    moves  : rules that hand out idle units and take units back
    weigh  : the rule of these that says who can give what, by itself
    """

    quotas: tuple[Rule, ...]
    moves: tuple[Rule, ...]
    weigh: Rule = weigh

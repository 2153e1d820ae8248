"""What a policy is: its name, what it shares and how, and which settings of a plan it reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.model.setting import Setting


@dataclass(frozen=True, slots=True)
class OwnDivision:
    """How a policy of another package divides slots, where no division of ours does.

    Its rules compute the quotas. What else has to know how they come about asks here.

    explain      : (result of a cycle, row of a parent) → `cycle.explain.Level`, the division among its children
    recompute    : (`reference.consumers.Consumers`, slots, leaf → demand) → `reference.quotas.level.Entitlement`: its
        slow twin, for `verify`
    weights      : keys of a consumer, whole numbers, that are raised to find what would give one slot more, or a
        shorter wait
    keeps_quotas : no quota changes where a leaf wants more than its quota, and then wants even more, or less of that;
        many cycles can then be left out (`ledger/divisions.py`)
    """

    explain: Any
    recompute: Any
    weights: tuple[Setting, ...] = ()
    keeps_quotas: bool = False


@dataclass(frozen=True, slots=True)
class Policy:
    """One policy, made once in its folder under `policies/`; every entry of a plan has one.

    What differs between policies is asked of this value. Nobody compares names.

    name             : as plans write it
    of_entry         : what it reads under `settings:` of an entry
    of_consumer      : what it reads of a consumer in an entry
    shares_vectors   : amounts of resources are shared; else slots
    has_queues       : consumers are queues: an amount is deserved and not owned, and every queue divides what it has
    owns_exactly     : what is owned is a fixed number of slots, lent to whom the owner names
    scales_owned     : what is owned grows and shrinks with the slots that there are
    divides_by_ratio : nothing is owned; all is divided by share ratios
    rules            : what runs in a cycle of slots, see `policies.rules.Rules`; None = vectors are shared
    beside           : name of another policy that may be in force beside it in one group → the rules that run then
    division         : how slots are divided, where it is in none of our ways
    """

    name: str
    of_entry: tuple[Setting, ...]
    of_consumer: tuple[Setting, ...]
    shares_vectors: bool = False
    has_queues: bool = False
    owns_exactly: bool = False
    scales_owned: bool = False
    divides_by_ratio: bool = False
    rules: Any = field(default=None, compare=False)
    beside: Mapping[str, Any] = field(default_factory=dict, compare=False)
    division: OwnDivision | None = field(default=None, compare=False)

    @property
    def settings(self) -> tuple[str, ...]:
        """Keys under `settings:` of an entry."""
        return tuple(each.key for each in self.of_entry)

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of a consumer in an entry."""
        return tuple(each.key for each in self.of_consumer)

    @property
    def keeps_quotas(self) -> bool:
        """Whether its divisions are like ours, in that a leaf that wants more than its quota may want any more."""
        return self.division is None or self.division.keeps_quotas

    @property
    def owns_slots(self) -> bool:
        """Whether consumers own slots under it."""
        return self.owns_exactly or self.scales_owned

    def goes_with(self, other: Policy) -> bool:
        """Whether both may be in force in one resource group at a time."""
        return self == other or other.name in self.beside or self.name in other.beside

"""What a policy is: its name, what it shares and how, and which settings of a plan it reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.model.setting import Setting


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

    @property
    def settings(self) -> tuple[str, ...]:
        """Keys under `settings:` of an entry."""
        return tuple(each.key for each in self.of_entry)

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of a consumer in an entry."""
        return tuple(each.key for each in self.of_consumer)

    @property
    def owns_slots(self) -> bool:
        """Whether consumers own slots under it."""
        return self.owns_exactly or self.scales_owned

    def goes_with(self, other: Policy) -> bool:
        """Whether both may be in force in one resource group at a time."""
        return self == other or other.name in self.beside or self.name in other.beside

"""All policies by name, and the rules that run where one policy is in force or two are mixed."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from fairhold.model.policy import Policy
from fairhold.policies.fair_share.policy import FAIR_SHARE
from fairhold.policies.hybrid.policy import HYBRID
from fairhold.policies.multidimensional.policy import MULTIDIMENSIONAL
from fairhold.policies.ownership.policy import OWNERSHIP
from fairhold.policies.share_ratio.policy import SHARE_RATIO

if TYPE_CHECKING:
    from fairhold.ledger.rows import Rows
    from fairhold.policies.rules import Rules

BUILT_IN = (HYBRID, OWNERSHIP, SHARE_RATIO, MULTIDIMENSIONAL, FAIR_SHARE)
POLICIES: dict[str, Policy] = {each.name: each for each in BUILT_IN}
"""In the order in which they are told; those of other packages come last, see `register`."""


class RefusedPolicyError(ValueError):
    """The policy of another package cannot be used; `mend` says what the package has to change."""

    def __init__(self, what: str, mend: str) -> None:
        self.mend = mend
        super().__init__(what)


def register(policy: object) -> None:
    """Take in a policy of another package; raises RefusedPolicyError."""
    if not isinstance(policy, Policy):
        raise RefusedPolicyError(f"it is a {type(policy).__name__}", "name a `fairhold.model.policy.Policy` there")
    if POLICIES.get(policy.name, policy) is not policy:
        raise RefusedPolicyError(f"there is a policy `{policy.name}` already", "give it another name")
    if policy.rules is None and not policy.shares_vectors:
        raise RefusedPolicyError(f"`{policy.name}` shares slots and has no rules", "give it `rules`")
    if policy.division and (policy.owns_exactly or policy.divides_by_ratio or policy.shares_vectors or policy.beside):
        what = f"`{policy.name}` has a division of its own, and traits or neighbours that bring another one"
        mend = "leave out `owns_exactly`, `divides_by_ratio`, `shares_vectors` and `beside`, or the `division`"
        raise RefusedPolicyError(what, mend)
    POLICIES[policy.name] = policy


def rules_of(rows: Rows) -> Rules:
    """The rules for a resource group of slots."""
    first, *others = rows.policies
    for other in others:
        for one, beside in ((first, other), (other, first)):
            if beside.name in one.beside:
                return cast("Rules", one.beside[beside.name])
    return cast("Rules", first.rules)

"""All policies by name, and the rules that run where one or two of them are in force."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from fairhold.policies.fair_share.policy import FAIR_SHARE
from fairhold.policies.hybrid.policy import HYBRID
from fairhold.policies.multidimensional.policy import MULTIDIMENSIONAL
from fairhold.policies.ownership.policy import OWNERSHIP
from fairhold.policies.share_ratio.policy import SHARE_RATIO

if TYPE_CHECKING:
    from fairhold.ledger.rows import Rows
    from fairhold.model.policy import Policy
    from fairhold.policies.rules import Rules

POLICIES: dict[str, Policy] = {
    each.name: each for each in (HYBRID, OWNERSHIP, SHARE_RATIO, MULTIDIMENSIONAL, FAIR_SHARE)
}
"""In the order in which they are told."""


def rules_of(rows: Rows) -> Rules:
    """The rules for a resource group of slots."""
    first, *others = rows.policies
    for other in others:
        for one, beside in ((first, other), (other, first)):
            if beside.name in one.beside:
                return cast("Rules", one.beside[beside.name])
    return cast("Rules", first.rules)

"""The policies of slots, and what may be mixed of them in one resource group.

`multidimensional` and `fair_share` are not in this list: their cycles are `rules/pools/sweeps.py` and
`rules/queues/round.py`, and `planio/policies.py` is where the names of all five are read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.policy.hybrid import HYBRID
from fairhold.policy.ownership import BESIDE_HYBRID, OWNERSHIP
from fairhold.policy.share_ratio import SHARE_RATIO

if TYPE_CHECKING:
    from fairhold.ledger.rows import Rows
    from fairhold.policy.policy import Policy

POLICIES: dict[frozenset[str], Policy] = {
    frozenset({"hybrid"}): HYBRID,
    frozenset({"ownership"}): OWNERSHIP,
    frozenset({"share_ratio"}): SHARE_RATIO,
    frozenset({"ownership", "hybrid"}): BESIDE_HYBRID,
}
"""Names of the policies of one resource group's entries → the rules that run; several names: a mixture."""


def policy_of(rows: Rows) -> Policy:
    """The rules for a resource group."""
    return POLICIES[rows.policies]

"""`multidimensional`: hosts, parts of hosts and totals are owned; the rest is shared in pools (seed 2, SPEC §6).

Its rules are `rules/pools`, and `cycle/pooled` runs them.
"""

from fairhold.model.policy import Policy
from fairhold.policies.keys import CONTROLS, RESTRAINTS

OWN_KEYS = (
    *("resource_group", "hosts", "per_host", "total"),
    *("preference", "reserved", "lend_grace", "reclaim_before_next_level"),
)
"""Keys of an entry of `own`."""
POOL_KEYS = ("own", "share_priority", "share_limit", "private_pool_grace")
"""Settings of a consumer that only this policy reads."""
MULTIDIMENSIONAL = Policy(
    "multidimensional",
    settings=("packing", "victims", "public_pool_grace", "rebalance_interval", *RESTRAINTS),
    keys=(*POOL_KEYS, "share_ratio", "rank", "reclaim_grace", *CONTROLS[1:]),
    shares_vectors=True,
)

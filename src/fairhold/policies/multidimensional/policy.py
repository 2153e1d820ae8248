"""`multidimensional`: hosts, parts of hosts and totals are owned; the rest is shared in pools (seed 2, SPEC §6).

Its rules are `rules/pools`, and `cycle/pooled` runs them.
"""

from fairhold.model.policy import Policy
from fairhold.model.setting import Kind, Setting
from fairhold.policies.keys import CONTROLS, PACKING, RANK, RATIO, RECLAIM_GRACE, RESTRAINTS, VICTIMS

OWN_KEYS = (
    *("resource_group", "hosts", "per_host", "total"),
    *("preference", "reserved", "lend_grace", "reclaim_before_next_level"),
)
"""Keys of an entry of `own`."""
SHARE_LIMIT = Setting(
    "share_limit",
    Kind.AMOUNTS,
    "Most that it holds in all share pools together.",
    default=(),
    field="share_limit",
    has_none=True,
    none=(),
)
SHARE_PRIORITY = Setting(
    "share_priority", Kind.WHOLE, "Class in a share pool, larger first.", default=0, field="share_priority"
)
PRIVATE_POOL_GRACE = Setting(
    "private_pool_grace",
    Kind.DURATION,
    "How soon borrowers in its private pool must give back.",
    field="private_pool_grace",
    has_none=True,
)
OF_POOLS = (
    Setting("own", Kind.OWN, "What it owns of hosts.", default=(), field="own"),
    SHARE_PRIORITY,
    SHARE_LIMIT,
    PRIVATE_POOL_GRACE,
)
"""Of a consumer: what only this policy reads."""
PUBLIC_POOL_GRACE = Setting(
    "public_pool_grace",
    Kind.DURATION,
    "How soon borrowers in the public pool must give back what is not owned.",
    field="public_pool_grace",
    has_none=True,
)
REBALANCE_INTERVAL = Setting(
    "rebalance_interval",
    Kind.DURATION,
    "How often ownership is adjusted to workloads; none: each cycle.",
    default=0,
    field="rebalance_interval",
    has_none=True,
    none=0,
)
MULTIDIMENSIONAL = Policy(
    "multidimensional",
    of_entry=(PACKING, VICTIMS, PUBLIC_POOL_GRACE, REBALANCE_INTERVAL, *RESTRAINTS),
    of_consumer=(*OF_POOLS, RATIO, RANK, RECLAIM_GRACE, *CONTROLS),
    shares_vectors=True,
)

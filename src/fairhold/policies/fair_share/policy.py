"""`fair_share`: queues deserve amounts, and the rest is divided fairly in bands of priority (seed 4, SPEC §7).

Its rules are `rules/queues`, and `cycle/pooled` runs them.
"""

from fairhold.model.policy import Policy
from fairhold.policies.keys import CONTROLS, RESTRAINTS

QUEUE_KEYS = (
    *("deserved", "limit", "over_quota_weight", "priority"),
    *("reclaim_min_runtime", "preempt_min_runtime", "preemption_delay"),
)
"""Settings of a consumer that only this policy reads, or reads in its own way."""
SWITCHES = ("division", "reclaimer_utilization_multiplier", "k", "half_life", "usage_window", "consolidation")
"""Settings of an entry that only this policy reads."""
FAIR_SHARE = Policy(
    "fair_share",
    settings=("packing", *SWITCHES, *RESTRAINTS),
    keys=(*QUEUE_KEYS, "rank", "reclaim_grace", *CONTROLS[1:]),
    shares_vectors=True,
    has_queues=True,
)

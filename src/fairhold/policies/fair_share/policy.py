"""`fair_share`: queues deserve amounts, and the rest is divided fairly in bands of priority (seed 4, SPEC §7).

Its rules are `rules/queues`, and `cycle/pooled` runs them.
"""

from fractions import Fraction

from fairhold.model.policy import Policy
from fairhold.model.queue import DEFAULT_PRIORITY, DIVISIONS, LARGEST_PRIORITY, UsageWindow
from fairhold.model.setting import Kind, Setting
from fairhold.policies.keys import CONTROLS, PACKING, RANK, RECLAIM_GRACE, RESTRAINTS

NO_HISTORY = "a window of 0 has no history", "write a time such as `7d`"
"""Why a time is no 0, and how to mend it."""
OF_QUEUES = (
    Setting(
        "deserved",
        Kind.DESERVED,
        "Amounts by resource that it gets before any surplus; unlimited: all that there is.",
        default=(),
        field="queue.deserved",
    ),
    Setting("limit", Kind.LIMITS, "The most that it holds, as amounts by resource.", default=(), field="queue.limit"),
    Setting(
        "over_quota_weight",
        Kind.WEIGHTS,
        "Its part of the surplus of its priority: weights by resource, or one number.",
        default=(),
        field="queue.weight",
    ),
    Setting(
        "priority",
        Kind.WHOLE,
        f"Who gets surplus first, larger first; default {DEFAULT_PRIORITY}.",
        default=DEFAULT_PRIORITY,
        field="queue.priority",
        most=LARGEST_PRIORITY,
    ),
    Setting(
        "reclaim_min_runtime",
        Kind.DURATION,
        "How long its units run before other queues may take them.",
        field="queue.reclaim_min_runtime",
    ),
    Setting(
        "preempt_min_runtime",
        Kind.DURATION,
        "How long its units run before work of higher priority in the same queue takes them.",
        field="queue.preempt_min_runtime",
    ),
    Setting(
        "preemption_delay",
        Kind.DURATION,
        "How long its requests wait before they reclaim.",
        field="queue.preemption_delay",
    ),
)
"""Of a consumer: what only this policy reads, or reads in its own way."""
SWITCHES = (
    Setting(
        "division",
        Kind.WORD,
        "How fair shares are computed: exactly, or with KAI's own numbers.",
        default=DIVISIONS[0],
        field="fair_share.division",
        words=DIVISIONS,
    ),
    Setting(
        "reclaimer_utilization_multiplier",
        Kind.NUMBER,
        "How much more saturated than the taker a victim must stay.",
        default=Fraction(1),
        field="fair_share.multiplier",
        least=1,
    ),
    Setting(
        "k",
        Kind.NUMBER,
        "How much history counts against a queue; 0: not at all.",
        default=Fraction(0),
        field="fair_share.k",
    ),
    Setting(
        "half_life",
        Kind.DURATION,
        "Age at which usage counts half; none: it counts fully.",
        field="fair_share.half_life",
        least=1,
        zero=NO_HISTORY,
        has_none=True,
    ),
    Setting(
        "usage_window",
        Kind.USAGE_WINDOW,
        "Which history counts: the last so long, this day, week or month, or since the last restart of a window.",
        default=UsageWindow(),
        field="fair_share.usage_window",
        zero=NO_HISTORY,
    ),
    Setting(
        "consolidation",
        Kind.FLAG,
        "Whether units may move to other hosts to make room.",
        default=False,
        field="fair_share.consolidation",
    ),
)
"""Of an entry: what only this policy reads."""
FAIR_SHARE = Policy(
    "fair_share",
    of_entry=(PACKING, *SWITCHES, *RESTRAINTS),
    of_consumer=(*OF_QUEUES, RANK, RECLAIM_GRACE, *CONTROLS),
    shares_vectors=True,
    has_queues=True,
)

"""Settings of a plan that several policies read."""

from fairhold.model.plan import PACKINGS, VICTIM_ORDERS, WITHIN
from fairhold.model.setting import Kind, Setting
from fairhold.units import UNLIMITED

# Of an entry.
PACKING = Setting(
    "packing", Kind.WORD, "Which host a unit is placed on.", default="stacked", field="packing", words=PACKINGS
)
VICTIMS = Setting(
    "victims",
    Kind.WORD,
    "Which units of a leaf are given back first.",
    default="youngest",
    field="victims",
    words=VICTIM_ORDERS,
    may_differ=True,
)
WITHIN_LEAF = Setting(
    "within",
    Kind.WORD,
    "Order of requests of the same priority in a leaf.",
    default="users",
    field="within",
    words=WITHIN,
    may_differ=True,
)
LEAD = Setting(
    "lead",
    Kind.LEAD,
    "How long before its window opens the entry is in force; auto: as long as the longest grace.",
    default=0,
    field="lead",
    may_differ=True,
)
MAX_RECLAIMS = Setting(
    "max_reclaims",
    Kind.WHOLE,
    "Most units that get notice in one cycle.",
    field="max_reclaims",
    least=1,
    has_none=True,
    zero=(
        "with `max_reclaims: 0` nothing would ever be reclaimed",
        "write 1 or more, or `observe_only: true`",
    ),
    may_differ=True,
)
DEAD_ZONE = Setting(
    "dead_zone",
    Kind.WHOLE,
    "A leaf with a deficit of at most so many units does not reclaim.",
    default=0,
    field="dead_zone",
    may_differ=True,
)
AWAIT_ENDS = Setting(
    "await_ends",
    Kind.DURATION,
    "How long a leaf has a deficit before it reclaims.",
    default=0,
    field="await_ends",
    may_differ=True,
)
OBSERVE_ONLY = Setting(
    "observe_only",
    Kind.FLAG,
    "Reclaims are decided and shown, but no notice is given.",
    default=False,
    field="observe_only",
)
HOLD_AFTER = Setting(
    "hold_after",
    Kind.DURATION,
    "How long a gang waits before units are held for it; none: never.",
    field="hold_after",
    has_none=True,
)
RESTRAINTS = (MAX_RECLAIMS, DEAD_ZONE, AWAIT_ENDS, OBSERVE_ONLY)
"""What holds reclaims back (R-CONTROL-1 to R-CONTROL-4)."""
OF_SLOTS = (PACKING, VICTIMS, WITHIN_LEAF, LEAD, *RESTRAINTS, HOLD_AFTER)
"""Of an entry that shares slots."""

# Of a consumer.
OWNED = Setting("owned", Kind.WHOLE, "Slots guaranteed.", default=0, field="owned")
RESERVED = Setting("reserved", Kind.WHOLE, "Part of owned that is never lent.", default=0, field="reserved")
LIMIT = Setting(
    "limit",
    Kind.WHOLE,
    "The most slots that it holds, owned and borrowed together.",
    default=UNLIMITED,
    field="limit",
    has_none=True,
    none=UNLIMITED,
)
RATIO = Setting("share_ratio", Kind.WHOLE, "Weight among siblings; 0: no share.", field="share_ratio")
RANK = Setting("rank", Kind.WHOLE, "Order among siblings, 0 first.", field="rank")
RECLAIM_GRACE = Setting("reclaim_grace", Kind.DURATION, "Time from the notice to the stop.", field="grace")
BUDGET = Setting("budget", Kind.BUDGET, "What it may use in a period, with all below it.", field="budget")
MAX_RUN_TIME = Setting(
    "max_run_time",
    Kind.DURATION,
    "How long an attempt may run.",
    field="max_run_time",
    least=1,
    has_none=True,
    none=0,
    zero=("0 seconds leaves no attempt any time to run", "write `none` for no limit"),
)
USER_LIMIT = Setting(
    "user_limit",
    Kind.WHOLE,
    "Most units that one user holds in a leaf.",
    field="user_limit",
    least=1,
    has_none=True,
    none=UNLIMITED,
)
MIN_RUNTIME = Setting(
    "min_runtime", Kind.DURATION, "How long a unit runs before it is reclaimed for others.", field="min_runtime"
)
CONTROLS = (BUDGET, MAX_RUN_TIME, USER_LIMIT, MIN_RUNTIME)
"""What bounds a consumer, its users and its runs (R-BUDGET-1, R-USER-1, R-CONTROL-5)."""
OF_HOLDERS = (LIMIT, RANK, RECLAIM_GRACE, *CONTROLS)
"""Of a consumer that holds slots."""

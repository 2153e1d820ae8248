"""Keys of a plan that several policies read."""

CONTROLS = ("budget", "max_run_time", "user_limit", "min_runtime")
"""Of a consumer: what bounds it, its users and its runs (R-BUDGET-1, R-USER-1, R-CONTROL-5)."""
RESTRAINTS = ("max_reclaims", "dead_zone", "await_ends", "observe_only")
"""Of an entry: what holds reclaims back (R-CONTROL-1 to R-CONTROL-4)."""
OF_SLOTS = ("packing", "victims", "within", "lead", *RESTRAINTS, "hold_after")
"""Of an entry that shares slots."""
OF_HOLDERS = ("limit", "rank", "reclaim_grace", *CONTROLS)
"""Of a consumer that holds slots."""

"""What `multidimensional` does not have of other policies: why, and what to write in its place."""

from __future__ import annotations

ABSENT = {
    "hold_after": (
        "units of different sizes leave gaps on hosts, so it is not known what to hold for a gang, and until when",
        "leave it out; to guarantee the space, let its leaf own it: `own` with `reserved: true`",
    ),
    "lead": (
        "what has to be free at the switch depends on who owns which host then, which is decided at the switch",
        "leave it out; start the window earlier by the longest `reclaim_grace` of those who give back",
    ),
    "limit": (
        "a number of slots does not limit resources",
        "leave it out, or write `share_limit` with an amount of each resource",
    ),
    "owned": (
        "under this policy hosts and parts of hosts are owned, not slots",
        "leave it out, or write `own`",
    ),
    "within": (
        "requests of a leaf go by priority, submission time and id; users in turn would count eight GPUs like one CPU",
        "leave it out; to keep a user from filling a leaf, use `user_limit`, or give users their own leaves",
    ),
}
"""Key → why, and what to do instead."""

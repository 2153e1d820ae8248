"""What `multidimensional` does not have of other policies: why, and what to write in its place."""

from __future__ import annotations

ABSENT = {
    "budget": (
        "unit-hours would count a unit of one CPU and one of eight GPUs alike",
        "leave it out; to bound what it holds at any time write `share_limit`",
    ),
    "hold_after": (
        "units of many shapes leave gaps on hosts, and nobody could say what to hold for a gang and until when",
        "leave it out; to be sure of its space let its leaf own it: `own`, with `reserved: true`",
    ),
    "lead": (
        "what is to be free at the switch depends on who owns which host then, and that is settled at the switch",
        "leave it out; begin the window earlier by the longest `reclaim_grace` of those who let go",
    ),
    "limit": (
        "a number of slots says nothing of resources",
        "leave it out, or write `share_limit` with an amount of each resource",
    ),
    "owned": (
        "hosts and parts of hosts are owned, and no slots",
        "leave it out, or write `own`",
    ),
    "within": (
        "requests of a leaf go by priority, submitted, id; in turn eight GPUs a unit would count as much as one CPU",
        "leave it out; so that no user fills a leaf write `user_limit`, or give users leaves of their own",
    ),
}
"""Key → why, and what to do instead."""

"""Where the core is known to differ from the rules, and the reference is right (ADR 0054)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.verify import verify
from fairhold.reference.expected import cycles

if TYPE_CHECKING:
    from typing import Any

    from fairhold.model.plan import Plan
    from fairhold.model.state import State


def is_known(plan: Plan, state: State) -> bool:
    """R-SITE-4: a request that names labels, or needs one host, claims units of others; the core claims less."""
    return any(mine.claims.of or mine.claims.waived for mine in cycles(plan, state).values())


def is_right(plan: Plan, state: State, result: dict[str, Any]) -> bool:
    """Whether the check finds nothing in a result, but for what is known."""
    return verify(plan, state, result) == () or is_known(plan, state)

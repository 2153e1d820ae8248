"""Which share of what explanations claim would help holds.

`python -m tests.counterfactuals.measure [EXAMPLES [POLICY …]]` prints it for `hybrid`, `multidimensional` and
`fair_share`, always of the same plans and states, and every claim that does not hold; then it ends with 1.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, Phase, given, settings

from tests.counterfactuals.claims import Claims
from tests.counterfactuals.situations import situations
from tests.counterfactuals.slots import SlotClaims
from tests.cycle.test_what_if import small_cases
from tests.pools.test_random import stories as pool_stories
from tests.queues.strategies import stories as queue_stories

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

MOST = 150
"""Smaller changes, or single values, that are looked at for one claim, at random."""
SITUATIONS: dict[str, tuple[SearchStrategy[Any], type[Claims | SlotClaims]]] = {
    "hybrid": (small_cases(), SlotClaims),
    "multidimensional": (situations(pool_stories), Claims),
    "fair_share": (situations(queue_stories), Claims),
}


def measure(policy: str, examples: int) -> bool:
    """Print the shares of one policy, and what does not hold; whether all of it does."""
    strategy, kind = SITUATIONS[policy]
    claims = kind(MOST)

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def look(situation: Any) -> None:
        claims.check(situation)

    look()
    shares = [
        f"{claims.made[name] - len(broken)} of {claims.made[name]} {name}" for name, broken in claims.broken.items()
    ]
    others = [f"{number} {name}" for name, number in claims.made.items() if name not in claims.broken]
    sys.stdout.write(f"{policy}, {examples} plans and states: {', '.join(shares + others)}\n")
    for name, broken in claims.broken.items():
        for each in broken:
            sys.stdout.write(f"  not {name}: {each}\n")
    return not any(claims.broken.values())


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    are_right = [measure(policy, number) for policy in sys.argv[2:] or SITUATIONS]
    sys.exit(not all(are_right))

"""Which share of what explanations claim would help holds: `python -m tests.counterfactuals.measure [EXAMPLES]`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, Phase, given, settings

from tests.counterfactuals.claims import Claims
from tests.counterfactuals.situations import situations
from tests.pools.test_random import stories as pool_stories
from tests.queues.strategies import stories as queue_stories

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]
MOST = 150
"""Smaller changes, or single values, that are looked at for one claim, at random."""
FAMILIES = {"multidimensional": pool_stories, "fair_share": queue_stories}


def measure(name: str, stories: Callable[[], Any], examples: int) -> bool:
    """Print the shares of one policy, and what does not hold; whether all of it does."""
    claims = Claims(MOST)

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(situations(stories))
    def look(situation: tuple[Json, Json]) -> None:
        claims.check(*situation)

    look()
    shares = [
        f"{claims.made[kind] - len(broken)} of {claims.made[kind]} {kind}" for kind, broken in claims.broken.items()
    ]
    others = [f"{number} {kind}" for kind, number in claims.made.items() if kind not in claims.broken]
    sys.stdout.write(f"{name}, {examples} plans and states: {', '.join(shares + others)}\n")
    for kind, broken in claims.broken.items():
        for each in broken:
            sys.stdout.write(f"  not {kind}: {each}\n")
    return not any(claims.broken.values())


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    some = {name: FAMILIES[name] for name in sys.argv[2:] or FAMILIES}
    are_right = [measure(name, stories, number) for name, stories in some.items()]
    sys.exit(not all(are_right))

"""What a plan says of a queue: what it deserves, may use at most, and gets of the surplus (`fair_share`, SPEC §7)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

DIVISIONS = ("exact", "kai")
WINDOW_KINDS = ("sliding", "tumbling", "calendar")
DEFAULT_PRIORITY, LARGEST_PRIORITY = 100, 10**9
WEEK = 7 * 24 * 3600 * 1_000_000

Amounts = tuple[tuple[int, int], ...]
"""(place of the resource, base units) of those that are stated; UNLIMITED = as much as there is."""


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """What an entry of `fair_share` states for one consumer.

    deserved  : allocated to it before any surplus, whatever its priority; what is not stated: 0 (S4.3)
    limit     : at most; what is not stated: none
    weight    : (place of the resource, part of the surplus of its band), what is not stated: 1; 0 = no surplus (S4.8)
    priority  : of its band, larger first (S4.4)
    reclaim_min_runtime : microseconds that its units run before other queues take them, None = as the queue above says
    preempt_min_runtime : the same, before others of its own do
    preemption_delay    : microseconds that its requests wait before they take anything, None = as the queue above says
    """

    deserved: Amounts = ()
    limit: Amounts = ()
    weight: tuple[tuple[int, Fraction], ...] = ()
    priority: int = DEFAULT_PRIORITY
    reclaim_min_runtime: int | None = None
    preempt_min_runtime: int | None = None
    preemption_delay: int | None = None


NO_QUEUE = QueueSettings()
"""Nothing is stated."""


@dataclass(frozen=True, slots=True)
class UsageWindow:
    """Which history counts.

    kind   : one of WINDOW_KINDS: the time up to now, time that begins anew after a length, or with a day, week or month
    length : microseconds, of the first two
    start  : an instant at which one begins, of the second
    period : one of `model.budget.PERIODS`, of the third
    """

    kind: str = WINDOW_KINDS[0]
    length: int = WEEK
    start: int = 0
    period: str = ""


@dataclass(frozen=True, slots=True)
class FairShareSettings:
    """Switches of an entry of `fair_share`.

    division      : one of DIVISIONS; `kai` reproduces KAI's own numbers
    multiplier    : 1 or more: how much more saturated than the taker a victim has to stay (S4.22-23)
    k             : how much history counts, 0 = not at all
    half_life     : microseconds after which usage counts half, None = it counts whole
    usage_window  : which history counts
    consolidation : units may move to other hosts to make room
    """

    division: str = DIVISIONS[0]
    multiplier: Fraction = Fraction(1)
    k: Fraction = Fraction(0)
    half_life: int | None = None
    usage_window: UsageWindow = UsageWindow()
    consolidation: bool = False

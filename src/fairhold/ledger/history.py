"""Usage history of queues, by resource and time. Decayed, it corrects their weights (R-HISTORY-1, R-QUEUE-4)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fairhold.ledger.decay import Steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fairhold.model.plan import Plan
    from fairhold.model.vector import Vector

FINEST = 10**9
"""Usage is a whole number of these parts of the capacity, as states can hold it."""
CAPACITY = 0
"""In place of a leaf's row: what the hosts have. The root holds nothing itself."""


class Meter:
    """What one leaf holds of every resource, and the usage that this has added up to.

    rate   : base units since `since`, None = from the first instant that is told on
    booked : begin of a step → base units times microseconds in it, up to `since`
    """

    __slots__ = ("booked", "rate", "since")

    def __init__(self, resources: int) -> None:
        self.rate = [0] * resources
        self.since: int | None = None
        self.booked: dict[int, list[int]] = {}

    def until(self, now: int, steps: Steps) -> dict[int, list[int]]:
        """All that counts up to an instant; nothing is written down."""
        first = steps.first(now)
        found = {start: list(amounts) for start, amounts in self.booked.items() if start >= first}
        self._book(found, first, now, steps)
        return found

    def advance(self, now: int, steps: Steps) -> None:
        """Write all down up to an instant."""
        first = steps.first(now)
        for start in [start for start in self.booked if start < first]:
            del self.booked[start]
        self._book(self.booked, first, now, steps)
        self.since = now

    def _book(self, booked: dict[int, list[int]], first: int, now: int, steps: Steps) -> None:
        """Add what is held since the last time, from the first step that counts on."""
        at = now if self.since is None else max(self.since, first)
        while at < now and any(self.rate):
            start, end = steps.of(at)
            end = min(end, now)
            mine = booked.setdefault(start, [0] * len(self.rate))
            for place, rate in enumerate(self.rate):
                mine[place] += rate * (end - at)
            at = end


class History:
    """The meters of one policy entry of `fair_share`.

    Units count for the leaf that holds them, for their host's resource group, while the entry is in force and while
    not. Usage is counted up to the last border of a step: between borders time changes no share.

    at     : position of the entry under `policies:`
    groups : its resource groups; by them it is known in another plan
    steps  : its steps
    hosts  : of its resource groups, by name
    there  : what counts of each; empty = they were not looked at yet
    """

    def __init__(self, plan: Plan, at: int) -> None:
        entry = plan.policies[at]
        settings = entry.settings.fair_share
        assert settings is not None
        self.at, self.groups, self.steps = at, entry.resource_groups, Steps(settings, plan.zone)
        self.is_counted = settings.k > 0
        self.hosts = {host.name: host for name in self.groups for host in plan.resource_groups[name].hosts}
        self.there: dict[str, Vector] = {}
        self._resources = len(plan.resources)
        self.meters: dict[int, Meter] = {CAPACITY: Meter(self._resources)}
        self._latest: tuple[int, dict[int, tuple[Fraction, ...]]] = (-1, {})

    def hold(self, leaf: int, unit: Vector, units: int, now: int) -> None:
        """A leaf (a row of the plan's tree) holds this many units more from now on; negative = fewer."""
        meter = self.meters.get(leaf)
        if meter is None:
            meter = self.meters[leaf] = Meter(self._resources)
        meter.advance(now, self.steps)
        meter.rate = [rate + units * need for rate, need in zip(meter.rate, unit, strict=True)]
        if not any(meter.rate) and not meter.booked:
            del self.meters[leaf]

    def have(self, amounts: Sequence[int], now: int) -> None:
        """The total amounts of hosts that are up, from now on."""
        meter = self.meters[CAPACITY]
        if meter.since is None or list(amounts) != meter.rate:
            meter.advance(now, self.steps)
            meter.rate = list(amounts)

    def usage(self, now: int) -> Mapping[int, tuple[Fraction, ...]]:
        """Row of a leaf → decayed usage of every resource as a part of the capacity, as of the last border."""
        border = self.steps.of(now)[0]
        if self._latest[0] != border:
            capacity = self._sums(CAPACITY, border)
            found = {}
            for leaf in sorted(self.meters.keys() - {CAPACITY}):
                pairs = zip(self._sums(leaf, border), capacity, strict=True)
                parts = tuple(
                    Fraction((2 * FINEST * mine + all_) // (2 * all_), FINEST) if all_ else Fraction(0)
                    for mine, all_ in pairs
                )
                if any(parts):
                    found[leaf] = parts
            self._latest = border, found
        return self._latest[1]

    def _sums(self, row: int, border: int) -> list[int]:
        """By resource, what was booked in the steps that count, each with its weight."""
        found = [0] * self._resources
        steps = self.steps
        first = steps.begin(border)
        for start, amounts in self.meters[row].until(border, steps).items():
            weight = steps.weight(start, border) if first <= start < border else 0
            for place, amount in enumerate(amounts) if weight else ():
                found[place] += weight * amount
        return found

    def carry(self, row: int, since: int, booked: Iterable[tuple[int, Sequence[int]]]) -> None:
        """Restore a meter; usage of other steps is booked in the step of their begin."""
        meter = self.meters.setdefault(row, Meter(self._resources))
        meter.since, meter.booked = since, {}
        for start, amounts in booked:
            mine = meter.booked.setdefault(self.steps.of(start)[0], [0] * self._resources)
            for place, amount in enumerate(amounts):
                mine[place] += amount
        self._latest = (-1, {})


def histories_of(plan: Plan) -> tuple[History, ...]:
    """Empty ones of all entries of `fair_share` that share hosts."""
    return tuple(
        History(plan, at)
        for at, entry in enumerate(plan.policies)
        if entry.settings.fair_share is not None
        and any(plan.resource_groups[name].hosts for name in entry.resource_groups)
    )

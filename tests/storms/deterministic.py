"""Plays storms: `python -m tests.storms.deterministic STEPS [FIRST]`, or one by `… SEED STEPS --one`.

Each storm has a seed, goes on for some steps and then calms down, so that all work has to come to its end. A seed and a
number of steps give the same history again, to the last byte of the log. Where something is not as it must be, the seed
is printed, with what came before and which troubles it takes.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

from tests.storms.judge import BrokenError
from tests.storms.kernel import SECOND, START
from tests.storms.storm import Storm

LENGTH = 40_000
"""Steps of a storm before it calms down."""
LINES = 60


class Played(NamedTuple):
    """What became of a storm; failure: empty = all was as it must be."""

    storm: Storm
    failure: str

    @property
    def hours(self) -> float:
        """Of the cluster's time."""
        return (self.storm.kernel.now - START) / SECOND / 3600

    def told(self) -> str:
        """In a line."""
        storm = self.storm
        what = f"seed {storm.seed}, {storm.plans.policy}: {storm.kernel.steps} steps, {self.hours:.1f} hours"
        counts = storm.judge.counts
        work = f"{counts['JobAdded']} jobs, {counts['commands']} commands, {storm.service.starts} starts of the service"
        return f"{what}, {work}, digest {storm.kernel.digest:08x}"


def play(seed: int, steps: int = LENGTH, without: frozenset[str] = frozenset()) -> Played:
    """A storm from its begin to its end.

    without : names of troubles that do not come
    """
    storm = Storm(seed)
    storm.troubles.allowed -= without
    try:
        storm.run(steps)
        storm.calm_down()
    except Exception as error:  # noqa: BLE001 - whatever the product raises where nothing catches it is a find, too
        broken = storm.judge.broken or error
        return Played(storm, str(broken) if isinstance(broken, BrokenError) else repr(broken))
    return Played(storm, "")


def shrunk(failed: Played) -> frozenset[str]:
    """Troubles that it takes to fail: each of the others is left out, and it fails all the same."""
    steps = failed.storm.kernel.steps + LENGTH // 4
    without = frozenset[str]()
    for name in sorted(failed.storm.troubles.allowed):
        if play(failed.storm.seed, steps, without | {name}).failure:
            without |= {name}
    return frozenset(failed.storm.troubles.allowed - without)


def report(failed: Played) -> str:
    """What somebody needs who mends it."""
    storm = failed.storm
    notes = [f"{(at - START) / SECOND:12.6f} {what[:200]}" for at, what in list(storm.judge.notes)[-LINES:]]
    again = f"python -m tests.storms.deterministic {storm.seed} {max(storm.kernel.steps, 1)} --one"
    needed = ", ".join(sorted(shrunk(failed))) or "none"
    return "\n".join((*notes, failed.told(), f"FAILED: {failed.failure}", f"it takes: {needed}", f"again: {again}"))


def play_many(steps: int, first: int = 0) -> tuple[int, float, Played | None]:
    """Storms of seeds from `first` on, until there were so many steps; steps, hours, and the one that failed."""
    done, hours = 0, 0.0
    for seed in range(first, first + steps):
        if done >= steps:
            break
        played = play(seed, min(LENGTH, steps - done))
        done += played.storm.kernel.steps
        hours += played.hours
        if played.failure:
            return done, hours, played
    return done, hours, None


def main(words: list[str]) -> int:
    """See the module."""
    if "--one" in words:
        seed, steps = map(int, words[:2])
        played = play(seed, steps)
        sys.stdout.write(f"{report(played) if played.failure else played.told()}\n")
        return bool(played.failure)
    steps, first = int(words[0]), int(words[1]) if len(words) > 1 else 0
    done, hours, failed = play_many(steps, first)
    if failed is not None:
        sys.stdout.write(f"{report(failed)}\n")
        return 1
    sys.stdout.write(f"{done} steps, {hours / 24:.1f} days of the cluster's time: all is as it must be\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

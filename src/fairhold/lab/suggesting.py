"""The smallest change of a plan under which a consumer waits no longer than asked, found by playing a scenario.

Every candidate is a change of one thing by 1, 2, … steps. Its smallest value that will do is looked for by doubling and
halving; since more of a thing need not always help, what lies next to the value found is played, too. Pairs are tried
only where nothing alone will do. Every plan meets the same jobs and outages, and is played as `simulate` plays it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.errors import Fault, InputError
from fairhold.lab.changing import KINDS, changed
from fairhold.lab.expecting import never_run
from fairhold.lab.parallel import run_all
from fairhold.lab.simulating import simulate
from fairhold.planio.plan import parse_plan
from fairhold.planio.report import shown
from fairhold.sim.summary import spread
from fairhold.sim.waits import Waits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.lab.changing import Candidate
    from fairhold.lab.expecting import Expectation
    from fairhold.lab.parallel import OnProgress
    from fairhold.lab.scenario import Scenario

Document = dict[str, Any]
Change = tuple["Candidate", int]
MOST_PAIRED = 4
"""Changes that come nearest are tried in pairs."""
_COSTS = ("deficit", "lost", "stopped", "notified")


class Measured(NamedTuple):
    """What comes of a plan.

    fault   : why there is no such plan, empty = there is
    numbers : what was asked for, draw by draw
    costs   : path → what it waits, loses and misses in the mean of all draws
    never   : jobs of the consumer and below it that can never run, in the draw with the most; no wait is that of them
    """

    fault: str
    numbers: tuple[int, ...] = ()
    costs: Mapping[str, Document] = {}
    never: int = 0

    @property
    def worst(self) -> int:
        """The number of the worst draw."""
        return max(self.numbers)


class Found(NamedTuple):
    """Where the search for the smallest value of a change has ended.

    changes   : the candidate and its value, of a pair both; the smallest that will do, else what came nearest
    measured  : what comes of that; of no plan that there is: its fault
    will_do   : whether it is as asked
    is_steady : whether one step more will do, too
    played    : how many plans were played
    """

    changes: tuple[Change, ...]
    measured: Measured
    will_do: bool
    is_steady: bool
    played: int

    @property
    def size(self) -> int:
        """Thousandths, see `Candidate.size`."""
        return sum(candidate.size(value) for candidate, value in self.changes)

    @property
    def order(self) -> tuple[object, ...]:
        """The smallest first."""
        return self.size, *((KINDS.index(each.kind), each.words) for each, _ in self.changes)


@dataclass
class Bench:
    """Plays a plan with changes.

    scenarios : one of every draw, each with the plan alone
    document  : of the plan
    asked     : how long the consumer may wait
    """

    scenarios: Sequence[Scenario]
    document: Mapping[str, Any]
    asked: Expectation
    _known: dict[str, Measured] = field(default_factory=dict)

    def play(self, changes: Sequence[Change]) -> Measured:
        """What comes of the plan with changes; each plan is played once."""
        text = changed(self.document, changes)
        if text not in self._known:
            self._known[text] = self._play(text)
        return self._known[text]

    @property
    def played(self) -> int:
        """Plans that were played so far."""
        return sum(not each.fault for each in self._known.values())

    def will_do(self, measured: Measured) -> bool:
        """Whether it is as asked in every draw."""
        return not measured.fault and all(map(self.asked.is_kept, measured.numbers))

    def _play(self, text: str) -> Measured:
        try:
            plan = parse_plan(text, "the plan", places=True)[0]
        except InputError as error:
            return Measured(error.faults[0].what)
        numbers, summaries, never = [], [], 0
        for scenario in self.scenarios:
            ((name, experiment),) = scenario.experiments.items()
            waits = Waits(self.asked.path, scenario.begin)
            one = replace(scenario, experiments={name: experiment.under(plan)})
            summary = simulate(one, name, watches=[waits])
            spreads = spread(waits.all(summary["end"]))
            if not spreads["count"]:
                raise InputError([_nothing_waits(self.asked.path, summary)])
            numbers.append(spreads[self.asked.statistic])
            summaries.append(_costs(summary, self.asked.path))
            never = max(never, never_run(self.asked.path, summary))
        return Measured("", tuple(numbers), _mean(summaries), never)


def _nothing_waits(path: str, summary: Document) -> Fault:
    refused = [each for each in summary["never_run"] if each["consumer"] == path]
    what = f"no task of `{shown(path)}` waits in the measured time"
    if refused:
        return Fault("expectation", f"{what}: its jobs can never run ({refused[0]['what']})", "change the plan or them")
    return Fault("expectation", what, "name a consumer that has jobs in the scenario, after its warm-up")


def _costs(summary: Document, path: str) -> dict[str, Document]:
    """Path → what it costs it, of the first resource that the consumer uses."""
    shared = next((each for each in summary["shared"] if path in each["consumers"]), summary["shared"][0])
    return {
        path: {name: one[name] for name in _COSTS} | {f"wait.{name}": one["wait"][name] for name in ("mean", "p95")}
        for path, one in shared["consumers"].items()
    }


def _mean(draws: Sequence[Mapping[str, Document]]) -> dict[str, Document]:
    return {
        path: {name: sum(each[path][name] for each in draws) // len(draws) for name in values}
        for path, values in draws[0].items()
    }


class Suggested(NamedTuple):
    """What the search says.

    before : of the plan as it is; is_kept: already as asked, and nothing was tried
    tried  : all changes, those that will do first, the smallest in front; then those that came nearest
    played : how many plans were played
    is_whole : whether the search came to its end; False after Ctrl-C
    """

    before: Measured
    is_kept: bool
    tried: list[Found]
    played: int
    is_whole: bool = True

    @property
    def best(self) -> Found | None:
        """The smallest change that will do."""
        return self.tried[0] if self.tried and self.tried[0].will_do else None


def suggest(
    bench: Bench, found: Sequence[Candidate], processes: int = 1, on_progress: OnProgress | None = None
) -> Suggested:
    """Look for the smallest change; the answer is the same on any number of processes.

    Each change is tried once, and so is each pair. After Ctrl-C the answer is about what was tried until then.

    on_progress : is told how many changes were looked at, and of how many

    Raises InputError where nothing of the consumer waits.
    """
    before = bench.play(())
    if bench.will_do(before):
        return Suggested(before, is_kept=True, tried=[], played=bench.played)
    tried, is_whole = run_all(partial(_smallest, bench), _different(found), processes, on_progress)
    if is_whole and not any(each.will_do for each in tried):
        near = [each for each in sorted(tried, key=_nearness) if each.measured.numbers][:MOST_PAIRED]
        pairs = list(combinations([each.changes[0] for each in near], 2))
        try:
            in_pairs, is_whole = run_all(partial(_smallest_pair, bench), pairs, processes, on_progress)
        except KeyboardInterrupt:
            in_pairs, is_whole = [], False
        tried += in_pairs
    good = sorted((each for each in tried if each.will_do), key=lambda each: each.order)
    rest = sorted((each for each in tried if not each.will_do), key=_nearness)
    played = 1 + sum(each.played for each in tried)
    return Suggested(before, is_kept=False, tried=[*good, *rest], played=played, is_whole=is_whole)


def _different(found: Sequence[Candidate]) -> list[tuple[Candidate]]:
    """Candidates without those that set the same values as one before them."""
    first: dict[str, Candidate] = {}
    for each in found:
        first.setdefault(repr((each.parts, each.most)), each)
    return [(each,) for each in first.values()]


def _nearness(each: Found) -> tuple[object, ...]:
    return bool(each.measured.fault), each.measured.worst if each.measured.numbers else 0, *each.order


def _smallest(bench: Bench, task: tuple[Candidate]) -> Found:
    mine = replace(bench, _known={})  # so that what is counted does not depend on who looked before
    return _search(mine, task[0], ())


def _smallest_pair(bench: Bench, task: tuple[Change, Change]) -> Found:
    """One at the value at which it came nearest, the other as small as can be; then the first, too."""
    mine = replace(bench, _known={})
    first, second = task
    found = _search(mine, second[0], (first,))
    if found.will_do:
        smaller = _search(mine, first[0], (found.changes[-1],))
        found = min((found, smaller), key=lambda each: (not each.will_do, each.size)) if smaller.will_do else found
    return found._replace(played=mine.played)


def _search(bench: Bench, candidate: Candidate, others: tuple[Change, ...]) -> Found:
    """The smallest value of a candidate that will do beside other changes."""
    known: dict[int, Measured] = {}

    def will_do(value: int) -> bool:
        if value not in known:
            known[value] = bench.play((*others, (candidate, value)))
        return bench.will_do(known[value])

    low, high = 0, 1
    while not will_do(high):
        if high == candidate.most:
            return _nearest(bench, candidate, others, known)
        low, high = high, min(2 * high, candidate.most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if will_do(middle) else (middle, high)
    for value in range(high - 1, max(0, high - 4), -1):  # what is less may do although something between does not
        high = value if will_do(value) else high
    is_steady = high == candidate.most or will_do(high + 1)
    return Found((*others, (candidate, high)), known[high], will_do=True, is_steady=is_steady, played=bench.played)


def _nearest(bench: Bench, candidate: Candidate, others: tuple[Change, ...], known: Mapping[int, Measured]) -> Found:
    """Nothing that was tried will do."""
    there = {value: each for value, each in known.items() if not each.fault}
    value = min(there, key=lambda each: (there[each].worst, each)) if there else min(known)
    changes = (*others, (candidate, value))
    return Found(changes, known[value], will_do=False, is_steady=False, played=bench.played)

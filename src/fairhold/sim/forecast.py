"""When a waiting job will start: the live state is simulated many times, with run times of finished tasks.

What decides is the live orchestrator (`sim.projection`); only how long tasks run is drawn. A task that has run for a
while is drawn among those that ran longer. Equal states and seeds give equal answers.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.cycle.pacing import MAX_INTERVAL
from fairhold.errors import ArgumentError, Fault, InputError, count
from fairhold.model.siting import siting_of
from fairhold.orchestrator import changes as said
from fairhold.orchestrator.events import JobSubmitted
from fairhold.orchestrator.freeze import thaw
from fairhold.orchestrator.handle import Orchestrator
from fairhold.orchestrator.jobs import check
from fairhold.orchestrator.opening import open_cluster_books
from fairhold.sim.projection import MOST_EVENTS, Projection, at_limit
from fairhold.traces.draws import Stream, stream_of
from fairhold.units import format_duration, format_instant

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from fairhold.model.plan import Plan
    from fairhold.orchestrator.attempts import Attempt
    from fairhold.orchestrator.cluster import Cluster
    from fairhold.orchestrator.tasks import JobRecord

    Document = dict[str, Any]

COVERAGE = "forecast-coverage.json"
"""Name of the file in a state directory, or a record, that says how many forecasts came true."""
DRAWS, MOST_DRAWS = 100, 1_000
HORIZON = 7 * 86_400_000_000
MOST_WORK = 1_000_000
"""Events that all draws together may play: more draws than fit are not made."""
FEWEST = 5
"""Tasks that a consumer must have finished at least, for its run times to be drawn from them."""
BY_THEMSELVES = ("finished", "failed", "time_limit", "memory")
"""Reasons of ends that say how long a task runs."""


class Past:
    """How long finished attempts ran: by the path of their consumer, sorted."""

    def __init__(self, rows: Iterable[tuple[str, int]]) -> None:
        """Rows: path of the leaf, microseconds."""
        self._of: dict[str, list[int]] = {}
        for leaf, length in rows:
            path = leaf
            while path:
                self._of.setdefault(path, []).append(length)
                path = path.rpartition("/")[0]
            self._of.setdefault("/", []).append(length)
        for lengths in self._of.values():
            lengths.sort()

    def of(self, path: str) -> tuple[str, Sequence[int]]:
        """The consumer itself, or the nearest above it, of which enough tasks are over; and how long they ran."""
        at = path
        while at:
            if len(self._of.get(at, ())) >= FEWEST:
                return at, self._of[at]
            at = at.rpartition("/")[0]
        return "/", self._of.get("/", ())

    def longer(self, path: str, than: int) -> Sequence[int]:
        """Lengths above one, of the consumer or the nearest above it that has any."""
        at, lengths = self.of(path)
        while True:
            place = bisect_right(lengths, than)
            if place < len(lengths) or at == "/":
                return lengths[place:]
            at = at.rpartition("/")[0] or "/"
            lengths = self._of.get(at, ())


class Lookout(NamedTuple):
    """What a forecast starts from.

    plan : in force; document: the cluster, from `freeze`; own: the host that is the service's own machine
    now  : instant; past: how long tasks ran
    """

    plan: Plan
    document: Mapping[str, Any]
    own: str
    now: int
    past: Past

    def cluster(self) -> Cluster:
        """A copy of it."""
        return thawed(self.plan, self.document, self.now, self.own)


class Starts(NamedTuple):
    """When the first of the tasks of jobs that wait now began in each draw.

    of    : job → instant, or None where none had begun by the horizon
    draws : how many were made
    is_cut : some did not reach the horizon, as enough was played
    """

    of: Mapping[str, list[int | None]]
    draws: int
    is_cut: bool = False


class Effort(NamedTuple):
    """How many events all draws together may play, where one is made in any case; and how many each."""

    work: int
    events: int


WHOLE = Effort(MOST_WORK, MOST_EVENTS)


def thawed(plan: Plan, document: Mapping[str, Any], now: int, own: str) -> Cluster:
    """The cluster of a document, on books of the plan under which it was frozen."""
    windows = document.get("windows", {})
    books = open_cluster_books(plan, now, {group: tuple(entries) for group, (entries, _) in windows.items()})
    for group, (_, before) in windows.items():
        books[group].before = tuple(before)
    return thaw(dict(document), books, forgets=True, own=own)


class _AllBegun(Exception):  # noqa: N818 - no error
    """Nothing more is wanted of a draw."""


def starts(
    look: Lookout, jobs: Collection[str], draws: int, seed: int, horizon: int, *, effort: Effort = WHOLE
) -> Starts:
    """Simulate the state many times; horizon: microseconds from now on."""
    found: dict[str, list[int | None]] = {job: [] for job in jobs}
    running = _running(look.cluster(), jobs)
    work = made = 0
    is_cut = False
    while made < draws and (not made or work < effort.work):
        begun: dict[str, int] = {}

        def note(now: int, changes: Sequence[said.Change], begun: dict[str, int] = begun) -> None:
            for change in changes:
                if isinstance(change, said.Started) and change.task not in running.get(change.job, {change.task}):
                    begun.setdefault(change.job, now)
            if len(begun) == len(found):
                raise _AllBegun

        ends = _Ends(look, seed, made)
        try:
            projection = Projection(look.cluster(), look.now, ends.of, note)
            projection.most_events = effort.events
            is_cut |= not projection.run_until(look.now + horizon)
            work += projection.events
        except _AllBegun:
            work += 1 + ends.asked
        for job, instants in found.items():
            instants.append(begun.get(job))
        made += 1
    return Starts(found, made, is_cut)


def _running(cluster: Cluster, jobs: Collection[str]) -> dict[str, set[int]]:
    """The tasks of jobs that run now: one of them that starts anew has not waited."""
    found: dict[str, set[int]] = {job: set() for job in jobs}
    for attempt in cluster.attempts.values():
        if attempt.job.name in found:
            found[attempt.job.name].add(attempt.index)
    return found


class _Ends:
    """Draws when attempts end; every attempt of every draw has a stream of its own."""

    def __init__(self, look: Lookout, seed: int, draw: int) -> None:
        self._look, self._seed, self._draw = look, seed, draw
        self.asked = 0

    def of(self, cluster: Cluster, attempt: Attempt) -> int | None:
        """When one ends by itself: drawn, and not later than its limits let it; None = nothing is known."""
        self.asked += 1
        look, job = self._look, attempt.job
        path = job.consumer
        ran, limit = max(0, look.now - attempt.started), at_limit(cluster, attempt)
        lengths = look.past.longer(path, ran) if attempt.started < look.now else look.past.of(path)[1]
        if lengths:
            chance = Stream(stream_of(self._seed, "forecast", str(self._draw), job.name, str(attempt.index)))
            end = attempt.started + lengths[chance.below(len(lengths))]
        elif look.past.of(path)[1]:
            end = attempt.started + 2 * ran  # longer than any before it: as long again
        else:
            return limit
        return end if limit is None else min(end, limit)


def quantile(instants: Sequence[int | None], percent: int) -> int | None:
    """The instant by which so many hundredths had begun; None = not within the horizon."""
    known = sorted(each for each in instants if each is not None)
    place = max(0, -(-len(instants) * percent // 100) - 1)
    return known[place] if place < len(known) else None


def forecast(look: Lookout, name: str, draws: int = DRAWS, seed: int = 0, horizon: int = HORIZON) -> Document:
    """When the next task of a job will start, as far as can be said; raises InputError: `unknown-job`, `job-runs`."""
    cluster = look.cluster()
    job = cluster.jobs.get(name)
    if job is None or job.is_over:
        what, mend = f"there is no job `{name}` that waits", "`fairhold jobs` shows what waits"
        raise ArgumentError([Fault("unknown-job", what, mend)])
    waiting = job.waiting + len(job.delays or ())
    if not waiting:
        raise none_waits(name)
    answer: Document = {
        "job": name,
        "waiting": waiting,
        "started": job.terms.tasks - waiting,
        "at": format_instant(look.now),
        "p50": None,
        "p90": None,
        "horizon": format_instant(look.now + horizon),
        "draws": 0,
        "begun": 0,
        "seed": seed,
        "tasks": 0,
        "run_times": _run_times(look, cluster),
        "never": cannot_start(cluster, job),
        "assumptions": [],
    }
    answer["tasks"] = sum(row["tasks"] for row in {row["from"]: row for row in answer["run_times"]}.values())
    if answer["never"] is None:
        found = starts(look, (name,), draws, seed, horizon)
        instants = found.of[name]
        for percent in (50, 90):
            instant = quantile(instants, percent)
            answer[f"p{percent}"] = None if instant is None else format_instant(instant)
        answer["draws"], answer["begun"] = found.draws, sum(each is not None for each in instants)
    answer["assumptions"] = list(_assumptions(answer, horizon))
    return answer


def none_waits(job: str) -> InputError:
    """That all tasks of a job have begun."""
    return _refused("job-runs", f"all tasks of job `{job}` have begun", "a forecast says when waiting tasks begin")


def _run_times(look: Lookout, cluster: Cluster) -> list[Document]:
    """From whose finished tasks the run times of each consumer that has jobs are drawn."""
    paths = {job.consumer for job in cluster.jobs.values() if not job.is_over}
    found = []
    for path in sorted(paths):
        source, lengths = look.past.of(path)
        found.append({"consumer": path, "from": source if lengths else None, "tasks": len(lengths)})
    return found


def cannot_start(cluster: Cluster, job: JobRecord) -> Document | None:
    """Why a job cannot start, whatever ends; None = it may."""
    if job.hold is not None:
        return {"code": "held", "text": f"it is held{f': {job.hold}' if job.hold else ''}, until somebody releases it"}
    terms = job.terms
    asked = JobSubmitted(
        f"{job.name}'",
        job.consumer,
        *(terms.resource_group, terms.tasks, job.priority, terms.user, terms.units),
        siting=siting_of(terms.siting),
        unit=terms.unit,
        min_count=terms.min_count,
        preemptible=terms.preemptible,
    )
    try:
        check(Orchestrator(cluster, cycle_max_interval=MAX_INTERVAL), asked)
    except InputError as error:
        return {"code": error.faults[0].code, "text": error.faults[0].what}
    if cluster.paused.get(job.resource_group, (False, False))[0]:
        return {"code": "paused", "text": "grants of its resource group are paused, until somebody resumes them"}
    return None


def _assumptions(answer: Document, horizon: int) -> Iterable[str]:
    """What a forecast takes for granted, in words."""
    yield "nothing more is submitted, cancelled or changed, and no host fails or comes back"
    if any(row["from"] not in {None, row["consumer"]} for row in answer["run_times"]):
        yield f"with fewer than {FEWEST} finished tasks of a consumer, those of the nearest consumer above it count"
    if any(row["from"] is None for row in answer["run_times"]):
        yield "where no task has ended yet, tasks run until their time limits, or for ever without one"
    else:
        yield "run times are drawn at random from ended tasks, and are not longer than the time limits"
    if answer["never"] is None and answer["begun"] < answer["draws"]:
        yield f"what has not begun after {format_duration(horizon)} is not looked at further"
    if 0 < answer["draws"] < DRAWS:
        yield f"only {count(answer['draws'], 'draw')} could be made: more would have taken too long"


def _refused(code: str, what: str, mend: str) -> InputError:
    return InputError([Fault(code, what, mend)])

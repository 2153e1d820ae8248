"""`simulate`: plays a scenario and prints who waited, held, lent and lost how much."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairhold.cli.advance import Advance
from fairhold.cli.files import print_json, print_text
from fairhold.cli.legend import legend
from fairhold.cli.table import table
from fairhold.errors import UsageError, count
from fairhold.lab.comparing import differences
from fairhold.lab.expecting import Expectation, never_run, parse_all
from fairhold.lab.results import Results, expect_folder
from fairhold.lab.runs import Way, play_at_once, play_plan, results_of
from fairhold.lab.scenario import Asked, plan_names, read_scenario
from fairhold.planio.report import listed, shown
from fairhold.runtime.outlet import warn
from fairhold.units import SECOND, format_duration, format_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from fairhold.lab.comparing import Difference
    from fairhold.lab.runs import Run
    from fairhold.lab.scenario import Scenario

Document = dict[str, Any]
MOST_ROWS = 30
"""Consumers that a table shows; all are in the JSON."""
MOST_DIFFERENCES = 20
HOUR = 3_600_000_000


def run_scenario(
    path: Path,
    only: str,
    output: Path | None,
    expected: Sequence[str],
    *,
    as_json: bool,
    processes: int,
    report: bool,
    plots: bool,
    check: bool,
    resume: bool,
    ignores_never_run: bool = False,
) -> int:
    """Play, print, write; 1 where something expected did not come out, else 0."""
    if resume and output is None:
        raise UsageError("--resume goes on with what is in a folder; name it by --output")
    if output is not None:  # before the jobs are read
        expect_folder(output)
    asked = parse_all(expected)
    other = Path(only) if only and is_file_of_plan(path, only) else None
    only = only if other is None else str(other)
    known = () if other is not None or str(path) == "/dev/stdin" else plan_names(path)
    if only and known and only not in known:  # before the jobs are read
        raise _no_plan(only, known)
    scenario = read_scenario(path, other=other, asked=Asked(only, asked))
    names = [only] if only else list(scenario.experiments)
    if only and only not in scenario.experiments:
        raise _no_plan(only, scenario.experiments)
    _tell_findings(scenario)
    expectations = (*scenario.expect, *asked)
    results = None if output is None else Results(output)
    documents = _play(scenario, names, Way(output, check=check, resume=resume), processes)
    outcome = _expectations(expectations, documents, ignores_never_run=ignores_never_run)
    if results is not None:
        _finish(results, documents, path.stem, has_report=report, plots=plots)
    if as_json:
        print_json({"plans": documents, "expected": outcome})
    else:
        _print_begin(scenario, documents)
        _print(documents, outcome)
    is_same = all(each["as_recorded"]["is_same"] for each in documents.values() if "as_recorded" in each)
    return 0 if is_same and all(each["holds"] for each in outcome) else 1


def is_file_of_plan(path: Path, name: str) -> bool:
    """Whether a name is not a plan of a scenario but a plan file."""
    return str(path) != "/dev/stdin" and Path(name).is_file() and name not in plan_names(path)


def _finish(results: Results, documents: dict[str, Document], title: str, *, has_report: bool, plots: bool) -> None:
    """Leave the summaries and the report; without the extra that it needs, the summaries and why."""
    results.finish(documents)
    if has_report or plots:
        try:
            results.report(documents, title, plots=plots)
        except UsageError as error:
            if plots:
                raise
            warn(str(error))


def _no_plan(name: str, known: Iterable[str]) -> UsageError:
    return UsageError(f"the scenario has no plan `{shown(name)}`; use {listed(known)}, or a plan file")


def _play(scenario: Scenario, names: list[str], way: Way, processes: int) -> dict[str, Document]:
    """The summaries by plan."""
    found: dict[str, Document] = {}
    runs = _one_by_one(scenario, names, way) if processes == 1 or len(names) == 1 else None
    try:
        for name, run in runs or _at_once(scenario, names, way, processes):
            found[name] = run.summary
            _tell_run(name, run)
    except (KeyboardInterrupt, OSError):
        if way.folder is not None:
            _tell_unfinished(scenario, [name for name in names if name not in found], way)
        raise
    return found


def _one_by_one(scenario: Scenario, names: list[str], way: Way) -> Iterator[tuple[str, Run]]:
    """A terminal shows how far each is."""
    for name in names:
        advance = Advance()
        try:
            run = play_plan(scenario, way, name, _shown_by(advance, name))
        finally:
            advance.close()
        yield name, run


def _at_once(scenario: Scenario, names: list[str], way: Way, processes: int) -> Iterator[tuple[str, Run]]:
    """A terminal shows how many are over."""
    advance = Advance()
    advance.show(f"0 of {count(len(names), 'plan')}", 0, len(names))
    try:
        for done, (name, run) in enumerate(play_at_once(scenario, way, names, processes), 1):
            advance.show(f"{done:,} of {count(len(names), 'plan')}", done, len(names))
            if run.is_kept or run.kept or run.mended:
                advance.close()  # something is told of it
            yield name, run
    finally:
        advance.close()


def _tell_run(name: str, run: Run) -> None:
    """What was there of an earlier run."""
    if run.is_kept:
        warn(f"`{shown(name)}` was played before: its results are kept")
    elif run.kept:
        parts = count(run.kept, "part")
        warn(f"`{shown(name)}` was begun before: {parts} of its event log came out the same, and stayed")
    for number in run.mended:
        warn(f"`{shown(name)}`: part {number} of its event log was damaged and is written again")


def _tell_unfinished(scenario: Scenario, names: list[str], way: Way) -> None:
    """What a folder holds when a run did not come to its end."""
    for name in names:
        if results_of(scenario, way, name).kept() is None:
            warn(
                f"`{shown(name)}` was not finished: {way.folder} has only complete parts of event logs; "
                "--resume continues from them, and keeps finished plans"
            )


def _shown_by(advance: Advance, name: str) -> Callable[[int, int, int], None]:
    """What shows how far it is. Of the work of a job half is to begin it, and half to end it."""

    def show(come: int, over: int, jobs: int) -> None:
        words = f"{name}: {come:,} of {count(jobs, 'job')} come, {over:,} over"
        advance.show(words, come + over, 2 * jobs)

    return show


def _tell_findings(scenario: Scenario) -> None:
    """What was left out of the workload."""
    for fault in scenario.findings.faults():
        warn(str(fault))


def _expectations(
    asked: Sequence[Expectation], documents: Mapping[str, Document], *, ignores_never_run: bool
) -> list[Document]:
    """What came of each. Jobs that can never run are not measured: unless they are ignored, none holds of them."""
    return [
        {
            "plan": name,
            "expected": each.text,
            "resource_group": shared["resource_group"],
            "resource": shared["resource"],
            "found": each.found(shared),
            "found_text": each.words(each.found(shared)),
            "never_run": never,
            "is_empty": each.is_empty(shared),
            "holds": each.holds(shared) and (ignores_never_run or not never),
        }
        for name, document in documents.items()
        for shared in document["shared"]
        for each in asked
        for never in [never_run(each.path, document)]
    ]


def _print_begin(scenario: Scenario, documents: Mapping[str, Document]) -> None:
    """What was cut."""
    warm_up = scenario.begin - scenario.experiments[next(iter(documents))].start
    if warm_up:
        begin = format_instant(scenario.begin // SECOND * SECOND)
        print_text(f"measured from {begin} on: the warm-up of {format_duration(warm_up)} before it is not counted")


def _print(documents: Mapping[str, Document], outcome: Sequence[Document]) -> None:
    for name, document in documents.items():
        if len(documents) > 1:
            print_text(f"# {name}")
        for shared in document["shared"]:
            _print_shared(shared)
        for never in document["never_run"]:
            jobs = "1 job" if never["jobs"] == 1 else f"{never['jobs']} jobs"
            print_text(f"{jobs} of {never['consumer']} can never run, such as {never['first']}: {never['what']}")
        _print_record(document)
    print_text(legend(_HEAD))
    names = list(documents)
    for other in names[1:]:
        print_text(f"# {other} instead of {names[0]}: differences, the largest first")
        first = documents[names[0]]
        print_text(_difference_table(differences(first, documents[other]), is_of_several=len(first["shared"]) > 1))
    for each in _told_once(outcome):
        word = f"{'holds' if each['holds'] else 'does not hold'}{each['of']}"
        jobs = "1 job of it" if each["never_run"] == 1 else f"{each['never_run']:,} jobs of it"
        never = f", and {jobs} can never run" if each["never_run"] else ""
        nothing = ", but nothing was measured" if each["is_empty"] else ""
        print_text(f"{each['plan']}: {each['expected']} {word}: {each['found_text']}{nothing}{never}")


def _told_once(outcome: Sequence[Document]) -> Iterator[Document]:
    """What came of each expectation, once where it is the same of all that is shared, else `of` what it came so."""
    rows: dict[tuple[str, str], list[Document]] = {}
    for each in outcome:
        rows.setdefault((each["plan"], each["expected"]), []).append(each)
    for mine in rows.values():
        if len({(each["holds"], each["found_text"], each["is_empty"]) for each in mine}) == 1:
            yield mine[0] | {"of": ""}
        else:
            yield from (each | {"of": f" of {_shared_name(each)}"} for each in mine)


def _shared_name(shared: Document) -> str:
    """What is shared: a resource group, of resources the resource."""
    return str(shared["resource_group"] or shared["resource"])


def _print_record(document: Document) -> None:
    """Whether a record came out as it was; under another plan, what of it could not be played."""
    twin, otherwise = document.get("as_recorded"), document.get("otherwise")
    if twin is not None and twin["is_same"]:
        print_text(f"as recorded: all {twin['lines']:,} changes are the same")
    elif twin is not None:
        print_text(f"not as recorded after {twin['lines']:,} changes that are the same:")
        print_text(f"  recorded: {twin['recorded'] or 'nothing more'}\n  played:   {twin['played'] or 'nothing more'}")
    if otherwise is not None and otherwise["guessed"]:
        tasks = "1 task was" if otherwise["guessed"] == 1 else f"{otherwise['guessed']:,} tasks were"
        print_text(f"{tasks} not finished in the record: assumed to run as long as is usual for the consumer")
    if otherwise is not None and otherwise["passed_over"]:
        count = otherwise["passed_over"]
        wishes = (
            "1 wish or report of the record means" if count == 1 else f"{count:,} wishes or reports of the record mean"
        )
        print_text(f"{wishes} nothing under this plan")


_HEAD = ("consumer", "tasks", "wait mean", "p95", "max", "used h", "borrowed h", "deficit h", "longest", "lost h")


def _print_shared(shared: Document) -> None:
    taken, again = (sum(units for *_, units in shared[key]) for key in ("taken", "preempted_again"))
    print_text(
        f"{_shared_name(shared)}: {shared['utilisation'] / 10_000:.1f} % used, fairness "
        f"{shared['fairness'] / 1_000_000:.3f}, {count(taken, 'unit')} preempted, {again} of them preempted again"
    )
    consumers = shared["consumers"]
    busy = [path for path in consumers if consumers[path]["demand"] or path == "/"]
    base = shared["base"]
    shown_ones = sorted(sorted(busy, key=lambda path: -consumers[path]["demand"])[:MOST_ROWS])
    print_text(table(_HEAD, [_row(path, consumers[path], base) for path in shown_ones]))
    if len(busy) > len(shown_ones):
        print_text(f"{len(busy) - len(shown_ones)} more consumers with less demand: --json has all")


def _row(path: str, one: Document, base: int) -> tuple[object, ...]:
    wait = one["wait"]
    return (
        path,
        one["submitted"],
        *(_time(wait[name]) for name in ("mean", "p95", "max")),
        *(_hours(one[name] / base) for name in ("use", "borrowed", "deficit")),
        _time(one["longest"]),
        _hours(one["lost"] / base),
    )


def _time(micros: int) -> str:
    """A duration to the second, or shorter ones to the millisecond."""
    unit = 1_000_000 if micros >= 10_000_000 else 1_000
    return format_duration(micros // unit * unit)


def _hours(amount: float) -> str:
    return f"{amount / HOUR:,.1f}"


def _difference_table(found: Sequence[Difference], *, is_of_several: bool) -> str:
    if not found:
        return "nothing"
    rows: dict[tuple[str, ...], None] = {}
    for each in found:
        told = each.consumer, each.what, number_text(each.what, each.before), number_text(each.what, each.after)
        of = each.resource_group or ("-" if each.what.startswith("wait") else each.resource)
        rows[(*told, of)] = None  # how long one waits is of no one resource
    shown_ones = list(rows)[:MOST_DIFFERENCES]
    if is_of_several:
        return table(("consumer", "what", "before", "after", "of"), shown_ones)
    return table(("consumer", "what", "before", "after"), [row[:-1] for row in shown_ones])


def number_text(what: str, value: int) -> str:
    """A number of a consumer as people read it."""
    if what.startswith("wait") or what == "longest":
        return _time(value)
    return f"{_hours(value)} h" if what in {"deficit", "lost", "use"} else str(value)

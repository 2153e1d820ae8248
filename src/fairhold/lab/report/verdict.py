"""What a run says about a plan, in plain words: whether it is good, and for whom it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.lab.report.amounts import HOUR, Unit, duration, number, percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    Document = Mapping[str, Any]

GOOD, FAIR, BAD, PLAIN = "good", "fair", "bad", "plain"
SOON = 60_000_000
"""Microseconds that one may wait for what is one's own even where those who borrow leave at once."""
AT_ONCE = 2_000_000
"""Microseconds: two of the longest intervals between cycles."""
SLOW = 10_000
"""Thousandths: a consumer whose tasks take so many times as long as they run is not well served."""
NAMED = 5
"""Consumers that are named in a list."""


class Line(NamedTuple):
    """One sentence or two; how: good, fair, bad, or plain where it is no matter of good and bad."""

    how: str
    text: str


class Sufferer(NamedTuple):
    """Somebody for whom the plan is not good; weight: unit-microseconds of its deficit and of lost work."""

    path: str
    why: str
    weight: int


def first_level(shared: Document) -> dict[str, Document]:
    """Those right below the root, by path."""
    return {path: shared["consumers"][path] for path in sorted(shared["consumers"]) if _is_first(path)}


def deficit(shared: Document) -> int:
    """The deficit of first-level consumers: owned, wanted and not allocated, in unit-microseconds."""
    return sum(each["deficit"] for each in first_level(shared).values())


def preempted_again(shared: Document) -> int:
    """Reclaims of units that had been reclaimed the other way round shortly before."""
    return sum(count for _, _, count in shared["preempted_again"])


def useful(shared: Document) -> int:
    """What could have been used: wanted and there, piece by piece."""
    wanted = shared["consumers"]["/"]["demand_in"]
    return sum(min(one, other) for one, other in zip(wanted, shared["capacity_in"], strict=True))


def bearable(shared: Document) -> int:
    """Microseconds that one may wait for one's own: as long as the slowest to leave took, a minute at least."""
    return max(SOON, int(shared["consumers"]["/"]["release"]["max"]) + SOON // 6)


def kept_waiting(shared: Document, path: str) -> int:
    """Microseconds for which a consumer waited at most for what is its own and what waits could use.

    Units that are due, but too few for what waits or on no host that is up, are kept from nobody. Where a parent owns
    more than its leaves together, no leaf tells for whom that is: then units that are due count.
    """
    consumers = shared["consumers"]
    below = [each for each in consumers if each.startswith(f"{path}/")]
    parents = {each.rpartition("/")[0] for each in below}
    if below and sum(consumers[each]["owned"] for each in below if each not in parents) < consumers[path]["owned"]:
        return int(consumers[path]["longest"])
    return int(consumers[path]["starvation"]["max"])


def verdict(document: Document, shared: Document, unit: Unit) -> list[Line]:
    """The lines of one plan, about one resource."""
    lines = [
        _own(shared, unit),
        _use(shared, unit),
        _lent(shared),
        _lost(shared, unit),
        _preempted_again(shared),
        _waits(shared),
        *_left(document, shared, unit),
    ]
    return [line for line in lines if line.text]


def sufferers(shared: Document, unit: Unit) -> list[Sufferer]:
    """First-level consumers for whom the plan is not good, those with the largest deficit and most lost work first."""
    found, bound = [], bearable(shared)
    for path, each in first_level(shared).items():
        why, own = [], each["owned"]
        kept = kept_waiting(shared, path)
        if kept > bound:
            part = percent(each["deficit"], each["own"] + each["deficit"])
            why.append(f"waited {duration(kept)} for what it owns (deficit {unit.hours(each['deficit'])}, {part})")
        if each["lost"] * 50 > each["use"]:
            why.append(f"lost {unit.hours(each['lost'])} of work, {percent(each['lost'], each['use'])} of what it used")
        if each["slowdown"]["p95"] > SLOW:
            slow = number(each["slowdown"]["p95"] / 1000)
            wanted = (
                f" (its demand was {number(each['demand'] / own)} times what it owns)"
                if each["demand"] > own > 0
                else ""
            )
            why.append(f"p95 of its slowdown is {slow}{wanted}")
        if not each["finished"] and each["left_waiting"]:
            why.append("finished nothing")
        if why:
            found.append(Sufferer(path, "; ".join(why), each["deficit"] + each["lost"]))
    return sorted(found, key=lambda each: (-each.weight, each.path))


def _own(shared: Document, unit: Unit) -> Line:
    all_of = {path: each for path, each in sorted(shared["consumers"].items()) if path != "/" and each["owned"]}
    if not all_of:
        return Line(PLAIN, "None of it is owned.")
    kept = {each: kept_waiting(shared, each) for each in all_of}
    path = min(kept, key=lambda each: (-kept[each], each))
    longest = kept[path]
    if not longest:
        return Line(GOOD, "Nobody ever waited for what they own.")
    bound = bearable(shared)
    if longest <= bound:
        return Line(
            GOOD,
            f"Owners got what they own within {duration(longest)} ({path} waited longest).",
        )
    late = sum(each > bound for each in kept.values())
    others = f", and {late - 1} more longer than {duration(bound)}" if late > 1 else ""
    lacking, own = deficit(shared), sum(each["own"] for each in first_level(shared).values())
    text = f"{path} waited up to {duration(longest)} for what it owns{others}. The deficit of all is"
    text += f" {unit.hours(lacking)}: {percent(lacking, own + lacking)} of what owners wanted of their own."
    return Line(FAIR if lacking * 100 <= own + lacking else BAD, text)


def _use(shared: Document, unit: Unit) -> Line:
    could, used, room = useful(shared), shared["used"], shared["capacity"]
    if not room:
        return Line(BAD, "There was no capacity.")
    length = sum(1 for each in shared["capacity_in"] if each)
    how = GOOD if used * 100 >= could * 95 else FAIR if used * 100 >= could * 80 else BAD
    of_wanted = f"; of the capacity that was wanted, {percent(used, could)}" if could else ""
    text = f"{percent(used, room)} of the capacity was used ({unit.hours(used)}){of_wanted}."
    return Line(how if length and could else PLAIN, text)


def _lent(shared: Document) -> Line:
    borrowed = sum(each["borrowed"] for each in first_level(shared).values())
    if not borrowed:
        return Line(PLAIN, "Nobody used more than what they own.")
    return Line(
        PLAIN, f"{percent(borrowed, shared['used'])} of all that was used was borrowed: allocated beyond what is owned."
    )


def _lost(shared: Document, unit: Unit) -> Line:
    top, used = first_level(shared), shared["used"]
    lost = sum(each["lost"] for each in top.values())
    if not lost:
        return Line(GOOD, "No work was lost.")
    most = min(top, key=lambda path: (-top[path]["lost"], path))
    how = GOOD if lost * 200 <= used else FAIR if lost * 33 <= used else BAD
    text = f"{unit.hours(lost)} of work were lost, {percent(lost, used)} of what was used"
    return Line(how, f"{text}; most of it by {most} ({unit.hours(top[most]['lost'])}).")


def _preempted_again(shared: Document) -> Line:
    notified, again = shared["consumers"]["/"]["notified"], preempted_again(shared)
    if not notified:
        return Line(PLAIN, "Nothing was preempted.")
    how = GOOD if not again else FAIR if again * 20 <= notified else BAD
    back = f"{again:,} of them were preempted again within ten minutes" if again else "none was preempted again"
    return Line(how, f"{notified:,} {_attempts(notified)} notified to give units back; {back}.")


def _attempts(count: int) -> str:
    return "attempt was" if count == 1 else "attempts were"


def _jobs(count: int) -> str:
    return "1 job" if count == 1 else f"{count:,} jobs"


def _waits(shared: Document) -> Line:
    wait = shared["consumers"]["/"]["wait"]
    if not wait["count"]:
        return Line(PLAIN, "No task began.")
    if wait["max"] < AT_ONCE:
        return Line(GOOD, f"All of {wait['count']:,} tasks began at once.")
    text = f"Of {wait['count']:,} tasks, p50 of the wait is {duration(wait['p50'])}, p95"
    return Line(PLAIN, f"{text} {duration(wait['p95'])}, the longest {duration(wait['max'])}.")


def _left(document: Document, shared: Document, unit: Unit) -> list[Line]:
    top, never = shared["consumers"]["/"], document["never_run"]
    found = []
    if top["left_waiting"]:
        what = f"{number(unit.amount(top['left_waiting']))} {unit.many}"
        found.append(Line(FAIR, f"{what} were wanted and not held when the run ended."))
    if top["failed"]:
        found.append(Line(FAIR, f"{top['failed']:,} tasks failed."))
    for each in sorted(never, key=lambda row: (-row["jobs"], row["consumer"], row["code"]))[:NAMED]:
        text = (
            f"{_jobs(each['jobs'])} of {each['consumer']} can never run: {each['what']} (the first is {each['first']})."
        )
        found.append(Line(BAD, text))
    if len(never) > NAMED:
        found.append(Line(BAD, f"{len(never) - NAMED} more kinds of jobs can never run."))
    return found


def mean_amount(value: int, document: Document, unit: Unit) -> str:
    """What is held on average, of unit-microseconds."""
    return number(value / max(1, document["end"] - document["begin"]) / unit.base)


def hours(value: int, unit: Unit) -> str:
    """Unit-hours without their word."""
    return number(value / (HOUR * unit.base))


def _is_first(path: str) -> bool:
    return path != "/" and path.count("/") == 1

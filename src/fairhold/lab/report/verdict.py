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
    """Somebody for whom the plan is not good; weight: unit-microseconds that he missed or lost."""

    path: str
    why: str
    weight: int


def first_level(shared: Document) -> dict[str, Document]:
    """Those right below the root, by path."""
    return {path: shared["consumers"][path] for path in sorted(shared["consumers"]) if _is_first(path)}


def missing(shared: Document) -> int:
    """What was first-level consumers' own, wanted and missing, in unit-microseconds."""
    return sum(each["due"] for each in first_level(shared).values())


def bounced(shared: Document) -> int:
    """Reclaims that went to and fro."""
    return sum(count for _, _, count in shared["bounces"])


def useful(shared: Document) -> int:
    """What could have been used: wanted and there, piece by piece."""
    wanted = shared["consumers"]["/"]["wanted_in"]
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
    if (
        below
        and sum(consumers[each]["entitled"] for each in below if each not in parents) < consumers[path]["entitled"]
    ):
        return int(consumers[path]["longest"])
    return int(consumers[path]["withheld"]["max"])


def verdict(document: Document, shared: Document, unit: Unit) -> list[Line]:
    """The lines of one plan, about one resource."""
    lines = [
        _own(shared, unit),
        _use(shared, unit),
        _lent(shared),
        _lost(shared, unit),
        _to_and_fro(shared),
        _waits(shared),
        *_left(document, shared, unit),
    ]
    return [line for line in lines if line.text]


def sufferers(shared: Document, unit: Unit) -> list[Sufferer]:
    """First-level consumers for whom the plan is not good, those who missed or lost most first."""
    found, bound = [], bearable(shared)
    for path, each in first_level(shared).items():
        why, own = [], each["entitled"]
        kept = kept_waiting(shared, path)
        if kept > bound:
            part = percent(each["due"], each["own"] + each["due"])
            why.append(f"missed some of its own for {duration(kept)} on end ({unit.hours(each['due'])}, {part})")
        if each["lost"] * 50 > each["use"]:
            why.append(f"lost {unit.hours(each['lost'])} of work, {percent(each['lost'], each['use'])} of what it used")
        if each["slowdown"]["p95"] > SLOW:
            slow = number(each["slowdown"]["p95"] / 1000)
            wanted = (
                f" (it wanted {number(each['demand'] / own)} times what is its own)" if each["demand"] > own > 0 else ""
            )
            why.append(f"one task in twenty took {slow} times as long as it ran, or longer{wanted}")
        if not each["finished"] and each["left_waiting"]:
            why.append("finished nothing")
        if why:
            found.append(Sufferer(path, "; ".join(why), each["due"] + each["lost"]))
    return sorted(found, key=lambda each: (-each.weight, each.path))


def _own(shared: Document, unit: Unit) -> Line:
    all_of = {path: each for path, each in sorted(shared["consumers"].items()) if path != "/" and each["entitled"]}
    if not all_of:
        return Line(PLAIN, "Nothing of it is anybody's own.")
    kept = {each: kept_waiting(shared, each) for each in all_of}
    path = min(kept, key=lambda each: (-kept[each], each))
    longest = kept[path]
    if not longest:
        return Line(GOOD, "Nobody ever waited for what they own.")
    bound = bearable(shared)
    if longest <= bound:
        return Line(
            GOOD,
            f"Whoever could use more of what they own had it within {duration(longest)} ({path} waited longest).",
        )
    late = sum(each > bound for each in kept.values())
    others = f", and {late - 1} more longer than {duration(bound)}" if late > 1 else ""
    due, own = missing(shared), sum(each["own"] for each in first_level(shared).values())
    text = (
        f"{path} missed some of what is its own for {duration(longest)} on end{others}. In all {unit.hours(due)} were"
    )
    text += f" owned, wanted and missing: {percent(due, own + due)} of what owners wanted of their own."
    return Line(FAIR if due * 100 <= own + due else BAD, text)


def _use(shared: Document, unit: Unit) -> Line:
    could, used, room = useful(shared), shared["used"], shared["capacity"]
    if not room:
        return Line(BAD, "There was nothing to use.")
    length = sum(1 for each in shared["capacity_in"] if each)
    how = GOOD if used * 100 >= could * 95 else FAIR if used * 100 >= could * 80 else BAD
    text = f"{percent(used, room)} of what was there was used ({unit.hours(used)})"
    return Line(how if length else PLAIN, f"{text}; of what was there and wanted, {percent(used, could)}.")


def _lent(shared: Document) -> Line:
    borrowed = sum(each["borrowed"] for each in first_level(shared).values())
    if not borrowed:
        return Line(PLAIN, "Nobody used more than what they own.")
    return Line(
        PLAIN, f"{percent(borrowed, shared['used'])} of all that was used was borrowed: beyond what is the user's own."
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


def _to_and_fro(shared: Document) -> Line:
    told, again = shared["consumers"]["/"]["told"], bounced(shared)
    if not told:
        return Line(PLAIN, "Nothing was taken back.")
    how = GOOD if not again else FAIR if again * 20 <= told else BAD
    back = f"{again:,} of that went to and fro within ten minutes" if again else "none of it went to and fro"
    return Line(how, f"{told:,} {_attempts(told)} told to give units back; {back}.")


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
    text = f"Of {wait['count']:,} tasks, half began within {duration(wait['p50'])}, 95 of 100 within"
    return Line(PLAIN, f"{text} {duration(wait['p95'])}, the last within {duration(wait['max'])}.")


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

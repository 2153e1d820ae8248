"""What must come out of a run: `wait.p95(/Trading) < 60s`, so that a change of a plan can be gated."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairhold.errors import Fault, InputError
from fairhold.lab.comparing import in_units
from fairhold.lab.places import nearest
from fairhold.planio.report import listed, shown
from fairhold.units import format_duration, parse_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from fairhold.model.plan import Plan

_SHAPE = re.compile(r"\s*([a-z_]+)(?:\.([a-z0-9]+))?\s*\(\s*([^()\s]+)\s*\)\s*(<=|>=|<|>|==)\s*(\S+)\s*")
_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
}
SPREADS = ("wait", "job_wait", "starvation", "slowdown", "release")
TIMES = ("wait", "job_wait", "starvation", "release", "longest")
COUNTS = ("submitted", "finished", "failed", "notified", "withdrawn", "stopped", "left_waiting")
SUMS = ("use", "demand", "borrowed", "unused", "deficit", "lost")
PARTS = ("utilisation", "fairness")
RENAMED = {"due": "deficit", "told": "notified", "withheld": "starvation"}
"""Numbers that had another name before."""
STATISTICS = ("count", "mean", "p50", "p90", "p95", "p99", "max")
_EXAMPLE = "write it as `wait.p95(/Trading) < 60s`"


@dataclass(frozen=True, slots=True)
class Expectation:
    """One comparison.

    text   : as written
    what, statistic, path : which number; statistic: of a spread, empty = the number itself
    sign, bound : what it is compared with, in microseconds, products of them and slots or declared units, or parts
    """

    text: str
    what: str
    statistic: str
    path: str
    sign: str
    bound: int

    def found(self, shared: Mapping[str, Any]) -> int:
        """The number that came out."""
        if self.what in PARTS:
            return int(shared[self.what])
        value = shared["consumers"][self.path][self.what]
        return int(value[self.statistic]) if self.statistic else in_units(shared, self.what, value)

    def is_empty(self, shared: Mapping[str, Any]) -> bool:
        """Whether it is of a spread of nothing: its number says nothing then, and is 0."""
        return bool(self.statistic) and not shared["consumers"][self.path][self.what]["count"]

    @property
    def number(self) -> str:
        """Which number it is, without the bound."""
        return f"{self.what}{f'.{self.statistic}' if self.statistic else ''}({self.path})"

    def is_kept(self, number: int) -> bool:
        """Whether a number is as expected."""
        return _COMPARE[self.sign](number, self.bound)

    def holds(self, shared: Mapping[str, Any]) -> bool:
        """Whether it is so."""
        return self.is_kept(self.found(shared))

    def words(self, number: int) -> str:
        """A number in its units."""
        if self.statistic == "count":
            return str(number)
        if self.what in TIMES:
            return format_duration(number)
        if self.what in SUMS:
            return f"{number / 3_600_000_000:.1f}h"
        if self.what in PARTS:
            return f"{number / 10_000:.2f}%"
        return f"{number / 1000:.3f}" if self.what == "slowdown" else str(number)


def parse_expectation(text: str) -> Expectation:
    """Read one; raises InputError."""
    match = _SHAPE.fullmatch(text)
    if match is None:
        raise _fault(f"`{shown(text)}` is not an expectation", _EXAMPLE)
    what, statistic, path, sign, bound = match.groups()
    known = (*SPREADS, "longest", *COUNTS, *SUMS, *PARTS)
    if what in RENAMED:
        raise _fault(
            f"`{what}` is called `{RENAMED[what]}` now", f"write `{text.strip().replace(what, RENAMED[what], 1)}`"
        )
    if what not in known:
        raise _fault(f"there is no measure `{shown(what)}`", f"use {listed(known)}")
    if (what in SPREADS) != bool(statistic) or (statistic and statistic not in STATISTICS):
        if what not in SPREADS:
            raise _fault(f"`{what}` has one value", f"write `{what}({path})`")
        raise _fault(f"`{what}` has several values", f"write one of {listed(f'{what}.{each}' for each in STATISTICS)}")
    if what in PARTS and path != "/":
        raise _fault(f"`{what}` is of the whole cluster", f"write `{what}(/)`")
    number = _bound(what, statistic, bound)
    if number is None:
        raise _fault(f"`{shown(bound)}` is not a bound for `{what}`", _MENDS.get(what, "write a whole number"))
    return Expectation(text.strip(), what, statistic or "", path, sign, number)


def parse_all(texts: Iterable[str]) -> tuple[Expectation, ...]:
    """Read several; raises InputError with what is wrong in any."""
    found: list[Expectation] = []
    faults: list[Fault] = []
    for text in texts:
        try:
            found.append(parse_expectation(text))
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    return tuple(found)


def unknown_consumer(expectation: Expectation, plans: Mapping[str, Plan], *, by_all: bool = True) -> Fault | None:
    """What is wrong where plans that are to be measured by an expectation have no such consumer; without a place.

    plans  : by name
    by_all : whether all of them are, else it is enough that one has it
    """
    path = expectation.path
    without = [name for name, plan in plans.items() if path != "/" and path not in plan.tree.rows]
    if not without or (len(without) < len(plans) and not by_all):
        return None
    whose = "" if len(without) == len(plans) else f" in {listed(without)}"
    what = f"`{shown(expectation.text)}`: there is no consumer `{shown(path)}`{whose}"
    return Fault("unknown-consumer", what, nearest(path, plans[without[0]].tree.paths, "consumer"))


def never_run(path: str, document: Mapping[str, Any]) -> int:
    """How many jobs of a consumer, or below it, can never run: what is measured knows nothing of them.

    document : the summary of a run
    """
    below = path.rstrip("/") + "/"
    return sum(
        each["jobs"] for each in document["never_run"] if each["consumer"] == path or each["consumer"].startswith(below)
    )


def _bound(what: str, statistic: str | None, text: str) -> int | None:
    if statistic == "count":
        return int(text) if text.isascii() and text.isdigit() else None
    if what in TIMES:
        return 0 if text == "0" else parse_duration(text)
    if what in PARTS and text.strip("0") and not text.endswith("%"):
        return None  # 0.9 could be meant as a part of 1
    scale = {"slowdown": 1000} | dict.fromkeys(SUMS, 3_600_000_000) | dict.fromkeys(PARTS, 10_000)
    digits = text.removesuffix("%") if what in PARTS else text.removesuffix("h") if what in SUMS else text
    match = re.fullmatch(r"([0-9]{1,12})(?:\.([0-9]{1,9}))?", digits)
    if match is None:
        return None
    fraction = match[2] or ""
    number, rest = divmod(int(match[1] + fraction) * scale.get(what, 1), 10 ** len(fraction))
    return None if rest else number


_MENDS = (
    dict.fromkeys(TIMES, "write a duration such as `60s`")
    | dict.fromkeys(SUMS, "write unit-hours such as `12h`")
    | dict.fromkeys(PARTS, "write a part such as `95%`")
    | {"slowdown": "write a number such as `1.5`"}
)


def _fault(what: str, mend: str) -> InputError:
    return InputError([Fault("expectation", what, mend)])

"""Numbers of a summary in the units of people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    Document = Mapping[str, Any]

HOUR = 3_600_000_000
_SIZES = (("d", 24 * HOUR), ("h", HOUR), ("min", 60_000_000), ("s", 1_000_000), ("ms", 1_000))


def duration(micros: int) -> str:
    """The two largest parts of a duration, rounded down: `3 h 20 min`, `12 s`, `0 s`."""
    for at, (name, size) in enumerate(_SIZES):
        if micros >= size:
            rest = micros % size
            under = _SIZES[at + 1] if at < 3 else None
            more = f" {rest // under[1]} {under[0]}" if under and rest >= under[1] else ""
            return f"{micros // size} {name}{more}"
    return "0 s"


def number(value: float) -> str:
    """Three digits that count, two behind the point at most, thousands apart: `12,345`, `1.23`, `0`."""
    if 0 < value < 0.005:
        return "< 0.01"
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if digits else text


def percent(one: int, whole: int) -> str:
    """One number in hundredths of another."""
    if not whole:
        return ""
    value = 100 * one / whole
    return "< 0.1 %" if 0 < value < 0.1 else f"{value:.1f} %".replace(".0 %", " %")


def times(thousandths: int) -> str:
    """How many times, of thousandths."""
    return f"{number(thousandths / 1000)} \u00d7"


class Unit(NamedTuple):
    """What a resource is counted in.

    one  : a word for it, as `slot` or `GiB of memory`
    base : base units of one
    """

    one: str
    base: int

    def amount(self, value: float) -> float:
        """Declared units of base units."""
        return value / self.base

    def hours(self, value: float) -> str:
        """`12.5 slot-hours` of unit-microseconds."""
        return f"{number(value / (HOUR * self.base))} {self.hour}"

    @property
    def hour(self) -> str:
        """The word for one of them over an hour: `slot-hours`."""
        first, _, rest = self.one.partition(" ")
        return f"{first}-hours {rest}".rstrip()

    @property
    def many(self) -> str:
        """The word for several: `slots`."""
        return "slots" if self.one == "slot" else self.one


def unit_of(shared: Document) -> Unit:
    """That of a resource in a summary."""
    if shared["resource"] == "slots":
        return Unit("slot", 1)
    return Unit(f"{shared['unit']} of {shared['resource']}" if shared["unit"] else shared["resource"], shared["base"])


def key_of(shared: Document) -> tuple[str, str]:
    """Which resource of which group it is."""
    return shared["resource_group"], shared["resource"]


def title_of(shared: Document) -> str:
    """The same for people; what several groups share by vectors has no group."""
    group = shared["resource_group"]
    return f"{shared['resource']} of {group}" if group else shared["resource"]


def part_of(document: Document, key: tuple[str, str]) -> Document | None:
    """The resource of a summary that has this key."""
    return next((each for each in document["shared"] if key_of(each) == key), None)

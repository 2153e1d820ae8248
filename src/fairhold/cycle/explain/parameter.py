"""One value of the plan or the state that could be another: what is tried for it, and the files with it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd
from typing import TYPE_CHECKING, Any

from fairhold.model.plan import ConsumerSettings
from fairhold.model.siting import PLACES
from fairhold.units import SECOND, UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from fairhold.model.plan import Plan
    from fairhold.model.state import Request, State

Value = int | float | str | bool | tuple[str, ...] | None
DENSE = 64
"""Steps on either side of a number that are tried one by one; beyond them each is twice as far as the one before."""

_SEVERAL = (2, 3, 4, 5, 6, 7, 8, 16, 32)
"""How many hosts are brought up together, one after the other."""


@dataclass(frozen=True, slots=True)
class Change:
    """One value of the plan or the state that is otherwise.

    what     : its key there; `amount` for a resource of a host or of a request's unit, `hosts` for how many there are
    old, new : as files write them; None = not stated
    consumer, host, request, resource, resource_group : whose it is, as far as it is theirs; `/` is the group
    lender   : the other side of a `loan`, what the lists of both allow one consumer to use of another's
    """

    what: str
    old: Any
    new: Any
    consumer: str = ""
    host: str = ""
    request: str = ""
    resource: str = ""
    resource_group: str = ""
    lender: str = ""

    def document(self) -> dict[str, Any]:
        """The change as data; who has nothing to do with it is left out."""
        found: dict[str, Any] = {"what": self.what, "old": self.old, "new": self.new}
        names = ("consumer", "host", "request", "resource", "resource_group", "lender")
        return found | {name: getattr(self, name) for name in names if getattr(self, name)}


@dataclass(frozen=True, slots=True)
class Files:
    """What a plan file and a state file say."""

    plan: Plan
    state: State


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    """A value that could be another.

    change : whose it is, with `old` as it is now; `new` does not count
    old    : as the model has it
    values : those that are tried, the nearest first; all that a file may say and that could make a difference
    put    : the files with another value, exactly as if they were written so
    told   : a value as files write it
    step   : between two numbers that are tried of a range; 0 = no others than `values` could make a difference
    """

    change: Change
    old: Any
    values: tuple[Any, ...]
    put: Callable[[Files, Any], Files]
    told: Callable[[Any], Value]
    step: int = 0

    @property
    def key(self) -> tuple[str, ...]:
        """By what it is known among all of them."""
        of = self.change
        return of.what, of.consumer, of.host, of.request, of.resource, of.resource_group

    @property
    def kind(self) -> tuple[str, ...]:
        """What it has in common with the same value of others."""
        of = self.change
        return of.what, "host" if of.host else "request" if of.request else "consumer" if of.consumer else ""

    def becomes(self, value: Any) -> Change:  # noqa: ANN401 - of any type
        """The change to a value."""
        return replace(self.change, new=self.told(value))

    def nearer(self, value: Any) -> Iterator[Any]:  # noqa: ANN401 - of any type
        """Values that are tried and change less than another one, the nearest first."""
        for other in self.values:
            if other == value:
                return
            if not self.step or abs(other - self.old) < abs(value - self.old):
                yield other

    def between(self, value: int) -> range:
        """Numbers that are not among `values`, between the next one nearer on the same side and this one."""
        if not self.step:
            return range(0)
        way = 1 if value > self.old else -1
        side = [each for each in self.values if (each - self.old) * way > 0 and (value - each) * way > 0]
        if self.old < UNLIMITED:
            side.append(self.old)
        if value >= UNLIMITED or not side:
            return range(0)
        last = max(side, key=lambda each: (each - self.old) * way)
        return range(last + way * self.step, value, way * self.step)

    def gaps(self) -> list[range]:
        """Numbers of a long range that are not among `values`, the nearest first."""
        numbers = [each for each in self.values if isinstance(each, int) and each < UNLIMITED] if self.step else []
        start = self.old if not numbers or self.old < UNLIMITED else max(numbers) + self.step
        if all(abs(each - start) <= DENSE * self.step for each in numbers):
            return []
        return [gap for each in numbers if (gap := self.between(each))]


Setting = tuple[Parameter, Any]
"""A parameter and the value that it is to have."""
Settings = tuple[Setting, ...]


def put_all(files: Files, settings: Iterable[Setting]) -> Files:
    """The files with some other values."""
    for parameter, value in settings:
        files = parameter.put(files, value)
    return files


def around(old: int, low: int, high: int, step: int = 1, *, is_bound: bool = False) -> tuple[int, ...]:
    """Whole steps away from a number, the nearest first and of two as near the larger, from `low` to `high`.

    is_bound : UNLIMITED may be written, too, and means as much as there is; it may be what is written now
    """
    found: list[int] = []
    start = high + step if old >= UNLIMITED else old
    for way, end in ((1, high), (-1, low)):
        most, away = way * (end - start) // step, 1
        while away <= most:
            found.append(start + way * away * step)
            away = away + 1 if away < DENSE else min(2 * away, most) if away < most else most + 1
    found.sort(key=lambda each: (abs(each - start), each < start))
    return (*found, UNLIMITED) if is_bound and old < UNLIMITED else tuple(found)


def beside(old: int, others: Iterable[int], low: int, high: int = UNLIMITED) -> tuple[int, ...]:
    """Numbers that stand otherwise to some others than one, where only their order counts, the nearest first."""
    found = {each + more for each in others for more in (-1, 0, 1)} - {old}
    return tuple(
        sorted((each for each in found if low <= each <= high), key=lambda each: (abs(each - old), each < old))
    )


def spans(old: int, others: Iterable[int]) -> tuple[int, ...]:
    """Durations that stand otherwise to some others than the old one, in seconds beyond them, the nearest first."""
    found = {0, *(more for each in others for more in (each, each + SECOND) if 0 <= each < UNLIMITED)} - {old}
    return tuple(sorted(found, key=lambda each: (abs(each - old), each < old)))


def brought_up(host: str, what: str) -> Parameter:
    """That a host is not up or not open any more.

    what : `hosts_down`, `hosts_never_seen` or `hosts_closed`
    """

    def put(files: Files, value: bool) -> Files:  # noqa: FBT001 - the value of a flag
        gone, mine = set() if value else {host}, {host} if value else set()
        down, closed = files.state.hosts_down - gone, files.state.hosts_closed - gone
        if what == "hosts_closed":  # a live cluster has who is down among these, too
            return replace(files, state=replace(files.state, hosts_closed=closed | mine))
        return replace(files, state=replace(files.state, hosts_down=down | mine, hosts_closed=closed))

    old = True
    return Parameter(Change(what, old, None, host=host), old, (not old,), put, bool)


def several(able: Iterable[tuple[int, object, Settings]]) -> Iterator[Settings]:
    """Hosts that could be brought up: one of each kind, then several at once, the largest first, at last all.

    able : size of a host, its kind, what brings it up
    """
    hosts = sorted(able, key=lambda each: -each[0])
    first: dict[object, Settings] = {}
    for _, kind, settings in hosts:
        first.setdefault(kind, settings)
    yield from first.values()
    for number in sorted({*(number for number in _SEVERAL if number < len(hosts)), len(hosts)} - {0, 1}):
        yield tuple(setting for _, _, settings in hosts[:number] for setting in settings)


def with_settings(files: Files, at: int, row: int, **values: Any) -> Files:  # noqa: ANN401 - settings of any type
    """Other settings of a consumer in one policy entry."""
    entry = files.plan.policies[at]
    mine = replace(entry.consumers.get(row, ConsumerSettings()), **values)
    return _with_entry(files, at, consumers={**entry.consumers, row: mine})


def with_entry_settings(files: Files, at: int, **values: Any) -> Files:  # noqa: ANN401 - settings of any type
    """Other settings of one policy entry."""
    return _with_entry(files, at, settings=replace(files.plan.policies[at].settings, **values))


def _with_entry(files: Files, at: int, **values: Any) -> Files:  # noqa: ANN401 - fields of any type
    policies = list(files.plan.policies)
    policies[at] = replace(files.plan.policies[at], **values)
    return replace(files, plan=replace(files.plan, policies=tuple(policies)))


def with_request(files: Files, request: str, **values: Any) -> Files:  # noqa: ANN401 - fields of any type
    """One request that wants something else."""
    mine = tuple(replace(each, **values) if each.id == request else each for each in files.state.requests)
    return replace(files, state=replace(files.state, requests=mine))


def asks(request: Request, what: str, values: tuple[int, ...], step: int = 0) -> Parameter:
    """A number of a request."""
    name, old = request.id, getattr(request, what)

    def put(files: Files, value: int) -> Files:
        return with_request(files, name, **{what: value})

    return Parameter(Change(what, old, None, request=name), old, values, put, int, step)


def sited(request: Request) -> Iterator[Parameter]:
    """Which hosts will do: one label less, none at all, and whether its units stand together."""
    name, siting = request.id, request.siting

    def put(what: str) -> Callable[[Files, Any], Files]:
        def with_siting(files: Files, value: Any) -> Files:  # noqa: ANN401 - of any type
            (mine,) = (each for each in files.state.requests if each.id == name)
            return with_request(files, name, siting=mine.siting._replace(**{what: value}))

        return with_siting

    for what in ("need", "avoid"):
        labels: tuple[str, ...] = getattr(siting, what)
        fewer = [tuple(each for each in labels if each != label) for label in labels]
        if labels:
            values: tuple[Any, ...] = tuple(dict.fromkeys([*fewer, ()]))
            yield Parameter(Change(what, labels, None, request=name), labels, values, put(what), tuple)
    places = tuple(each for each in ("", *PLACES) if each != siting.place)
    change = Change("place", siting.place or None, None, request=name)
    yield Parameter(change, siting.place, places, put("place"), lambda value: value or None)


def bound_told(value: int) -> int | None:
    """A number as files write it; None = no bound."""
    return None if value >= UNLIMITED else value


def grain_of(amounts: Iterable[int]) -> int:
    """The largest amount of which all of some are whole multiples; at least a base unit."""
    return gcd(*(each for each in amounts if 0 < each < UNLIMITED)) or 1

"""What would give somebody more: every value is changed in the files and tried in a cycle of its own.

So what is told is true when it is done. It is the smallest change, as every smaller one has been tried and gives
nothing: more of something can give less, so that nothing may be concluded from what is tried about what is not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from fairhold.cycle.explain.parameter import DENSE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.explain.parameter import Parameter, Settings

Groups = dict[str, "Iterator[Parameter]"]
_WORK = 100_000
"""Rows, units and hosts that all trials of one explanation look at together: some seconds."""
_FEWEST = 10
"""Trials that are made in any case."""


class StoppedEarlyError(Exception):
    """The work does not last for another trial."""


@dataclass(slots=True)
class Course:
    """How far the search for one consumer or request has come.

    name  : by which its outcome is known; had: what it has without any change
    found : kind of value, or place among what its reasons point at → the settings that give it more
    tried : what was tried, by keys of parameters; values: settings that were
    loose : kinds of which not every smaller change was tried; is_exact: all were, of the kind at hand
    open  : parameters of which not all numbers were tried
    left_out : groups of values that were not gone through, as something helped before
    """

    name: str
    had: int
    left_out: list[str]
    found: dict[object, Settings] = field(default_factory=dict)
    tried: dict[tuple[str, ...], None] = field(default_factory=dict)
    values: int = 0
    loose: set[object] = field(default_factory=set)
    open: list[Parameter] = field(default_factory=list)
    is_exact: bool = True
    is_complete: bool = True

    def finds(self, kind: object, settings: Settings) -> None:
        """Settings of a kind give it more; whether smaller ones do is not known yet."""
        self.found[kind] = settings
        self.loose.add(kind)

    def told(self) -> list[object]:
        """The kinds in the order in which they are told, each once where two reasons lead to the same values."""
        places = sorted(kind for kind in self.found if isinstance(kind, int))
        seen: dict[object, object] = {}
        for kind in (*places, *(kind for kind in self.found if not isinstance(kind, int))):
            seen.setdefault(_key(self.found[kind]), kind)
        return list(seen.values())

    def document(self) -> dict[str, Any]:
        """How the search went."""
        tried = list(dict.fromkeys(key[0] for key in self.tried))
        search = {"is_complete": self.is_complete, "values": len(self.tried), "cycles": self.values, "of": tried}
        return search | {"in_part": len(self.open), "left_out": self.left_out}


class ChangeSearch:
    """Tries changes, as long as its work lasts.

    looked_at : rows, units and hosts that one trial looks at
    """

    def __init__(self, looked_at: int) -> None:
        self._tried: dict[object, dict[str, tuple[int, int]]] = {}
        self._left = max(_FEWEST, _WORK // looked_at)

    def find(self, name: str, had: int, pointed: Iterator[Iterator[Settings]], groups: Groups) -> Course:
        """What gives more, of every kind of value the smallest change.

        First what reasons point at, kind by kind; where none of that helps, every value there is, until one does.

        pointed : for every kind of change what is tried of it, the smallest first
        groups  : what the values that are tried one after the other are of → these values
        """
        course = Course(name, had, list(groups))
        try:
            self._try_pointed(course, pointed)
            for group in groups.values() if not course.found else ():
                self._try_all(course, group)
                del course.left_out[0]
                if course.found:
                    break
            self._fill_gaps(course)
        except StoppedEarlyError:
            course.is_complete = False
        return course

    def _try_pointed(self, course: Course, pointed: Iterator[Iterator[Settings]]) -> None:
        """Every kind has its turn before any has its next: the work may not last for all."""
        open_ = dict(enumerate(pointed))
        while open_:
            for at, trials in list(open_.items()):
                settings = next(trials, None)
                if settings is None or self._helps(course, settings):
                    del open_[at]
                if settings is not None and at not in open_:
                    course.finds(at, settings)
        for kind in list(course.found):
            self._make_smallest(course, kind)

    def _try_all(self, course: Course, group: Iterator[Parameter]) -> None:
        """All values of some parameters, the nearest of each first, until one of its kind helps."""
        parameters = list(islice(group, max(0, self._left) + 1))
        open_ = [(parameter, iter(parameter.values)) for parameter in parameters]
        while open_:
            left = []
            for parameter, values in open_:
                value = next(values, None)
                if value is None or parameter.kind in course.found:
                    continue
                if self._helps(course, ((parameter, value),)):
                    course.finds(parameter.kind, ((parameter, value),))
                    self._make_smallest(course, parameter.kind)
                else:
                    left.append((parameter, values))
            open_ = left
        course.open += [parameter for parameter in parameters if parameter.gaps()]
        if next(group, None) is not None:
            raise StoppedEarlyError

    def _fill_gaps(self, course: Course) -> None:
        """Where nothing helps yet, also the numbers of long ranges that were left out, as far as the work lasts."""
        left = []
        for parameter in course.open if not course.found else ():
            gaps = parameter.gaps()
            if sum(map(len, gaps)) > self._left:
                left.append(parameter)
                continue
            helps = next((each for each in chain(*gaps) if self._helps(course, ((parameter, each),))), None)
            if helps is not None:
                course.finds(parameter.kind, ((parameter, helps),))
                self._make_smallest(course, parameter.kind)
                break
        course.open = left

    def _make_smallest(self, course: Course, kind: object) -> None:
        """Of each value in turn the nearest to the old one that still helps, until none can be nearer."""
        settings, is_changed, course.is_exact = course.found[kind], True, True
        while is_changed:
            is_changed = False
            for parameter, value in settings:
                without = tuple(each for each in settings if each[0] is not parameter)
                nearest = self._nearest(course, without, parameter, value)
                if nearest != value:
                    is_changed = True
                    kept = ((parameter, each) for each in (nearest,) if nearest != parameter.old)
                    settings = tuple(each for old in settings for each in (kept if old[0] is parameter else (old,)))
                    course.found[kind] = settings
                    break
        if course.is_exact:
            course.loose.discard(kind)

    def _nearest(self, course: Course, others: Settings, parameter: Parameter, value: object) -> object:
        """The value nearest to the old one with which some settings help."""
        if others and self._helps(course, others):
            return parameter.old
        for nearer in parameter.nearer(value):
            if self._helps(course, (*others, (parameter, nearer))):
                value = nearer
                break
        between = parameter.between(value) if isinstance(value, int) else range(0)
        while len(between) > DENSE:  # as far as that the first that helps is looked for, not the very first
            middle, course.is_exact = len(between) // 2, False
            if self._helps(course, (*others, (parameter, between[middle]))):
                value, between = between[middle], between[:middle]
            else:
                between = between[middle + 1 :]
        return next((each for each in between if self._helps(course, (*others, (parameter, each)))), value)

    def _helps(self, course: Course, settings: Settings) -> bool:
        """Whether it has more after a change, with what is on its way to it."""
        held, coming = self.outcome(course, settings)
        return held + coming > course.had

    def outcome(self, course: Course, settings: Settings) -> tuple[int, int]:
        """What it has after a change, and what is on its way to it."""
        if _key(settings) not in self._tried:
            if self._left <= 0:
                raise StoppedEarlyError
            self._left -= 1
        course.values += 1
        course.tried.update(dict.fromkeys(parameter.key for parameter, _ in settings))
        return self.once(settings)[course.name]

    def once(self, settings: Settings) -> dict[str, tuple[int, int]]:
        """What everybody has after a change, tried once."""
        key = _key(settings)
        if key not in self._tried:
            self._tried[key] = self._run(settings)
        return self._tried[key]

    def _run(self, settings: Settings) -> dict[str, tuple[int, int]]:
        """What everybody that is asked about has after a change, and what is on the way there."""
        raise AssertionError(settings)


def _key(settings: Settings) -> frozenset[object]:
    """By what settings are known."""
    return frozenset((parameter.key, value) for parameter, value in settings)

"""Documents as somebody may see them who does not see all: of others, sums without names, or nothing.

It works on every document alike, by what stands in it: rows and mappings of consumers, paths in texts, numbers of jobs.
So no answer can forget it.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.access.document import HIDDEN
from fairhold.access.permissions import ROOT, Permission
from fairhold.model.vector import decimal_text
from fairhold.service.allowing import sees_job

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping

    from fairhold.access.rights import Rights
    from fairhold.runtime.live.core import Core

OTHERS = "others"
"""What stands for all consumers that somebody does not see; no path is called so."""
_PATH_KEYS = ("path", "consumer")
"""Keys of a row that say of which consumer it is; the first that is there."""
_OF_PATHS = frozenset({"path", "consumer", "taker", "for", "lenders", "lender", "borrower"})
"""Keys of what is always a path, or paths, where it begins with `/`."""
_JOB_KEYS = frozenset({"job", "request", "dependent", "needed"})
_JOBS = re.compile(r"\bjob `?([0-9]{1,18})`?")
_NO_SUM = frozenset(
    {"rank", "priority", "user", "users", "name", "host", "attempt", "task", "number", "index", "lambda", "saturation"}
)
"""Numbers that mean nothing when they are added, and names that may look like numbers."""
_ALIKE = ("resource_group", "resource", "unit", "kind")
"""What rows have to have in common to be added."""


class Veil(NamedTuple):
    """What is kept from somebody.

    consumers : paths of the plan in force
    sees      : whether he sees a consumer; sees_job: a job
    above     : consumers above his own: their names are in his own paths
    is_whole  : whether not even sums of others are told
    """

    consumers: Container[str]
    sees: Callable[[str], bool]
    above: frozenset[str]
    sees_job: Callable[[str], bool]
    is_whole: bool

    @classmethod
    def of(cls, core: Core, rights: Rights) -> Veil:
        """What is kept from somebody of a live cluster."""
        above = frozenset(_above(rights.paths.get(Permission.VIEW, ())))
        jobs = cache(partial(sees_job, core, rights))
        return cls(core.plan.tree.rows, cache(rights.sees), above, jobs, rights.others == HIDDEN)

    def keeps(self, path: object) -> bool:
        """Whether this is the name of a consumer that is kept from him; those above his own are in his own paths."""
        return isinstance(path, str) and path in self.consumers and path not in self.above and not self.sees(path)

    def keeps_path(self, path: str) -> bool:
        """Whether numbers of this consumer are kept, be it in the plan or not any more."""
        if path in self.above:
            return self.is_whole
        return path.startswith("/") and not self.sees(path)


def _above(paths: Iterable[str]) -> Iterator[str]:
    """All paths above some; the root too."""
    for path in paths:
        head = path.rpartition("/")[0]
        while head:
            yield head
            head = head.rpartition("/")[0]
        yield ROOT


def _tops(paths: Iterable[str]) -> list[str]:
    """Of some paths those that have none of them above."""
    known = {*paths}
    return [path for path in known if known.isdisjoint(_above((path,)))]


def veiled(document: dict[str, Any], veil: Veil) -> dict[str, Any]:
    """A copy without what is kept."""
    found: dict[str, Any] = _mapping(document, veil)
    return found


def _value(value: Any, veil: Veil, key: str = "") -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        return _mapping(value, veil)
    if isinstance(value, list | tuple):
        return _rows(value, veil, key)
    if isinstance(value, str):
        return _text(value, veil, key)
    return value


def _mapping(node: Mapping[str, Any], veil: Veil) -> dict[str, Any]:
    """A mapping; entries of consumers that are kept become one, a mapping of one of them says nothing of people."""
    return _anonymous(node, veil) if _owner(node, veil) else _entries(node, veil)


def _entries(node: Mapping[str, Any], veil: Veil) -> dict[str, Any]:
    """The entries of a mapping, those of consumers that are kept as one, or none."""
    rest = {key: value for key, value in node.items() if key.startswith("/") and veil.keeps_path(key)}
    found: dict[str, Any] = {key: _value(value, veil, key) for key, value in node.items() if key not in rest}
    if rest and not veil.is_whole:
        tops = _tops(rest)
        found[OTHERS] = _value(_sum([rest[path] for path in tops]), veil)
    return found


def _owner(node: Mapping[str, Any], veil: Veil) -> bool:
    """Whether a row is of a consumer, or of a job, that is kept."""
    for key in _PATH_KEYS:
        if isinstance(node.get(key), str) and node[key].startswith("/"):
            return veil.keeps_path(node[key]) and not _is_own_job(node, veil)
    return False


def _is_own_job(node: Mapping[str, Any], veil: Veil) -> bool:
    """Whether a row is of a job that he sees though it is in a consumer that he does not: his own."""
    job = node.get("job")
    return isinstance(job, str) and veil.sees_job(job)


def _anonymous(node: Mapping[str, Any], veil: Veil) -> dict[str, Any]:
    """A row of somebody else: its numbers alone, or not even these."""
    return {key: _told(key, value, veil) for key, value in _entries(node, veil).items()}


def _told(key: str, value: Any, veil: Veil) -> Any:  # noqa: ANN401 - any JSON
    if key in _PATH_KEYS:
        return OTHERS
    if veil.is_whole or key in _NO_SUM:
        return _empty(value)
    return value if key in _ALIKE else _number(value)


def _empty(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        return 0
    return type(value)() if isinstance(value, str | list | dict) else None


def _number(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, dict) and value and all(_is_number(each) for each in value.values()):
        return dict(value)
    return value if _is_number(value) else _empty(value)


def _is_number(value: object) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int | float) or (isinstance(value, str) and _fraction(value) is not None)


def _fraction(text: str) -> Fraction | None:
    try:
        return Fraction(text) if len(text) <= 60 else None
    except (ValueError, ZeroDivisionError):
        return None


def _rows(rows: list[Any] | tuple[Any, ...], veil: Veil, key: str) -> list[Any]:
    """A list; rows of consumers that are kept become one at its end, or none."""
    kept: list[Any] = []
    others: list[Any] = []
    for row in rows:
        is_kept = _owner(row, veil) if isinstance(row, dict) else _is_kept(row, veil, key)
        (others.append(row) if is_kept else kept.append(_value(row, veil, key)))
    if veil.is_whole or not others:
        return kept
    rows_of: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in others:
        if isinstance(row, dict):
            rows_of.setdefault(tuple(repr(row.get(each)) for each in _ALIKE), []).append(row)
    if not rows_of:
        return [*kept, OTHERS]
    return [*kept, *(_sum([_anonymous(row, veil) for row in _top_rows(each)]) for each in rows_of.values())]


def _top_rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows without those of consumers below others of them: with `path`, a parent's numbers hold its children's."""
    tops = {*_tops(str(row["path"]) for row in rows if "path" in row)}
    return [row for row in rows if "path" not in row or row["path"] in tops]


def _is_kept(value: object, veil: Veil, key: str) -> bool:
    """Whether a value is the path of a consumer that is kept."""
    return isinstance(value, str) and (veil.keeps_path(value) if key in _OF_PATHS else veil.keeps(value))


def _sum(values: list[Any]) -> Any:  # noqa: ANN401 - any JSON
    """Numbers together, mappings by key; of what is no number, what all say alike, else nothing."""
    first = values[0]
    if isinstance(first, dict) and all(isinstance(each, dict) for each in values):
        keys = dict.fromkeys(key for each in values for key in each)
        return {key: _sum([each[key] for each in values if key in each]) for key in keys}
    if all(_is_number(each) for each in values):
        if all(isinstance(each, int) for each in values):
            return sum(values)
        total = sum((Fraction(str(each)) for each in values), Fraction(0))
        if not isinstance(first, str):
            return float(total)
        return str(total) if any("/" in str(each) for each in values) else decimal_text(total)
    return first if all(each == first for each in values) else _empty(first)


def _text(text: str, veil: Veil, key: str) -> str:
    """A text without paths and jobs that are kept."""
    if key in _JOB_KEYS and text.isdecimal() and not veil.sees_job(text):
        return ""
    if _is_kept(text, veil, key):
        return OTHERS
    if "/" in text:
        text = "".join(_without_paths(text, veil))
    if "job " in text:
        text = _JOBS.sub(lambda found: found[0] if veil.sees_job(found[1]) else "another job", text)
    return text


def _without_paths(text: str, veil: Veil) -> Iterator[str]:
    """The pieces of a text; where a consumer that is kept is named, `others` stands in its place."""
    done = 0
    while (begin := text.find("/", done)) >= 0:
        end = next((end for end in _ends(text, begin) if text[begin:end] in veil.consumers), begin + 1)
        yield text[done:begin]
        yield OTHERS if veil.keeps(text[begin:end]) else text[begin:end]
        done = end
    yield text[done:]


_LONGEST = 400


def _ends(text: str, begin: int) -> Iterator[int]:
    """Where a path that begins in a text may end, the longest first: at its end, or before what is no letter."""
    for end in range(min(len(text), begin + _LONGEST), begin + 1, -1):
        if end == len(text) or not (text[end].isalnum() or text[end] in "_-"):
            yield end

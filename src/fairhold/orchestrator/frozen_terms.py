"""The terms of a job (what was submitted), in a document of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.orchestrator.changes import JobAdded

if TYPE_CHECKING:
    from collections.abc import Iterable


def freeze_terms(terms: JobAdded) -> list[Any]:
    """Terms of a job without its name; constraints on hosts only where it has some."""
    *same, _after, siting, limit, unit, least, preemptible = terms[1:]
    more: list[Any] = [_lists(siting), limit] if limit or unit or least else [_lists(siting)] if siting else []
    if unit or least:
        more += [_lists(unit), least]
    if preemptible is not None:
        more.append(preemptible)
    return [*same, [list(needed) for needed in terms.after], *more]


def _lists(values: Iterable[Any]) -> list[Any]:
    return [list(each) if isinstance(each, tuple) else each for each in values]


def thaw_terms(fields: list[Any]) -> JobAdded:
    """The reverse of `freeze_terms`."""
    at = JobAdded._fields.index("after") - 1
    after = tuple((job, on) for job, on in fields[at])
    said, *more = fields[at + 1 :] or [[]]
    siting = tuple(tuple(each) if isinstance(each, list) else each for each in said)
    missing: tuple[Any, ...] = (0, (), 0, None)[len(more) :]
    limit, unit, *rest = [*more, *missing]
    return JobAdded._make(["", *fields[:at], after, siting, limit, tuple((name, text) for name, text in unit), *rest])

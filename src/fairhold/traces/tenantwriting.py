"""Tenants as a file that `kind: tenants` reads back as they were."""

from __future__ import annotations

import json
from datetime import UTC
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from fairhold.model.vector import decimal_text
from fairhold.traces.tenants import LEVELS, JobKind, Quantiles, Services, Tenant, Tenants, Weighted
from fairhold.units import format_duration, format_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from fairhold.model.vector import Told


def tenants_text(tenants: Tenants, source: str) -> str:
    """The file.

    source : what it was made from, for the first line
    """
    head = [
        f"# From {json.dumps(source, ensure_ascii=False)[1:-1]}.",
        "fairhold_tenants: 1",
        f"seed: {tenants.seed}",
        f"begin: {format_instant(tenants.begin)}",
        f"length: {format_duration(tenants.length)}",
    ]
    if tenants.zone is not UTC:
        head.append(f"time_zone: {tenants.zone}")
    head.append(f"factor: {{every: {format_duration(tenants.every)}, calm: {tenants.calm}}}")
    return "\n".join([*head, "tenants:", *(line for tenant in tenants.tenants for line in _tenant(tenant))]) + "\n"


def _tenant(tenant: Tenant) -> Iterator[str]:
    yield f"  {_quoted(tenant.path)}:"
    if tenant.kinds:
        yield f"    jobs_per_day: {decimal_text(tenant.rate)}"
        rhythm = (("hours", tenant.hours), ("weekdays", tenant.weekdays))
        yield from (f"    {key}: {_list(weights)}" for key, weights in rhythm if set(weights) != {1})
    bursts = tenant.bursts
    if bursts.share:
        share, mean = decimal_text(bursts.share), decimal_text(bursts.jobs)
        yield f"    bursts: {{share: {share}, jobs: {mean}, within: {format_duration(bursts.within)}}}"
    yield from (
        f"    {key}: {decimal_text(part)}"
        for key, part in (("follows", tenant.follows), ("wanders", tenant.wanders))
        if part
    )
    if tenant.users:
        yield "    users: {" + ", ".join(f"{_quoted(name)}: {weight}" for name, weight in tenant.users) + "}"
    if tenant.kinds:
        yield "    jobs:"
    for kind in tenant.kinds:
        yield f"      - weight: {kind.weight}"
        yield f"        tasks: {_tasks(kind.tasks)}"
        yield f"        duration: {_duration(kind)}"
        yield from (f"        {line}" for line in _terms(kind))
        if not kind.gang:
            yield "        gang: false"
    if tenant.services:
        yield "    services:"
    for each in tenant.services:
        yield f"      - count: {each.count}"
        yield f"        tasks: {each.tasks}"
        yield f"        after: {format_duration(each.after)}"
        yield from (f"        {line}" for line in _terms(each))


def _terms(each: JobKind | Services) -> Iterator[str]:
    if each.unit:
        yield f"unit: {_unit(each.unit)}"
    if each.priority:
        yield f"priority: {each.priority}"
    if not each.preemptible:
        yield "preemptible: false"
    if each.resource_group:
        yield f"resource_group: {_quoted(each.resource_group)}"


def _tasks(tasks: Quantiles | Weighted) -> str:
    if isinstance(tasks, Quantiles):
        return _quantiles(tasks, str)
    if len(tasks.values) == 1:
        return str(tasks.values[0])
    weights = [high - low for low, high in pairwise((0, *tasks.ends))]
    return f"{{sizes: {_list(tasks.values)}, weights: {_list(weights)}}}"


def _duration(kind: JobKind) -> str:
    if kind.duration is None:
        return "endless"
    if isinstance(kind.duration, Quantiles):
        return _quantiles(kind.duration, format_duration)
    return format_duration(kind.duration.values[0])


def _quantiles(table: Quantiles, told: Callable[[int], str]) -> str:
    pairs = (
        f"[{decimal_text(Fraction(level * 100, LEVELS))}, {told(value)}]"
        for level, value in zip(table.levels, table.values, strict=True)
    )
    return "{quantiles: [" + ", ".join(pairs) + "]}"


def _unit(unit: Told) -> str:
    return "{" + ", ".join(f"{_quoted(name)}: {amount}" for name, amount in unit) + "}"


def _list(values: Iterable[int]) -> str:
    return "[" + ", ".join(map(str, values)) + "]"


def _quoted(text: str) -> str:
    """A text that YAML reads as the text, with quotes where it could be anything else."""
    is_plain = text.replace("-", "a").replace("_", "a").replace("/", "a").isalnum() and text.isascii()
    is_word = is_plain and (text[0] == "/" or (text[0].isalpha() and text.lower() not in ("null", "true", "false")))
    return text if is_word else json.dumps(text, ensure_ascii=False)

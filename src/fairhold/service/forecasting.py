"""When a waiting job will start, asked of the live service: the answer is worked out by a process of its own."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.planio.nodes import nodes_document
from fairhold.ports import Filter
from fairhold.runtime.live.submitting import waiting_of
from fairhold.service.planning import at_hand
from fairhold.service.problems import refused, unknown_job
from fairhold.service.processes import Work, answer_of
from fairhold.sim.forecast import BY_THEMSELVES, COVERAGE, none_waits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from fairhold.ports import Store
    from fairhold.runtime.live.core import Core
    from fairhold.service.context import Service
    from fairhold.service.planning import Frozen

    Document = dict[str, Any]

LONGEST = 60.0
"""Seconds that a forecast may take; then its process is ended."""
_SHORTER = "ask for fewer draws or a shorter horizon"
PAGES, PAGE = 5, 1_000
"""The latest finished attempts that run times are drawn from."""


class PendingRequest(NamedTuple):
    """What is asked: of which job, how many draws from which seed, how many microseconds ahead."""

    job: str
    draws: int
    seed: int
    horizon: int


async def job_forecast(service: Service, asked: PendingRequest) -> Document:
    """When a waiting task of a job begins; InputError `unknown-job`, `job-over`, `job-runs`, `forecast-too-long`."""
    await service.read(lambda core: _check(core, asked.job))
    said = await lookout_text(service, asked._asdict())
    async with service.turn:
        found = await worked_out(said)
    coverage = await asyncio.to_thread(coverage_in, service.settings.directory)
    forecast: Document = found["forecast"]
    return forecast | {"coverage": coverage}


async def lookout_text(service: Service, asked: Mapping[str, Any]) -> bytes:
    """What the process of a forecast reads: the cluster as it is, how long tasks ran, and what is asked."""
    frozen, text = await at_hand(service)

    def gather() -> bytes:
        return json.dumps({**lookout(frozen, text, past_of(service.store)), **asked}).encode()

    return await asyncio.to_thread(gather)


def lookout(frozen: Frozen, text: str, past: Sequence[tuple[str, int]]) -> Document:
    """What a forecast starts from; text: of the plan in force."""
    standing, nodes = frozen.standing(), nodes_document({node.name: node for node in frozen.nodes})
    cluster = {"cluster": standing.document, "own": standing.own, "now": standing.now}
    return {"plan": text, "nodes": nodes, **cluster, "past": past}


def past_of(store: Store) -> list[tuple[str, int]]:
    """Consumers of the attempts that ended by themselves lately, and how long they ran."""
    found: list[tuple[str, int]] = []
    cursor = ""
    for _ in range(PAGES):
        page = store.tasks(Filter(), cursor, PAGE)
        found += [(row.consumer, row.ended - row.started) for row in page.rows if _counts(row.reason, row.started)]
        cursor = page.cursor
        if not cursor:
            break
    return found


def _counts(reason: str, started: int) -> bool:
    return reason in BY_THEMSELVES and started > 0


def coverage_in(directory: Path) -> Document | None:
    """How many forecasts came true by the last back-test that was left there; None = there was none."""
    try:
        found = json.loads((directory / COVERAGE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.keys() >= COVERAGE_KEYS else None


COVERAGE_KEYS = {"at", "instants", "forecasts", "p50", "p90"}


def _check(core: Core, job: str) -> None:
    record = core.orchestrator.jobs.get(job)
    if record is None:
        if core.finished(job) is None:
            raise unknown_job(job)
        raise refused("job-over", f"job `{job}` has ended", "a forecast says when a waiting job begins")
    if not waiting_of(record):
        raise none_waits(job)


async def worked_out(asked: bytes) -> Document:
    """What the process answers; InputError with what it says, or `forecast-too-long`, `forecast-failed`."""
    return await answer_of(Work("fairhold.sim.forecaster", LONGEST, "forecast", _SHORTER), asked)

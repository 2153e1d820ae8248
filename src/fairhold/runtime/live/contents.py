"""What a store keeps without looking into it, tried as a start uses it: for the check of a store."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, cast

from fairhold.planio.document import parse_document
from fairhold.runtime.live.core import Core
from fairhold.runtime.live.recovery import read_entry, read_spec, replay, thaw_snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fairhold.ports import Entry, PlanVersion, SavedState, Store


class LiveContents:
    """A start on trial; see `store.bodies.Contents`. Nothing is decided and nothing is written."""

    def __init__(self, plan_of: Callable[[int], PlanVersion | None]) -> None:
        self._plans = _Plans(plan_of)
        self._latest = self._from = 0
        self._core: Core | None = self._new(0)

    def _new(self, at: int) -> Core:
        return Core(cast("Store", self._plans), lambda: at)

    def plan(self, plan: PlanVersion) -> None:
        """A version of the plan; one that is not in force any more need not be a plan for this version."""
        self._latest = plan.version
        if not isinstance(parse_document(plan.text, "it").value, dict):
            raise ValueError("it is not a plan")  # noqa: TRY004 - of a text, not of an argument

    def snapshot(self, saved: SavedState) -> None:
        """A snapshot; the latest that can be used is gone on from."""
        core = self._new(saved.at)
        thaw_snapshot(core, saved)
        if not self._from:
            self._from, self._core = saved.seq, core

    def entry(self, entry: Entry) -> None:
        """An entry; what follows the snapshot happens again, up to the first that cannot."""
        if self._core is None or entry.seq <= self._from:
            read_entry(entry.body)
        else:
            core, self._core = self._core, None
            replay(core, entry)
            self._core = core

    def spec(self, job: str, body: str) -> None:
        """What a job runs."""
        self._unseen.discard(job)
        read_spec(body)

    @cached_property
    def _unseen(self) -> set[str]:
        """Jobs that have not ended, but for those whose specs came by."""
        return set(self._core.cluster.jobs) if self._core and self._core.version else set()

    def missing(self) -> Iterator[str]:
        """Where the log and the plan in force differ; what of jobs that have not ended is not there."""
        if self._core and self._core.version != self._latest:
            yield f"the log ends with plan {self._core.version} in force, and plan {self._latest} is the latest"
        for job in sorted(self._unseen):
            yield f"the command of job {job} is missing"


class _Plans:
    """As much of a store as a replay asks for."""

    def __init__(self, plan_of: Callable[[int], PlanVersion | None]) -> None:
        self.plan = plan_of

    def job(self, _job: str) -> None:
        """No finished job: what usage before format 6 was of is nothing that could be damaged."""

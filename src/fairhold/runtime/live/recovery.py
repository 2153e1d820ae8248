"""From the store to the state, and back: snapshots and the replay of the log."""

from __future__ import annotations

import gc
import json
from typing import TYPE_CHECKING, Any

from fairhold.cycle.open import open_books
from fairhold.model.state import State
from fairhold.orchestrator import changes as say
from fairhold.orchestrator.cluster import Cluster
from fairhold.orchestrator.freeze import freeze, thaw
from fairhold.orchestrator.freezing import Freezing
from fairhold.planio.plan import parse_plan
from fairhold.runtime.live.closings import Closing, Return
from fairhold.runtime.live.journal import CLOSING, LABELLED, NUMBERED, PLAN_APPLIED, change_of
from fairhold.runtime.live.usage import USAGE_SPAN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fairhold.model.plan import Plan
    from fairhold.runtime.live.core import Core

PIECE = 5_000
"""Entries of a column that are made into text at once."""


def take_up(core: Core, latest: int) -> None:
    """Replay what the store holds: the snapshot, then every entry after it; nothing is decided again.

    What is made of it stays for long: the search for what nobody refers to any more leaves it out for good.
    """
    gc.disable()
    try:
        _take_up(core, latest)
    finally:
        gc.enable()
    gc.freeze()


def _take_up(core: Core, latest: int) -> None:
    log = core.store.load()
    if log.snapshot is not None:
        _thaw(core, json.loads(log.snapshot.body))
    for entry in log.entries:
        fields = json.loads(entry.body)
        if fields[0] == PLAN_APPLIED:
            _replay_plan(core, fields[1], fields[2], entry.at)
            core.returns = tuple(Return(*each) for each in fields[3])
            continue
        if fields[0] == CLOSING:
            _replay_closing(core, fields[1], fields[2])
            continue
        if fields[0] == LABELLED:  # labels stand in the spec
            continue
        if fields[0] == NUMBERED:
            core.next_job = max(core.next_job, fields[1] + 1)
            continue
        if fields[0] == USAGE_SPAN:
            core.usage.replay_span(fields)
            continue
        change = change_of(fields)
        assert change is not None, f"an entry of the kind {fields[0]} is none of this version"
        if isinstance(change, say.JobAdded):
            core.next_job = max(core.next_job, int(change.job) + 1)
        core.orchestrator.replay(change, entry.at)
        core.usage.replay(change, entry.at, core.cluster)
        core.reclaims.note(change, entry.at)
    assert core.version == latest, "the log says which plan is in force"


def _plan_of(core: Core, version: int) -> Plan:
    found = core.store.plan(version)
    assert found is not None, "a plan is kept as long as the log names it"
    return parse_plan(found.text, f"plan {version}")[0]


def _replay_closing(core: Core, machine: str, plan: list[Any] | None) -> None:
    core.closings.pop(machine, None)
    if plan is not None and (plan[0] or plan[1]):
        core.closings[machine] = Closing(*plan)


def _replay_plan(core: Core, version: int, moved: Mapping[str, str], at: int) -> None:
    plan = _plan_of(core, version)
    books = open_books(plan, State(now=at))
    if core.version:
        core.use(plan, thaw(freeze(core.cluster), books, forgets=True, own=core.own, moved=moved))
        core.usage.plan_changed(core.cluster, at)
    else:
        core.use(plan, Cluster(books, forgets=True, own=core.own))
        core.usage.begin(core.cluster, at)
    core.version = version


def frozen(core: Core) -> str:
    """All that a later start needs, as text."""
    whole = Frozen(core)
    whole.end()
    return whole.text()


class Frozen:
    """All that a later start needs, as it was when this was made; it is gathered while the core goes on.

    seq, at : number and instant of the last entry of the log that it has seen
    """

    def __init__(self, core: Core) -> None:
        self.seq, self.at = core.store.last, core.store.last_at
        self._document = {
            "version": core.version,
            "next_job": core.next_job,
            "returns": core.returns,
            "closings": dict(core.closings),
            "usage": core.usage.freeze(),
            "reclaims": core.reclaims.freeze(),
        }
        self._freezing = Freezing(core.cluster)

    def step(self, jobs: int) -> bool:
        """Gather so many jobs; False when that is done. Called between two changes, as `end` is."""
        return self._freezing.step(jobs)

    def end(self) -> None:
        """Gather what is left; from now on the core is not needed, and any thread may ask for the text."""
        self._cluster = self._freezing.document()

    def text(self) -> str:
        """The whole, after `end`; long columns in pieces, so that other threads need not wait for long."""
        jobs = ",".join(f"[{','.join(_pieces(column))}]" for column in self._cluster.pop("jobs"))
        rest = json.dumps(self._document | {"cluster": self._cluster}, separators=(",", ":"))
        return f'{rest[:-2]},"jobs":[{jobs}]}}}}'


def _pieces(column: list[Any]) -> Iterator[str]:
    for first in range(0, len(column), PIECE):
        yield json.dumps(column[first : first + PIECE], separators=(",", ":"))[1:-1]


def _thaw(core: Core, document: dict[str, Any]) -> None:
    core.version = document["version"]
    core.next_job = document["next_job"]
    core.closings = {machine: Closing(*plan) for machine, plan in document["closings"].items()}
    core.returns = tuple(Return(*each) for each in document["returns"])
    plan = _plan_of(core, core.version)
    core.use(
        plan,
        thaw(document["cluster"], open_books(plan, State(now=core.now())), forgets=True, own=core.own, moved={}),
    )
    core.usage.thaw(document["usage"], core.cluster)
    core.reclaims.thaw(document["reclaims"])

"""From the store to the state, and back: snapshots and the replay of the log."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fairhold.cycle.open import open_books
from fairhold.model.state import State
from fairhold.orchestrator import changes as say
from fairhold.orchestrator.cluster import Cluster
from fairhold.orchestrator.freeze import freeze, thaw
from fairhold.planio.plan import parse_plan
from fairhold.runtime.live.closings import Closing
from fairhold.runtime.live.journal import CLOSING, PLAN_APPLIED, change_of
from fairhold.runtime.live.usage import USAGE_SPAN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fairhold.model.plan import Plan
    from fairhold.runtime.live.core import Core


def take_up(core: Core, latest: int) -> None:
    """Replay what the store holds: the snapshot, then every entry after it; nothing is decided again."""
    log = core.store.load()
    if log.snapshot is not None:
        _thaw(core, json.loads(log.snapshot.body))
    for entry in log.entries:
        fields = json.loads(entry.body)
        if fields[0] == PLAN_APPLIED:
            _replay_plan(core, fields[1], fields[2], entry.at, fields[4] if len(fields) > 4 else {})
            core.reverts = None if fields[3] is None else (fields[3][0], fields[3][1])
            continue
        if fields[0] == CLOSING:
            _replay_closing(core, fields[1], fields[2])
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


def _replay_plan(
    core: Core, version: int, moved: Mapping[str, str], at: int, force: Mapping[str, Sequence[int]]
) -> None:
    plan = _plan_of(core, version)
    books = open_books(plan, State(now=at), {group: tuple(entries) for group, entries in force.items()})
    if core.version:
        core.use(plan, thaw(freeze(core.cluster), books, forgets=True, own=core.own, moved=moved))
        core.usage.plan_changed(core.cluster, at)
    else:
        core.use(plan, Cluster(books, forgets=True, own=core.own))
        core.usage.begin(core.cluster, at)
    core.version = version


def frozen(core: Core) -> str:
    """All that a later start needs, as text."""
    document = {
        "version": core.version,
        "next_job": core.next_job,
        "reverts": core.reverts,
        "closings": core.closings,
        "usage": core.usage.freeze(),
        "reclaims": core.reclaims.freeze(),
    }
    return json.dumps(document | {"cluster": freeze(core.cluster)}, separators=(",", ":"))


def _thaw(core: Core, document: dict[str, Any]) -> None:
    core.version = document["version"]
    core.next_job = document["next_job"]
    core.closings = {machine: Closing(*plan) for machine, plan in document["closings"].items()}
    reverts = document["reverts"]
    core.reverts = None if reverts is None else (reverts[0], reverts[1])
    plan = _plan_of(core, core.version)
    windows = document["cluster"].get("windows", {})
    force = {group: tuple(entries) for group, (entries, _) in windows.items()}
    books = open_books(plan, State(now=core.now()), force)
    for group, (_, before) in windows.items():
        books[group].before = tuple(before)
    core.use(plan, thaw(document["cluster"], books, forgets=True, own=core.own, moved={}))
    core.usage.thaw(document["usage"], core.cluster)
    core.reclaims.thaw(document["reclaims"])

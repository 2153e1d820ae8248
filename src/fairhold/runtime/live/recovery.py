"""From the store to the state, and back: snapshots and the replay of the log."""

from __future__ import annotations

import ctypes
import gc
import json
import logging
from contextlib import contextmanager
from inspect import signature
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from fairhold.errors import InputError
from fairhold.orchestrator import changes as say
from fairhold.orchestrator.cluster import Cluster
from fairhold.orchestrator.freeze import thaw
from fairhold.orchestrator.freezing import Freezing
from fairhold.orchestrator.opening import open_cluster_books
from fairhold.orchestrator.replanning import forget_machines, put_in_force
from fairhold.planio.nodes import nodes_document, nodes_of, take_nodes, with_nodes
from fairhold.planio.plan import parse_plan
from fairhold.ports import StoreError
from fairhold.runtime.live.closings import Closing, Return
from fairhold.runtime.live.journal import CLOSING, LABELLED, NODES, NUMBERED, PLAN_APPLIED, change_of
from fairhold.runtime.live.specs import spec_of
from fairhold.runtime.live.usage import USAGE_SPAN, unpacked
from fairhold.store.bodies import UNREADABLE, why
from fairhold.store.troubles import DAMAGED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from fairhold.model.plan import Plan
    from fairhold.model.spec import Spec
    from fairhold.ports import Entry, Log, SavedState, Store
    from fairhold.runtime.live.core import Core

_LOG = logging.getLogger("fairhold")
_NONE: Mapping[str, Sequence[int]] = MappingProxyType({})
_DECODER = json.JSONDecoder()
_PACKED = "it cannot be unpacked"
CHUNK = 4_096
"""Entries that are read at once of a log that is followed."""
PIECE = 5_000
"""Entries of a column that are made into text at once."""


@contextmanager
def refusing_damage(store: Store) -> Iterator[None]:
    """Tell what a store meets in its file at a start as the refusal that it is."""
    try:
        yield
    except StoreError as error:
        if error.code != DAMAGED:
            raise
        raise store.damaged(error.what) from error


def take_up(core: Core) -> None:
    """Replay what the store holds: the snapshot, then every entry after it; nothing is decided again.

    What is made of it stays for long: the search for what nobody refers to any more leaves it out for good.
    InputError `store-damaged` where an entry, a plan or what a job runs cannot be read. A snapshot that cannot be used
    gives way to the one before, or to the whole log.
    """
    gc.disable()
    try:
        _take_up(core)
    finally:
        gc.enable()
    gc.freeze()
    _give_back()


def follow(core: Core) -> None:
    """Take up what the store holds more than the core has seen. InputError `store-gap`, `store-damaged`."""
    if core.seen:
        catch_up(core)
    elif core.store.last:
        take_up(core)


def catch_up(core: Core) -> None:
    """Replay the entries that the store has more than the core has seen. InputError `store-gap`, `store-damaged`."""
    store = core.store
    while entries := store.entries(core.seen, store.last, CHUNK):
        if entries[0].seq != core.seen + 1:
            raise store.damaged(f"entries of the log after {core.seen} are missing")
        _replay_all(core, entries)


def check_version(core: Core, latest: int) -> None:
    """InputError `store-damaged` where the log does not end with the latest plan in force."""
    if core.version != latest:
        what = f"the log ends with plan {core.version} in force, and plan {latest} is the latest"
        raise core.store.damaged(what)


def _replay_all(core: Core, entries: Iterable[Entry]) -> None:
    for entry in entries:
        try:
            replay(core, entry)
        except UNREADABLE as error:
            raise core.store.damaged(f"entry {entry.seq} of the log cannot be read: {why(error)}") from error
        core.seen = entry.seq


def _give_back() -> None:
    """Memory that only the reading needed goes back to the system, where the C library can say so: glibc keeps it."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _take_up(core: Core) -> None:
    store = core.store
    log, unusable = _from_snapshot(core)
    core.seen = log.snapshot.seq if log.snapshot else 0
    _replay_all(core, log.entries)
    for job, body in store.specs(core.cluster.jobs):
        try:
            read_spec(body)
        except UNREADABLE as error:
            raise store.damaged(f"the command of job {job} cannot be read: {why(error)}") from error
    begun = f"the one of entry {log.snapshot.seq}" if log.snapshot else "the start of the log"
    for seq, reason in unusable.items():
        _LOG.warning("the snapshot of entry %s cannot be used (%s); the start continued from %s", seq, reason, begun)


def _from_snapshot(core: Core) -> tuple[Log, dict[int, str]]:
    """Take up the latest snapshot that can be used; later ones, by their numbers, and why they cannot."""
    log = core.store.load()
    unusable = dict.fromkeys(log.unreadable, _PACKED)
    while log.snapshot is not None:
        try:
            thaw_snapshot(core, log.snapshot)
            break
        except UNREADABLE as error:
            unusable[log.snapshot.seq] = why(error)
        log = core.store.load(log.snapshot.seq)
        unusable |= dict.fromkeys(log.unreadable, _PACKED)
    return log, unusable


def read_spec(body: str | None) -> Spec:
    """What a job runs; raises one of `UNREADABLE` where that is not there or not to be read."""
    if body is None:
        raise ValueError("it is not there")
    return spec_of(body)


def read_entry(body: str) -> None:
    """Look whether an entry is one; raises one of `UNREADABLE` where it is none. It need not happen again."""
    kind, *fields = json.loads(body)
    if kind == USAGE_SPAN:
        unpacked(fields[2])
    elif kind in _OTHERS:
        signature(_OTHERS[kind]).bind(None, 0, *fields)
    else:
        _change(kind, fields)


def _decode(body: str) -> list[Any]:
    """The value of a JSON text without spaces around it: half of the time of `json.loads`."""
    found: tuple[list[Any], int] = _DECODER.raw_decode(body)
    if found[1] < len(body):
        raise ValueError(f"more follows after its {found[1]} characters")
    return found[0]


def _change(kind: str, fields: list[Any]) -> say.Change:
    change = change_of(kind, fields)
    if change is None:
        raise ValueError(f"there is no entry kind {kind!r}")
    return change


def replay(core: Core, entry: Entry) -> None:
    """Replay an entry of the log; raises one of `UNREADABLE` where it cannot."""
    kind, *fields = _decode(entry.body)
    if kind in _OTHERS:
        _OTHERS[kind](core, entry.at, *fields)
        return
    change = _change(kind, fields)
    if isinstance(change, say.JobAdded):
        core.next_job = max(core.next_job, int(change.job) + 1)
    core.orchestrator.replay(change, entry.at)
    core.usage.replay(change, entry.at, core.cluster)
    core.reclaims.note(change, entry.at)


def _plan_of(core: Core, version: int) -> Plan:
    found = core.store.plan(version)
    if found is None:
        raise ValueError(f"plan {version} is not there")
    try:
        return with_nodes(parse_plan(found.text, f"plan {version}")[0], core.nodes.values())
    except InputError as error:
        raise ValueError(f"plan {version} cannot be used by this version of Fairhold: {why(error)}") from error


def _replay_numbers(core: Core, _at: int, last: int) -> None:
    core.next_job = max(core.next_job, last + 1)


def _replay_labels(_core: Core, _at: int, _job: str, _labels: Mapping[str, str]) -> None:
    """Labels stand in the spec."""


def _replay_span(core: Core, _at: int, _begin: int, end: int, _span: str) -> None:
    core.usage.replay_span(end)


def _replay_closing(core: Core, _at: int, machine: str, plan: list[Any] | None) -> None:
    core.closings.pop(machine, None)
    if plan is not None and (plan[0] or plan[1]):
        core.closings[machine] = Closing(*plan)


def _replay_plan(  # noqa: PLR0917 - the fields of its entry, in their order
    core: Core,
    at: int,
    version: int,
    moved: Mapping[str, str],
    returns: Sequence[Sequence[Any]],
    force: Mapping[str, Sequence[int]] = _NONE,
) -> None:
    plan = _plan_of(core, version)
    books = open_cluster_books(plan, at, {group: tuple(entries) for group, entries in force.items()})
    if core.version:
        put_in_force(core.cluster, books, moved)
        core.use(plan, core.cluster)
        core.usage.plan_changed(core.cluster, at)
    else:
        core.use(plan, Cluster(books, forgets=True, own=core.own))
        core.usage.begin(core.cluster, at)
    core.version = version
    core.returns = tuple(Return(*each) for each in returns)


def _replay_nodes(
    core: Core, at: int, changed: Mapping[str, Sequence[Any] | None], force: Mapping[str, Sequence[int]]
) -> None:
    take_nodes(core.nodes, nodes_of(changed))
    plan = with_nodes(core.plan, core.nodes.values())
    books = open_cluster_books(plan, at, {group: tuple(entries) for group, entries in force.items()})
    put_in_force(core.cluster, books)
    forget_machines(core.cluster, core.nodes)
    core.use(plan, core.cluster)
    core.usage.plan_changed(core.cluster, at)


_OTHERS: dict[str, Callable[..., None]] = {
    PLAN_APPLIED: _replay_plan,
    CLOSING: _replay_closing,
    LABELLED: _replay_labels,
    NUMBERED: _replay_numbers,
    NODES: _replay_nodes,
    USAGE_SPAN: _replay_span,
}
"""Kinds of entries that are not changes of the cluster: called with the core, the instant and the fields."""


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
            "nodes": nodes_document(core.nodes),
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


def thaw_snapshot(core: Core, saved: SavedState) -> None:
    """Go on from a snapshot; raises one of `UNREADABLE`, with nothing changed, where it cannot be used."""
    document = json.loads(saved.body)
    version, next_job = document["version"], document["next_job"]
    closings = {machine: Closing(*plan) for machine, plan in document["closings"].items()}
    returns = tuple(Return(*each) for each in document["returns"])
    take_nodes(core.nodes, nodes_of(document.get("nodes", {})))
    plan = _plan_of(core, version)
    windows = document["cluster"].get("windows", {})
    force = {group: tuple(entries) for group, (entries, _) in windows.items()}
    books = open_cluster_books(plan, core.now(), force)
    for group, (_, before) in windows.items():
        books[group].before = tuple(before)
    cluster = thaw(document["cluster"], books, forgets=True, own=core.own, moved={})
    core.usage.thaw(document["usage"], cluster)
    core.reclaims.thaw(document["reclaims"])
    core.version, core.next_job, core.closings, core.returns = version, next_job, closings, returns
    core.use(plan, cluster)

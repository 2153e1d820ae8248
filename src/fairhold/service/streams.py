"""The event log for others: pages, and a stream that can be taken up again (server-sent events)."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fairhold.access.permissions import Permission
from fairhold.orchestrator.changes import KINDS
from fairhold.ports import StoreError
from fairhold.service.problems import refused
from fairhold.service.veil import Veil, veiled
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator

    from fairhold.access.rights import Rights
    from fairhold.ports import Entry, SavedState, Store
    from fairhold.runtime.live.core import Core
    from fairhold.service.news import News

PAGE = 500
_MOST_SEQ = 2**62
_OTHERS: dict[str, tuple[str, ...]] = {
    "PlanApplied": ("version", "moved", "returns", "windows"),
    "JobLabelled": ("job", "labels"),
    "JobNumbersTaken": ("last",),
    "Closing": ("machine", "plan"),
    "UsageSpan": ("begin", "end", "span"),
}
"""Fields of entries that are no change of the cluster."""
_OF_CLUSTER = frozenset(
    {"PlanApplied", "Paused", "HostSet", "MachineSeen", "MachineMissed", "MachineShut", "MachineLapsed"}
)
"""Kinds that are told to everybody who sees anything."""
_LOG = logging.getLogger("fairhold.service")


def event_document(entry: Entry) -> dict[str, Any]:
    """An entry of the log with its fields by name; of a kind that is not known here, they stand in `fields`.

    StoreError `store-damaged` where it cannot be read; a start does not look at what a snapshot covers.
    """
    try:
        kind, *values = json.loads(entry.body)
        known = KINDS.get(kind)
    except (TypeError, ValueError) as error:
        raise StoreError(f"entry {entry.seq} of the log cannot be read: {error}", "store-damaged") from error
    names = known._fields if known else _OTHERS.get(kind, ())
    head = {"seq": entry.seq, "at": format_instant(entry.at), "kind": kind}
    if len(values) > len(names):
        return head | {"fields": values}
    return head | dict(zip(names, values, strict=False))


def events(store: Store, after: int, limit: int, sight: Sight) -> dict[str, Any]:
    """A page of the log behind `after`. InputError `events-gone` where entries are missing in between."""
    entries = store.entries(min(after, _MOST_SEQ), limit=limit)
    check_place(store, after)
    following = entries[-1].seq if entries else after
    return {"events": [*sight.documents(map(event_document, entries))], "next": following}


class Sight:
    """Which events somebody is told: those of jobs that he sees, and of the cluster; see `veil`.

    An event of an attempt is told where the attempt runs, or its start was told here before.

    renewed : what he may do now; None = he may not ask any more
    """

    def __init__(self, core: Core, renewed: Callable[[], Rights | None]) -> None:
        self._core, self._renewed = core, renewed
        self._attempts: dict[int, bool] = {}

    @property
    def is_over(self) -> bool:
        """Whether he may not follow any more."""
        rights = self._renewed()
        return rights is None or not rights.somewhere(Permission.VIEW)

    def documents(self, found: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Those that he may see, as he may see them."""
        rights = self._renewed()
        if rights is None or rights.sees_all:
            yield from found if rights else ()
            return
        veil = Veil.of(self._core, rights)
        for document in found:
            if self._is_told(document, veil):
                yield veiled(document, veil)

    def _is_told(self, document: dict[str, Any], veil: Veil) -> bool:
        number = document.get("attempt")
        if document["kind"] == "Started":
            self._attempts[number or 0] = veil.sees_job(document["job"])
        if number is None:
            return veil.sees_job(document["job"]) if "job" in document else document["kind"] in _OF_CLUSTER
        if document["kind"] == "Ended":
            return self._attempts.pop(number, False)
        if number not in self._attempts:
            attempt = self._core.cluster.attempts.get(number)
            self._attempts[number] = attempt is not None and veil.sees_job(attempt.job.name)
        return self._attempts[number]


def snapshot_document(store: Store, until: int) -> dict[str, Any]:
    """The latest snapshot up to an instant, else the earliest, of those that can be read."""
    saved = saved_before(store, until)
    if saved is None:
        return {"seq": None, "at": None, "state": None}
    try:
        state = json.loads(saved.body)
    except ValueError as error:
        raise StoreError(f"the snapshot of entry {saved.seq} cannot be read: {error}", "store-damaged") from error
    return {"seq": saved.seq, "at": format_instant(saved.at), "state": state}


def saved_before(store: Store, until: int) -> SavedState | None:
    """The latest snapshot up to an instant, else the earliest; None = there is none."""
    saved = store.load().snapshot
    if saved is not None and saved.at > until:  # two are kept
        with suppress(StoreError):
            saved = store.load(saved.seq).snapshot or saved
    return saved


def check_place(store: Store, after: int) -> None:
    """Refuse to go on behind an entry whose followers were cleared out: something would be missing."""
    first = store.first()
    if after and first > after + 1:
        what = f"entries of the log before {first} are gone"
        raise refused("events-gone", what, "begin again: read the state, and follow without `after`")


async def stream(store: Store, news: News, after: int, beat: float, sight: Sight) -> AsyncIterator[str]:
    """Entries behind `after` and all that come, as they are committed.

    Whoever reads slowly is sent nothing ahead: the next page is read from the store when this one is gone.
    """
    yield ": fairhold\n\n"
    while not (news.is_ended or sight.is_over):
        try:
            entries, page = await asyncio.to_thread(_page, store, after, sight)
        except StoreError:
            _LOG.exception("a stream of events ends")
            return
        if after and entries and entries[0].seq > after + 1:
            return  # what follows was cleared out: who asks again is told so
        if entries:
            yield page or ": beat\n\n"
            after = entries[-1].seq
            continue
        await news.growth(after, beat)
        if news.last <= after:
            yield ": beat\n\n"


def _page(store: Store, after: int, sight: Sight) -> tuple[list[Entry], str]:
    """Some entries, and what of them is sent."""
    entries = store.entries(after, 0, PAGE)
    return entries, "".join(map(_framed, sight.documents(map(event_document, entries))))


def _framed(document: dict[str, Any]) -> str:
    return f"id: {document['seq']}\nevent: {document['kind']}\ndata: {json.dumps(document, separators=(',', ':'))}\n\n"

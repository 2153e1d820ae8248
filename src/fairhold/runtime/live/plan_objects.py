"""The plan as an object of the cluster: each new generation is put in force, and the object says what became of it.

A generation is put in force once. Where another plan was applied since, that one stays until the object changes.
"""

from __future__ import annotations

import logging
import threading
import time
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.engines.kubernetes.api import ApiError
from fairhold.engines.kubernetes.custom_resources import PLANS, text_of
from fairhold.engines.kubernetes.leader import Fenced, Unfenced
from fairhold.engines.kubernetes.repeating import Again, Repeating
from fairhold.engines.kubernetes.watching import Watcher
from fairhold.engines.kubernetes.writes import MERGE
from fairhold.errors import Fault, InputError
from fairhold.planio.document import parse_document
from fairhold.planio.plan import parse_plan
from fairhold.ports import StoreError, StoreWaits
from fairhold.runtime.live.auditing import Deed
from fairhold.runtime.live.led import check_leads
from fairhold.runtime.live.plan_status import Outcome, is_said, status_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairhold.engines.kubernetes.api import Api
    from fairhold.engines.kubernetes.leader import Fence, Leader
    from fairhold.model.plan import Plan
    from fairhold.ports import PlanVersion
    from fairhold.runtime.live.core import Core
    from fairhold.runtime.live.desk import Desk

Document = dict[str, Any]
KEPT = "plan-object"
"""In the store: the text of the generation that was put in force last."""
RETRY = 30.0
"""Seconds after which a plan that did not fit what is there, or a status that was not written, is tried again."""
_ENDING = {"stopping", "failed"}
"""Refusals of a service that ends."""
_PAUSE = 0.5
"""Seconds between two looks, at least."""
_LOG = logging.getLogger("fairhold")


class FirstPlan(NamedTuple):
    """The plan of a service that has none yet. name: how it is called."""

    text: str
    name: str
    author: str


def title_of(document: Mapping[str, Any]) -> str:
    """A generation of an object as versions of plans show it."""
    meta = document["metadata"]
    return f"Plan {meta['name']} generation {meta['generation']}"


def author_of(document: Mapping[str, Any]) -> str:
    """Who changed an object last, but for its status."""
    entries = document["metadata"].get("managedFields") or ()
    managers = [(each.get("time") or "", each.get("manager") or "") for each in entries if not each.get("subresource")]
    return max(reversed(managers), key=lambda each: each[0], default=("", ""))[1] or "kubernetes"


class PlanObject:
    """Follows one object in threads of its own.

    now : the time, as the service tells it
    """

    def __init__(self, api: Api, name: str, desk: Desk, now: Callable[[], int], fence: Fence) -> None:
        self.name = name
        self._desk, self._store, self._now = desk, desk.core.store, now
        self._document: Document | None = None
        self._was_seen = False
        self._outcome = Outcome()
        self._compared: tuple[tuple[int, int], bool] = ((0, 0), True)
        self._decided: tuple[str, int] | None = None
        self._retry_at: float | None = None
        self._complaint = ""
        self._watcher = Watcher(api, "plans", PLANS, self, fieldSelector=f"metadata.name={name}")
        self._thread = Repeating("plan object", self._act)
        self._changes = Fenced(api, fence, self._thread.is_closing)

    def start(self) -> None:
        """Begin to follow; the object need not be there."""
        self._desk.listeners.append(lambda _: self._thread.wake())
        self._watcher.start()
        self._thread.start()

    def close(self) -> None:
        """Stop; the plan in force stays."""
        self._thread.is_closing.set()
        self._watcher.close()
        self._thread.close(5.0)

    # As the watcher knows it; in its thread

    def seen(self, kind: str, document: Mapping[str, Any]) -> None:
        """The object is there, or has changed."""
        del kind
        self._document, self._was_seen = dict(document), True
        self._thread.wake()

    def gone(self, kind: str, document: Mapping[str, Any]) -> None:
        """The object was deleted."""
        del kind, document
        self._document = None
        _LOG.warning("the Plan %s was deleted: the plan in force stays", self.name)

    def listed(self, kind: str, documents: Sequence[Mapping[str, Any]]) -> None:
        """Whether it is there."""
        if documents:
            return
        if self._document is not None:
            self.gone(kind, self._document)
        elif not self._was_seen:
            self._complain(f"there is no Plan {self.name} yet: the plan in force stays until there is")

    def went_back(self, kind: str) -> None:
        """What is seen next counts."""

    def fresh(self, kind: str) -> None:
        """Nothing is to be done."""

    def stale(self, kind: str, why: ApiError) -> None:
        """The API server does not tell any more, or has no such kind."""
        del kind
        self._complain(_missing(why) or f"the Plan {self.name} cannot be read: {why}")

    def _complain(self, what: str) -> None:
        """Once, however often it is so."""
        if what != self._complaint:
            _LOG.warning("%s", what)
            self._complaint = what

    # In the thread

    def _act(self) -> Again:
        self._look()
        return Again(_PAUSE, None if self._retry_at is None else max(0.0, self._retry_at - time.monotonic() - _PAUSE))

    def _look(self) -> None:
        """Put a new generation in force, and say what became of it."""
        document = self._document
        if document is None:
            return
        meta = document["metadata"]
        generation = (meta["uid"], meta["generation"])
        is_due = self._retry_at is not None and self._retry_at <= time.monotonic()
        if self._decided != generation or (is_due and self._outcome.faults):
            self._retry_at = None
            try:
                self._outcome = self._decide(document)
            except StoreError as error:
                self._complain(f"{title_of(document)} is not in force yet: {error}")
                self._retry_at = time.monotonic() + RETRY
                return
            self._decided = generation
        elif is_due:
            self._retry_at = None
        self._say(document)

    def _decide(self, document: Document) -> Outcome:
        """What becomes of a generation. Raises StoreError where there is no room."""
        text, name = text_of(document), title_of(document)
        try:
            plan = parse_plan(text, name, places=True)[0]
        except InputError as error:
            _LOG.warning("%s is faulty, and the plan in force stays: %s", name, error.faults[0])
            return Outcome(error.faults, is_plan=False)

        def put(core: Core) -> bool:
            return _put(core, text, plan, (author_of(document), name))

        try:
            if self._desk.write(put).result():
                _LOG.info("%s is in force", name)
        except InputError as error:
            if error.faults[0].code in _ENDING:
                raise StoreError(str(error)) from error
            self._complain(f"{name} cannot be put in force: {error.faults[0]}")
            self._retry_at = time.monotonic() + RETRY
            return Outcome(error.faults)
        except StoreWaits as error:
            if not error.is_kept:
                raise
        return Outcome()

    def _say(self, document: Document) -> None:
        """Write the status where it is another."""
        if self._thread.is_closing.is_set():
            return
        plan = self._store.plan()
        outcome = self._outcome
        if not outcome.faults and plan is not None:
            compared = (plan.version, document["metadata"]["generation"])
            if self._compared[0] != compared:
                self._compared = (compared, is_same(plan, text_of(document)))
            outcome = outcome._replace(in_force=self._compared[1])
        status = status_of(document, outcome, plan, self._now())
        if is_said(document, status):
            return
        try:
            write_status(self._changes, document, status)
        except ApiError as error:
            if error.status not in {HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT}:  # of another object the watch tells
                self._complain(f"the status of the Plan {self.name} is not written: {error}")
                self._retry_at = self._retry_at or time.monotonic() + RETRY


def _put(core: Core, text: str, plan: Plan, said: tuple[str, str]) -> bool:
    """Put a plan in force, unless it is, or was and another has taken its place since. said: author and comment."""
    latest, before = core.store.plan(), core.store.meta().get(KEPT)
    is_new = text != before and not (latest is not None and is_same(latest, text))
    if is_new:
        number = core.apply_plan(text, *said, core.version, plan=plan)
        core.audit.note(Deed(said[0], "plan object", "kubernetes", "apply", f"plan {number}"), core.now())
    if text != before:
        core.journal.write(lambda batch: batch.put_meta(KEPT, text))
    return is_new


def is_same(latest: PlanVersion, text: str) -> bool:
    """Whether a plan that was applied says what a text says; in which order keys come does not count."""
    if latest.text == text:
        return True
    with suppress(InputError):
        return parse_document(latest.text, "").value == parse_document(text, "").value
    return False


def write_status(changes: Fenced, document: Mapping[str, Any], status: Document) -> None:
    """Write a status at an object as it was seen; ApiError where it has changed since."""
    meta = document["metadata"]
    body = {"metadata": {key: meta[key] for key in ("uid", "resourceVersion")}, "status": status}
    changes.request("PATCH", f"{PLANS}/{meta['name']}/status", body, MERGE)


def _missing(error: ApiError) -> str:
    """What is said where the cluster does not know the kind; empty where it does."""
    if error.status != HTTPStatus.NOT_FOUND:
        return ""
    return "the cluster has no kind Plan of fairhold.io: `fairhold kubernetes manifest` prints its definition"


def first_plan(
    api: Api, name: str, now: Callable[[], int], tell: Callable[[str], None], leader: Leader | None
) -> FirstPlan:
    """Wait for an object that is a plan.

    tell : is given a line for people whenever there is something else to wait for
    leader : who waits, None = there is no lease
    Raises ApiError where the API server refuses, LeadershipLostError.
    """
    told, changes = "", Fenced(api, leader or Unfenced(), threading.Event())
    while True:
        if leader is not None:
            check_leads(leader)
        line = ""
        try:
            document = api.request("GET", f"{PLANS}/{name}")
            found = _first_of(changes, document, now)
            if isinstance(found, FirstPlan):
                return found
            line = f"{title_of(document)} is faulty; waiting for another: {found}"
        except ApiError as error:
            if error.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
                raise
            line = _waited_for(api, name, error)
        if line != told:
            tell(line)
            told = line
        time.sleep(1.0)


def _first_of(changes: Fenced, document: Document, now: Callable[[], int]) -> FirstPlan | Fault:
    """The plan of an object, or the first fault of it, once they are said there."""
    text, title = text_of(document), title_of(document)
    try:
        parse_plan(text, title, places=True)
    except InputError as error:
        status = status_of(document, Outcome(error.faults, is_plan=False), None, now())
        if not is_said(document, status):
            write_status(changes, document, status)
        return error.faults[0]
    return FirstPlan(text, title, author_of(document))


def _waited_for(api: Api, name: str, error: ApiError) -> str:
    """What a service without a plan waits for."""
    if error.status != HTTPStatus.NOT_FOUND:
        return f"waiting for the Plan {name}: {error}"
    try:
        api.request("GET", PLANS, limit="1")
    except ApiError as other:
        return f"waiting for the Plan {name}: {_missing(other) or other}"
    return f"waiting for the Plan {name}: there is no such object yet; make one, as `kubectl apply -f PLAN-OBJECT.yaml`"

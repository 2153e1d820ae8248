"""What jobs run: kept in the store, the latest in memory."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

from fairhold.model.spec import Spec

if TYPE_CHECKING:
    from fairhold.ports import Store
    from fairhold.runtime.live.journal import Journal

_LATEST = 1_000
_STDIN = 64 << 20
"""Bytes of standard input that the specs in memory may have together."""


def spec_document(spec: Spec) -> str:
    """A spec as JSON text; what has its default is left out."""
    document = {
        "consumer": spec.consumer,
        "argv": spec.argv,
        "environment": dict(spec.environment),
        "directory": spec.directory,
        "stdin": b64encode(spec.stdin).decode(),
        "time_limit": spec.time_limit,
        "memory": spec.memory,
        "notice": spec.notice,
        "lead": spec.lead,
        "user": spec.user,
        "account": spec.account,
        "name": spec.name,
        "labels": dict(spec.labels),
    }
    return json.dumps({key: value for key, value in document.items() if value}, separators=(",", ":"))


def spec_of(text: str) -> Spec:
    """The spec of a JSON text."""
    fields = json.loads(text)
    fields["argv"] = tuple(fields["argv"])
    if "stdin" in fields:
        fields["stdin"] = b64decode(fields["stdin"])
    return Spec(**fields)


class Specs:
    """Specs by job; any thread may ask."""

    def __init__(self, store: Store, journal: Journal) -> None:
        self._store = store
        self._journal = journal
        self._latest: OrderedDict[str, Spec] = OrderedDict()
        self._stdin = 0
        self._lock = Lock()

    def remember(self, job: str, spec: Spec) -> None:
        """Keep a spec in memory for a while."""
        with self._lock:
            before = self._latest.pop(job, None)
            self._latest[job] = spec
            self._stdin += len(spec.stdin) - (len(before.stdin) if before else 0)
            while len(self._latest) > _LATEST or (self._stdin > _STDIN and len(self._latest) > 1):
                self._stdin -= len(self._latest.popitem(last=False)[1].stdin)

    def of(self, job: str) -> Spec | None:
        """What a job runs; None where nobody knows any more."""
        with self._lock:
            spec = self._latest.get(job)
        if spec is None:
            text = self._journal.specs.get(job) or self._store.spec(job)
            if text is None:
                return None
            spec = spec_of(text)
            self.remember(job, spec)
        return spec

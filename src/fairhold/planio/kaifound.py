"""What is found in files of KAI-Scheduler, each with its code, its document and its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.errors import Fault
from fairhold.planio.report import kind

if TYPE_CHECKING:
    from fairhold.errors import Place
    from fairhold.planio.document import Document
    from fairhold.planio.values import Value

FINDINGS = {
    "kai-no-object": "a value is not a KAI object",
    "kai-no-kind": "an object has a kind that is misspelt",
    "kai-no-mapping": "KAI expects a mapping here",
    "kai-no-text": "KAI expects text here",
    "kai-no-duration": "KAI expects a duration here",
    "kai-no-name": "a queue of KAI has no name",
    "kai-queue-twice": "two queues of KAI have one name",
    "kai-no-resources": "a queue of KAI states no resources",
    "kai-resource-missing": "a queue of KAI leaves a resource out, so that its limit is 0",
    "kai-limit-missing": "a limit is left out, which KAI reads as 0",
    "kai-quota-above-limit": "a quota of KAI is above the limit beside it",
    "kai-no-number": "KAI expects a number here",
    "kai-negative": "a number for KAI is below 0 and not -1",
    "kai-key-not-read": "KAI does not read a key",
    "kai-no-parent": "the parent of a queue of KAI is not there",
    "kai-parent-loop": "a KAI queue is its own ancestor",
    "kai-unlimited-twice": "two siblings in KAI both have all of a resource as their quota",
    "kai-children-above": "quotas of children in KAI are above their parent's",
    "kai-no-weight": "a weight is 0 or left out, so that KAI gives no surplus",
    "kai-no-queue": "work for KAI names a queue that is not there",
    "kai-work-in-parent": "work for KAI names a queue with children, where it never starts",
    "kai-fixed-without-quota": "work for KAI is not preemptible, and its queue has no quota",
}
"""Code → what it says; `docs/reference/lint.md` explains each."""


class Found:
    """Findings in several documents."""

    def __init__(self) -> None:
        self._found: list[tuple[Document, Fault]] = []

    def tell(self, document: Document, place: Place, code: str, what: str, mend: str) -> None:
        """One more."""
        self._found.append((document, Fault(code, what, mend, place)))

    def mapping(self, document: Document, place: Place, value: dict[str, Value], key: str) -> dict[str, Value]:
        """The value of a key, empty where it is not a mapping."""
        stated = value.get(key)
        if stated is not None and not isinstance(stated, dict):
            what = f"expected a mapping, found {kind(stated)}"
            self.tell(document, (*place, key), "kai-no-mapping", what, f"write `{key}: {{…}}`")
        return mapping(stated)

    def located(self) -> tuple[Fault, ...]:
        """All of them, by file and line."""
        by_document: dict[int, tuple[Document, list[Fault]]] = {}
        for document, fault in self._found:
            by_document.setdefault(id(document), (document, []))[1].append(fault)
        found = [fault for document, faults in by_document.values() for fault in document.locate(faults)]
        return tuple(sorted(found, key=lambda fault: (fault.file, fault.line, fault.column, fault.code)))


def mapping(value: Value) -> dict[str, Value]:
    """A value, empty where it is not a mapping."""
    return value if isinstance(value, dict) else {}

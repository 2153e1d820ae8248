"""Queue files of KAI-Scheduler, read with KAI's own defaults: what they say that their author may not mean.

In them a number that is left out is 0: a limit of nothing, a weight of no surplus. Nothing is imported here; every
finding has its place and what to write. What one queue says: `kaiqueues`; work: `kaiwork`; what all say: `kaitogether`.
"""

from __future__ import annotations

from collections import Counter
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from fairhold.errors import InputError
from fairhold.planio.document import parse_document
from fairhold.planio.kaifound import Found
from fairhold.planio.kaiplaces import places_of
from fairhold.planio.kaiqueues import read_queue
from fairhold.planio.kaitogether import Together
from fairhold.planio.kaiwork import read_work
from fairhold.planio.report import kind, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from fairhold.errors import Fault, Place
    from fairhold.planio.document import Document
    from fairhold.planio.kaiqueues import Queue
    from fairhold.planio.kaiwork import Work
    from fairhold.planio.values import Value

KINDS = ("Queue", "SchedulingShard", "PodGroup", "Pod")
"""Kinds of objects that are looked at."""
MULTIPLIER, MULTIPLIER_READ = "reclaimerUtilizationMultiplier", "relcaimerSaturationMultiplier"


class Linted(NamedTuple):
    """What files say.

    findings : by file and line
    objects  : how many were looked at
    unread   : faults of files, or documents in them, that could not be read; what they say counts as not there
    """

    findings: tuple[Fault, ...]
    objects: int
    unread: tuple[Fault, ...]


class KaiFiles:
    """Everything that files say together, and what was found in them."""

    def __init__(self) -> None:
        self.queues: dict[str, Queue] = {}
        self.work: list[Work] = []
        self.unread: list[Fault] = []
        self._found = Found()
        self._objects: Counter[str] = Counter()

    def read(self, text: str, name: str) -> None:
        """Read all documents of a text; those that are not YAML or JSON are kept under `unread`."""
        for part in documents(text):
            try:
                document = parse_document(part, name)
            except InputError as error:
                self.unread += error.faults
                continue
            value = document.value
            items = value.get("items") if isinstance(value, dict) and value.get("kind") == "List" else None
            if isinstance(items, list):
                for at, item in enumerate(items):
                    self._object(document, ("items", at), item)
            else:
                self._object(document, (), value)

    def linted(self) -> Linted:
        """All that was found."""
        for document, fault in Together(self.queues, self.work).findings():
            self._found.tell(document, fault.place, fault.code, fault.what, fault.mend)
        return Linted(self._found.located(), self._objects.total(), tuple(self.unread))

    # --- one object

    def _object(self, document: Document, place: Place, value: Value) -> None:
        if value is None:
            return
        if not isinstance(value, dict):
            what = f"expected an object, found {kind(value)}"
            self._found.tell(document, place, "kai-no-object", what, "leave it out")
            return
        name = value.get("kind")
        if not isinstance(name, str) or name == "List":
            what = (
                "a list of objects has no `items`"
                if name == "List"
                else "this is not a Kubernetes object: it has no `kind`"
            )
            self._found.tell(document, place, "kai-no-object", what, "give files as `kubectl get -o yaml` prints them")
            return
        self._objects[name] += 1
        if name == "Queue":
            self._queue(document, place, value)
        elif name == "SchedulingShard":
            self._shard(document, place, value)
        elif name in {"PodGroup", "Pod"}:
            self._pods(document, place, value)
        elif near := get_close_matches(name, KINDS, n=1, cutoff=0.75):
            what = f"there is no kind `{shown(name)}`"
            self._found.tell(document, (*place, "kind"), "kai-no-kind", what, f"did you mean `{near[0]}`?")

    def _queue(self, document: Document, place: Place, value: dict[str, Value]) -> None:
        queue = read_queue(self._found, document, place, value)
        if queue is None:
            return
        if queue.name in self.queues:
            what = f"there are two queues `{shown(queue.name)}`, and the later one holds"
            self._found.tell(document, (*place, "metadata", "name"), "kai-queue-twice", what, "leave one out")
        self.queues[queue.name] = queue

    def _shard(self, document: Document, place: Place, value: dict[str, Value]) -> None:
        """The multiplier of reclaim is read by another name than the documentation has."""
        for at in places_of(value, MULTIPLIER):
            what = f"KAI does not read `{MULTIPLIER}`: its code looks for `{MULTIPLIER_READ}`"
            self._found.tell(document, (*place, *at), "kai-key-not-read", what, f"write `{MULTIPLIER_READ}`, too")

    def _pods(self, document: Document, place: Place, value: dict[str, Value]) -> None:
        work = read_work(document, place, value)
        if work is not None:
            self.work.append(work)


def documents(text: str) -> Iterator[str]:
    """The documents of a stream, each with as many empty lines before it as stand above it."""
    lines = text.splitlines(keepends=True)
    begin = 0
    for at, line in enumerate([*lines, "---"]):
        if line.rstrip() == "---" or line.startswith("--- "):
            part = "".join(lines[begin:at])
            if any(each.strip() and not each.lstrip().startswith("#") for each in lines[begin:at]):
                yield "\n" * begin + part
            begin = at + 1


def lint_kai(texts: Iterable[tuple[Callable[[], str], str]]) -> Linted:
    """What files say; of each what reads its text, and its name."""
    files = KaiFiles()
    for text, name in texts:
        try:
            files.read(text(), name)
        except InputError as error:
            files.unread += error.faults
    return files.linted()

"""What queues and work for KAI-Scheduler say together, in however many files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.errors import Fault
from fairhold.planio.kaiqueues import RESOURCES, UNLIMITED, amount_of
from fairhold.planio.report import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from fairhold.planio.document import Document
    from fairhold.planio.kaiqueues import Queue
    from fairhold.planio.kaiwork import Work


class Together:
    """Queues by name, and work in them."""

    def __init__(self, queues: Mapping[str, Queue], work: Sequence[Work]) -> None:
        self.queues, self.work = queues, work

    def findings(self) -> Iterator[tuple[Document, Fault]]:
        """Document and finding."""
        children: dict[str, list[Queue]] = {}
        for queue in self.queues.values():
            if queue.parent and queue.parent not in self.queues:
                what = f"there is no queue `{shown(queue.parent)}`: KAI drops `{shown(queue.name)}` and all below it"
                place = (*queue.place, "spec", "parentQueue")
                yield queue.document, Fault("kai-no-parent", what, "add the parent, or name another", place)
            children.setdefault(queue.parent, []).append(queue)
            if queue.name in self._above(queue)[1:]:
                what = f"`{shown(queue.name)}` is its own ancestor, so KAI never reaches it"
                place = (*queue.place, "spec", "parentQueue")
                yield queue.document, Fault("kai-parent-loop", what, "name another parent, or none", place)
        for parent, mine in children.items():
            for resource in RESOURCES:
                yield from self._siblings(parent, mine, resource)
        for queue in self.queues.values():
            yield from self._weights(queue, is_parent=queue.name in children)
        for work in self.work:
            yield from self._worked(work, children)

    def _above(self, queue: Queue) -> list[str]:
        """A queue and those above it; where that is a loop, up to the first that comes again."""
        found = [queue.name]
        while queue.parent in self.queues and queue.parent not in found:
            queue = self.queues[queue.parent]
            found.append(queue.name)
        return [*found, queue.parent] if queue.parent in found else found

    def _siblings(self, parent: str, mine: list[Queue], resource: str) -> Iterator[tuple[Document, Fault]]:
        quotas = [queue.numbers.get(resource, (0.0, 0.0, 0.0))[0] for queue in mine]
        unlimited = [queue for queue, quota in zip(mine, quotas, strict=True) if quota == UNLIMITED]
        is_meant = resource != "gpu" and len(unlimited) == len(mine)  # nobody counts it: KAI's own examples do so
        for queue in () if is_meant else unlimited[1:]:
            what = f"`{shown(unlimited[0].name)}` and `{shown(queue.name)}` both have all of {resource} as their quota"
            place = (*queue.place, "spec", "resources", resource, "quota")
            yield queue.document, Fault("kai-unlimited-twice", what, "give one of them a number", place)
        if parent not in self.queues:
            return
        above = self.queues[parent]
        most = above.numbers.get(resource, (0.0, 0.0, 0.0))[0]
        total = sum(quota for quota in quotas if quota > 0)
        if most != UNLIMITED and (total > most or unlimited):
            said = "have all" if unlimited else f"have {amount_of(total)}"
            what = (
                f"the quotas of its children {said} of {resource} together, and `{shown(parent)}` has {amount_of(most)}"
            )
            place = (*above.place, "spec", "resources", resource)
            yield above.document, Fault("kai-children-above", what, "raise its quota, or lower theirs", place)

    def _without(self, name: str, resources: Iterable[str]) -> list[str]:
        """Resources of which nothing is a queue's for sure."""
        numbers = self.queues[name].numbers
        return [each for each in resources if not numbers.get(each, (0.0, 0.0, 0.0))[0]]

    def _weights(self, queue: Queue, *, is_parent: bool) -> Iterator[tuple[Document, Fault]]:
        for resource, (_, weight, limit) in queue.numbers.items():
            if weight or limit == 0:
                continue
            whom = f"neither `{shown(queue.name)}` nor any queue below it" if is_parent else f"`{shown(queue.name)}`"
            verb = "gets" if is_parent else "gets no"
            any_ = "any " if is_parent else ""
            what = f"the weight of {resource} is 0 or left out: {whom} {verb} {any_}surplus of it"
            place = (*queue.place, "spec", "resources", resource)
            yield queue.document, Fault("kai-no-weight", what, "write `overQuotaWeight: 1` if that is not meant", place)

    def _worked(self, work: Work, children: dict[str, list[Queue]]) -> Iterator[tuple[Document, Fault]]:
        queue = self.queues.get(work.queue)
        if queue is None:
            what = f"there is no queue `{shown(work.queue)}`"
            yield work.document, Fault("kai-no-queue", what, "add the queue, or name another", (*work.place, "spec"))
        elif work.queue in children:
            what = f"`{shown(work.queue)}` has queues below it: KAI counts this work there and never starts it"
            yield (
                work.document,
                Fault("kai-work-in-parent", what, "name a queue without children", (*work.place, "spec")),
            )
        elif work.is_fixed and (none := [name for name in self._above(queue) if self._without(name, work.asks)]):
            which = ", ".join(self._without(none[0], work.asks))
            what = f"this work is not preemptible, and the quota of {which} of `{shown(none[0])}` is 0"
            mend = "give the queue a quota, or write `preemptibility: preemptible`"
            yield work.document, Fault("kai-fixed-without-quota", what, mend, (*work.place, "spec"))

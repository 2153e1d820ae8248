"""Work for KAI-Scheduler as it stands in a file: a pod group, or a pod."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.planio.kaifound import mapping
from fairhold.planio.kaiqueues import RESOURCES

if TYPE_CHECKING:
    from fairhold.errors import Place
    from fairhold.planio.document import Document
    from fairhold.planio.values import Value

FIXED_CLASSES = ("build", "inference")
"""Priority classes of 100 and above: pods of them are not preemptible unless they say so."""
BORDER = 100


@dataclass
class Work:
    """A pod group or pod: its queue, and whether it says or means that it is never taken back.

    asks : resources that its containers ask for; all where it does not say
    """

    queue: str
    is_fixed: bool
    asks: tuple[str, ...]
    document: Document
    place: Place


def read_work(document: Document, place: Place, value: dict[str, Value]) -> Work | None:
    """A pod group or pod, None where it names no queue."""
    metadata, spec = mapping(value.get("metadata")), mapping(value.get("spec"))
    queue = spec.get("queue", mapping(metadata.get("labels")).get("kai.scheduler/queue"))
    said, priority = spec.get("preemptibility"), spec.get("priorityClassName")
    number = spec.get("priority")
    is_high = priority in FIXED_CLASSES or (type(number) is int and number >= BORDER)
    if not isinstance(queue, str):
        return None
    is_fixed = said == "non-preemptible" if said else is_high
    return Work(queue, is_fixed, _asked(metadata, spec), document, place)


def _asked(metadata: dict[str, Value], spec: dict[str, Value]) -> tuple[str, ...]:
    """Resources that the containers of a pod ask for; all where none says so."""
    containers = spec.get("containers")
    notes = mapping(metadata.get("annotations"))
    names = {"gpu"} if "gpu-fraction" in notes or "gpu-memory" in notes else set()
    for each in containers if isinstance(containers, list) else ():
        stated = mapping(mapping(each).get("resources"))
        for key in ("requests", "limits"):
            names |= {name.rpartition("/")[2] for name in mapping(stated.get(key))}
    return tuple(each for each in RESOURCES if each in names) or RESOURCES

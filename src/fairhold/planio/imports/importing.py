"""Texts of queue objects → the text of a plan, read back before anybody sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.errors import Fault, InputError
from fairhold.planio.imports.kai import read_queues
from fairhold.planio.imports.kai_plan import kai_draft
from fairhold.planio.imports.kueue import read_kueue
from fairhold.planio.imports.kueue_plan import kueue_draft
from fairhold.planio.imports.nodes import read_nodes
from fairhold.planio.imports.objects import NODE, SYSTEMS, read_objects
from fairhold.planio.imports.stream import read_parts
from fairhold.planio.plan import parse_plan
from fairhold.planio.report import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fairhold.planio.imports.draft import Draft
    from fairhold.planio.imports.nodes import Node
    from fairhold.planio.imports.objects import KubernetesObject
    from fairhold.planio.imports.stream import Part

NAMES = tuple(system.name for system in SYSTEMS)


class Imported(NamedTuple):
    """What an import gives.

    text     : of the plan, with the notes as comments
    notes    : what is not carried over, or is in another way, by file and line
    warnings : of the plan
    """

    text: str
    notes: tuple[Fault, ...]
    warnings: tuple[Fault, ...]


def import_plan(name: str, texts: Iterable[tuple[Callable[[], str], str]], target: str) -> Imported:
    """The plan of all objects of a system in some texts.

    name   : of the system
    texts  : of each what reads it, and its name
    target : name of the plan, as warnings about it show it

    Raises InputError with all faults.
    """
    system = next(each for each in SYSTEMS if each.name == name)
    parts, faults = _read(texts)
    objects = [found for part in parts for found in read_objects(part.report, system)]
    nodes = read_nodes(found for found in objects if found.kind == NODE[0])
    make = _READERS[name]([found for found in objects if found.kind != NODE[0]], nodes)
    _refuse(parts, faults)
    draft = make()
    _refuse(parts, faults)
    if draft is None:
        files = {part.report.document.name for part in parts}
        what = f"there is no {_WITH_QUOTAS[name]} in what was read"
        mend = f"give the files of its {listed(system.versions)}"
        raise InputError([Fault("import-nothing", what, mend, file=files.pop() if len(files) == 1 else "")])
    notes = (*_sorted(note for part in parts for note in part.notes()), *draft.assumed)
    text = draft.text(notes)
    return Imported(text, notes, parse_plan(text, target)[1])


def _read(texts: Iterable[tuple[Callable[[], str], str]]) -> tuple[list[Part], list[Fault]]:
    parts: list[Part] = []
    faults: list[Fault] = []
    for text, name in texts:
        try:
            found, wrong = read_parts(text(), name)
        except InputError as error:
            faults += error.faults
        else:
            parts += found
            faults += wrong
    return parts, faults


def _refuse(parts: Iterable[Part], others: Iterable[Fault]) -> None:
    """Raise InputError where there are faults."""
    faults = [*others, *(fault for part in parts for fault in part.faults())]
    if faults:
        raise InputError(_sorted(faults))


def _sorted(faults: Iterable[Fault]) -> list[Fault]:
    return sorted(faults, key=lambda fault: (fault.file, fault.line, fault.column))


def _kai(objects: Sequence[KubernetesObject], nodes: Sequence[Node]) -> Callable[[], Draft | None]:
    queues, paths = read_queues(objects)
    return lambda: kai_draft(queues, paths, nodes) if queues else None


def _kueue(objects: Sequence[KubernetesObject], nodes: Sequence[Node]) -> Callable[[], Draft | None]:
    kueue = read_kueue(objects, has_hosts=bool(nodes))
    return lambda: kueue_draft(kueue, nodes)


_READERS = {"kai": _kai, "kueue": _kueue}
"""System → what reads its objects and gives what makes a draft of them, None where they have no quotas."""
_WITH_QUOTAS = {"kai": "`Queue` of KAI-Scheduler", "kueue": "`ClusterQueue` or `Cohort` of Kueue that has a quota"}

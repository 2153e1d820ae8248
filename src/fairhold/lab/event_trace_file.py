"""The file of a recorded event trace: a line for everything that came from outside, as JSON arrays."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any, get_args

from fairhold.errors import Fault, InputError
from fairhold.lab.rebuilding import UNREADABLE, damaged
from fairhold.model.siting import siting_of
from fairhold.orchestrator.events import Dependency, Event, Exit, JobSubmitted, MachineReported, Outcome, TaskEnded
from fairhold.planio.nodes import nodes_document, nodes_of
from fairhold.planio.plan import read_plan
from fairhold.planio.report import shown
from fairhold.sim.event_trace import (
    Began,
    Cycled,
    EventTrace,
    Line,
    NodesChanged,
    Replanned,
    ServiceClosing,
    ServiceStarted,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    Document = dict[str, Any]

VERSION = 1
_HAPPENINGS = (Began, Cycled, ServiceClosing, ServiceStarted)
_KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in (*get_args(Event), *_HAPPENINGS)}
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def story_lines(event_trace: EventTrace, plan_names: Iterator[str], head: Mapping[str, Any]) -> Iterator[str]:
    """The lines of the file; plan_names: of the files of later plans, in order; head: more that its first line says."""
    first = {
        "fairhold_record": VERSION,
        "begin": event_trace.begin,
        "end": event_trace.end,
        "own": event_trace.own,
        "has_cycles": event_trace.has_cycles,
        "lines": len(event_trace.lines),
        "quotas": {group: list(quota) for group, quota in event_trace.quotas.items()},
        **({"nodes": nodes_document(event_trace.nodes)} if event_trace.nodes else {}),
        **({"is_observing": True} if event_trace.is_observing else {}),
    }
    yield _encode({**first, **head}) + "\n"
    for line in event_trace.lines:
        what = line.what
        if isinstance(what, Replanned):
            windows = {group: list(entries) for group, entries in what.windows.items()}
            said: Document = {"plan": next(plan_names), "moved": dict(what.moved), "windows": windows}
        elif isinstance(what, NodesChanged):
            windows = {group: list(entries) for group, entries in what.windows.items()}
            said = {"nodes": nodes_document(what.nodes), "windows": windows}
        else:
            said = {each.name: _plain(getattr(what, each.name)) for each in fields(what)}
            plain = {each.name: _plain(each.default) for each in fields(what)}
            said = {name: value for name, value in said.items() if value != plain[name]}
        for name in ("after_notice", "after_stop"):
            if (value := getattr(line, name)) is not None:
                said[name] = value
        yield _encode([line.at, type(what).__name__, said]) + "\n"


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever an event holds
    return value.value if isinstance(value, Outcome) else value


def read_story(path: Path, decided: tuple[str, ...] = ()) -> tuple[EventTrace, Document]:
    """The event trace of a file, and what its first line says; names of other files start in its folder.

    Raises InputError: `record-damaged` with its line, `record-version`.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        what = f"the record cannot be read: {getattr(error, 'strerror', None) or error}"
        raise InputError([Fault("cannot-read", what, "name a file of `fairhold record`", file=str(path))]) from error
    rows = text.splitlines()
    if not rows:
        raise damaged(str(path), "the record is empty")
    head = _guarded(path, 1, lambda: dict(json.loads(rows[0])))
    if head.get("fairhold_record") != VERSION:
        what = f"`fairhold_record` is {head.get('fairhold_record')!r}, and this version of Fairhold reads {VERSION}"
        raise InputError([Fault("record-version", what, "record it again", file=str(path), line=1)])
    lines: list[Line] = []
    for number, row in enumerate(rows[1:], 2):
        line = _guarded(path, number, lambda row=row: _line(json.loads(row), path.parent))  # type: ignore[misc]
        if lines and line.at < lines[-1].at:
            raise damaged(f"{path}:{number}", "this line is earlier than the one above it")
        lines.append(line)
    if head.get("lines", len(lines)) != len(lines):
        what = f"`lines` says that {shown(head['lines'])} lines follow, and there are {len(lines)}"
        mend = "restore it, or record it again; if you changed lines by hand, correct the number"
        raise InputError([Fault("record-damaged", what, mend, file=str(path), line=1)])
    state = head.get("state")
    document = None if state is None else _guarded(path, 1, lambda: json.loads((path.parent / state).read_text()))
    return _guarded(path, 1, lambda: _event_trace(head, document, tuple(lines), decided)), head


def _event_trace(
    head: Document, state: Document | None, lines: tuple[Line, ...], decided: tuple[str, ...]
) -> EventTrace:
    return EventTrace(
        *(str(head["own"]), int(head["begin"]), int(head["end"]), state, lines, decided, bool(head["has_cycles"])),
        quotas={group: tuple(map(int, quota)) for group, quota in head.get("quotas", {}).items()},
        nodes={name: node for name, node in nodes_of(head.get("nodes", {})).items() if node is not None},
        is_observing=bool(head.get("is_observing", False)),
    )


def _guarded(path: Path, number: int, work: Callable[[], Any]) -> Any:  # noqa: ANN401
    try:
        return work()
    except OSError as error:
        raise damaged(str(path), f"{error.filename}: {error.strerror}") from error
    except UNREADABLE as error:
        fault = damaged(str(path), f"this line cannot be read: {error}").faults[0]
        raise InputError([Fault(fault.code, fault.what, fault.mend, file=str(path), line=number)]) from error


def _line(row: Any, folder: Path) -> Line:  # noqa: ANN401 - of a file
    at, kind, said = row
    if not isinstance(at, int) or not isinstance(said, dict):
        raise TypeError("a line is an instant, a word and its fields")
    waits = {name: said.pop(name) for name in ("after_notice", "after_stop") if name in said}
    if kind in {"Replanned", "NodesChanged"}:
        windows = {group: tuple(entries) for group, entries in said["windows"].items()}
        if kind == "NodesChanged":
            return Line(at, NodesChanged(nodes_of(said["nodes"]), windows))
        return Line(at, Replanned(read_plan(folder / said["plan"])[0], said["moved"], windows))
    if kind not in _KINDS:
        raise ValueError(f"there is no entry kind {kind!r}")
    said = {name: _tuples(value) for name, value in said.items()}
    if kind == JobSubmitted.__name__:
        said["after"] = tuple(Dependency(*each) for each in said.get("after", ()))
        said["siting"] = siting_of(said.get("siting", ()))
    elif kind == TaskEnded.__name__:
        said["outcome"] = Outcome(said["outcome"])
        said["exit"] = None if said.get("exit") is None else Exit(*said["exit"])
    elif kind == MachineReported.__name__:
        said.pop("held", None)
    return Line(at, _KINDS[kind](**said), **waits)


def _tuples(value: Any) -> Any:  # noqa: ANN401
    return tuple(_tuples(each) for each in value) if isinstance(value, list) else value

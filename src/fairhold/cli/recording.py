"""`record`: makes a scenario of what a live service did."""

from __future__ import annotations

import json
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from fairhold.cli.files import print_json, print_text
from fairhold.cli.live.connection import connect
from fairhold.client import steps
from fairhold.errors import UsageError
from fairhold.lab.rebuilding import Saved
from fairhold.lab.recording import FOR_EVER, record
from fairhold.lab.records import SCENARIO, write_record
from fairhold.lab.sources import StoreSource
from fairhold.orchestrator.events import JobSubmitted, TaskEnded
from fairhold.ports import Entry
from fairhold.store import read_store
from fairhold.units import LAST_INSTANT, format_instant, parse_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from fairhold.cli.live.connection import Connection
    from fairhold.lab.rebuilding import Source
    from fairhold.lab.recording import Record

_PAGE = 5_000
_HEAD = ("seq", "at", "kind")


def run_record(folder: Path, state: Path | None, service: str, since: str, until: str, *, as_json: bool) -> int:
    """Record what a service did, and say what was recorded."""
    begin, end = _instant(since, "--since", 0), _instant(until, "--until", FOR_EVER)
    with _source(state, service) as source:
        found = record(source, begin, end)
    write_record(folder, found)
    if as_json:
        print_json(_document(folder, found))
    else:
        print_text(_words(folder, found))
    return 0


def _instant(text: str, option: str, otherwise: int) -> int:
    if not text:
        return otherwise
    found = parse_instant(text)
    if found is None or not 0 <= found <= LAST_INSTANT:
        raise UsageError(f"`{option}`: `{text}` is not an instant; write it as 2026-01-05T09:00:00Z")
    return found


@contextmanager
def _source(state: Path | None, service: str) -> Iterator[Source]:
    """The store of a directory, or the service that runs."""
    if state is not None:
        with read_store(state.absolute()) as reader:
            yield StoreSource(reader)
        return
    with closing(connect(service)) as connection:
        yield ServiceSource(connection)


def _document(folder: Path, found: Record) -> dict[str, object]:
    event_trace = found.event_trace
    return {
        "scenario": str(folder / SCENARIO),
        "begin": format_instant(event_trace.begin),
        "end": format_instant(event_trace.end),
        "jobs": sum(isinstance(line.what, JobSubmitted) for line in event_trace.lines),
        "ends": sum(isinstance(line.what, TaskEnded) for line in event_trace.lines),
        "changes": len(event_trace.decided),
        "plans": list(found.versions),
        "has_state": event_trace.state is not None,
        "left_out": dict(found.left_out),
        "is_cut": found.is_cut,
    }


def _words(folder: Path, found: Record) -> str:
    said, plans = _document(folder, found), ", ".join(str(each) for each in found.versions)
    lines = [
        f"{said['scenario']}: {said['begin']} to {said['end']}",
        f"jobs: {said['jobs']}, ends of attempts: {said['ends']}, changes: {said['changes']}, plans: {plans}",
    ]
    if found.is_cut:
        lines.append("it begins there, because earlier entries are no longer in the log of the service")
    if found.event_trace.state is not None:
        lines.append("the state at its begin is in state.json")
    lines += [
        f"left out, because a scenario cannot contain it: {what} ({count})" for what, count in found.left_out.items()
    ]
    return "\n".join(lines)


class ServiceSource:
    """The log of a service that runs, over its REST contract."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.name = connection.target.name

    def snapshot(self, until: int) -> Saved | None:
        """The latest that the service kept up to an instant; where the log reaches back to its begin, none."""
        first = self._connection.run(steps.listing("events", {"after": 0, "limit": 1}))["events"]
        if first and first[0]["seq"] == 1 and not until:
            return None
        found = self._connection.run(steps.snapshot(format_instant(until)))
        if found["seq"] is None:
            return None
        at = parse_instant(found["at"])
        assert at is not None, "the service writes instants"
        if at > until and first and first[0]["seq"] == 1:
            return None
        return Saved(found["seq"], at, found["state"])

    def entries(self, after: int) -> Iterable[Entry]:
        """All above a number, page by page."""
        while True:
            page = self._connection.run(steps.listing("events", {"after": after, "limit": _PAGE}))
            for row in page["events"]:
                at = parse_instant(row["at"])
                assert at is not None, "the service writes instants"
                fields = row.get("fields") or [value for name, value in row.items() if name not in _HEAD]
                yield Entry(row["seq"], at, json.dumps([row["kind"], *fields]))
            if not page["events"]:
                return
            after = page["next"]

    def plan(self, version: int) -> str:
        """Text of a version."""
        return str(self._connection.run(steps.plan(version))["text"])

    def is_running(self) -> bool:
        """It answers."""
        return True

"""`windows`: the calendar of a plan."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fairhold.cli.files import moves_table, open_plan, print_text
from fairhold.cli.table import table
from fairhold.errors import UsageError
from fairhold.units import LAST_INSTANT, LONGEST, parse_duration, parse_instant

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.model.plan import Plan
    from fairhold.model.state import State

Document = dict[str, Any]


def print_windows(plan_path: Path, state_path: Path | None, ahead: str, begin: str, *, as_json: bool) -> None:
    """Print the calendar.

    ahead : duration; begin : instant, empty = the state's, or without one now
    """
    from fairhold.cycle.window_preview import calendar_document  # noqa: PLC0415
    from fairhold.planio.state import read_state  # noqa: PLC0415

    span = duration_of(ahead)
    if state_path is not None and begin:
        raise UsageError("with a STATE, the calendar begins at its `now`; leave `--from` out")
    plan = open_plan(plan_path, places=state_path is not None)
    state = None if state_path is None else read_state(state_path, plan, places=True)
    start = begin_of(state, begin)
    document = calendar_document(plan, start, start + span, state)
    if as_json:
        print_text(json.dumps(document, indent=1))
    else:
        print_text(_text(plan, document))


def duration_of(text: str, option: str = "--next") -> int:
    """Microseconds of an option; raises UsageError."""
    span = parse_duration(text)
    if span is None or not 0 < span <= LONGEST:
        raise UsageError(f"`{option} {text}` is not a duration up to 366 days; write it as 14d or 12h")
    return span


def begin_of(state: State | None, text: str) -> int:
    """The instant of a state, or of `--from`, or now; raises UsageError."""
    if state is not None:
        return state.now
    if not text:
        from fairhold.runtime.clock import WallClock  # noqa: PLC0415

        return WallClock().now()
    instant = parse_instant(text)
    if instant is None or not 0 <= instant < LAST_INSTANT:
        raise UsageError(f"`--from {text}` is not an instant; write it as 2026-01-05T09:00:00Z")
    return instant


def windows_text(row: Document) -> str:
    """When a switch is: `Mon 2026-01-05 18:00:00+01:00`."""
    return f"{row['day']} {row['local'].replace('T', ' ')}"


def _text(plan: Plan, document: Document) -> str:
    """The entries in force, the switches, what each kind of them changes, and the reclaims of each."""
    if plan.calendar is None:
        return "no policy entry has a window: the same entries are always in force"
    texts = ["\n".join(f"{group}: {_names(entries)}" for group, entries in document["in_force"].items())]
    switches = document["switches"]
    if not switches:
        return f"{texts[0]}\n\nno switch before {document['to']}"
    leads, has_zone = any("opens" in row for row in switches), plan.time_zone != "UTC"
    rows = [
        (
            *(windows_text(row), *([row["at"]] if has_zone else []), *([row.get("opens")] if leads else [])),
            *(row["resource_group"], _names(row["from"]), _names(row["to"])),
        )
        for row in switches
    ]
    head = (*([plan.time_zone] if has_zone else []), "UTC", *(["window opens"] if leads else []), "group", "from", "to")
    texts.append(table(head, rows, room=0))
    kinds = {(row["resource_group"], _names(row["from"]), _names(row["to"])): row["consumers"] for row in switches}
    for (group, old, new), consumers in kinds.items():
        texts.append(f"{group}, from {old} to {new}:\n{_changes(consumers)}")
    if "reclaims" in switches[0]:
        taken = [{"at": windows_text(row)} | each for row in switches for each in row["reclaims"]]
        title = "Reclaimed at the switches, if demand does not change until then:"
        texts.append(f"{title}\n{moves_table(taken)}" if taken else f"{title} nothing")
    return "\n\n".join(texts)


def _names(entries: list[Document]) -> str:
    return " and ".join(f"policies[{each['entry']}] {each['policy']}" for each in entries)


def _changes(consumers: Document) -> str:
    if not consumers:
        return "no settings change"
    keys = list(dict.fromkeys(key for values in consumers.values() for key in values))
    cells = [
        (path, *(" -> ".join(map(_word, values[key])) if key in values else "=" for key in keys))
        for path, values in consumers.items()
    ]
    return table(("consumer", *keys), cells)


def _word(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_word(each)}" for key, each in value.items())
    if isinstance(value, list) and value and "limit" in value[0]:  # a lend or borrow list
        return ", ".join(f"{peer['consumer']} {_word(peer['limit'])}" for peer in value)
    if isinstance(value, list):
        return "; ".join(map(_word, value)) or "nobody"  # an empty list of them
    return "-" if value is None else str(value)

"""`hosts`, `pause` and `resume`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cli.live.connection import connect
from fairhold.cli.live.printing import clock, fitted, resources_used, say, say_json
from fairhold.client import steps

if TYPE_CHECKING:
    from fairhold.client.exchange import Document

_PLANNED = (("closes", "close_at"), ("empty by", "empty_by"), ("opens", "open_at"))
_HEAD = ("host", "state", "slots", "running", "starting", "refusals", "reason")
_SPARE = ("refusals", "starting", "labels", "slots")
"""Columns that a narrow terminal does without, in this order."""


def list_hosts(service: str, *, as_json: bool) -> None:
    """`hosts`: what each has, how it is, and why it is closed."""
    found = connect(service).run(steps.hosts())
    if as_json:
        say_json(found)
    else:
        rows, head = [_row(host) for host in found["hosts"]], list(_HEAD)
        if all(host.get("resources") for host in found["hosts"]):  # none has slots
            rows, head = [(*row[:2], *row[3:]) for row in rows], [name for name in _HEAD if name != "slots"]
        for name, more in (("used", _used), ("labels", _labels), ("limits", _limits)):
            column = [more(host) for host in found["hosts"]]
            if any(column):
                rows = [(*row[:-1], cell or None, row[-1]) for row, cell in zip(rows, column, strict=True)]
                head.insert(-1, name)
        say(fitted(head, rows, [name for name in _SPARE if name in head]))


def _used(host: Document) -> str:
    return resources_used(host.get("resources") or {})


def _labels(host: Document) -> str:
    return " ".join(host.get("labels") or ())


def _limits(host: Document) -> str:
    """Limits of units that the kernel does not keep on a host."""
    return " ".join(f"{name}:{how}" for name, how in (host.get("enforced") or {}).items() if how != "kernel")


def _row(host: Document) -> tuple[object, ...]:
    groups = {} if host.get("resources") else host.get("resource_groups") or {}
    starting = host.get("starting", 0)
    slots = " ".join(f"{name}:{number}" for name, number in groups.items())
    return (
        host["host"],
        "never seen" if host["state"] == "unseen" else host["state"],
        slots or None,
        host.get("running", 0),
        f"{starting} ({queued} queued)" if (queued := host.get("queued")) else starting,
        host.get("refusals", 0),
        _why(host) or None,
    )


def _why(host: Document) -> str:
    """Why a host starts nothing, and what is planned for it."""
    planned = [f"{word} {clock(host[key])}" for word, key in _PLANNED if host.get(key)]
    unknown = ["the plan has no host of this name"] if host["state"] == "unknown" else []
    silent = [f"since {clock(host['silent_since'])}"] if host["state"] == "silent" and host.get("silent_since") else []
    gone = [f"its lease is over since {clock(host['gone_at'])}: nothing of it runs"] if host.get("gone_at") else []
    return "; ".join([*unknown, *silent, *gone, *([host["reason"]] if host.get("reason") else []), *planned])


def close_host(service: str, host: str, body: Document, *, as_json: bool) -> None:
    """Close a host, now or planned, with its reason."""
    _say_host(connect(service).run(steps.close_host(host, body)), as_json=as_json)


def open_host(service: str, host: str, *, as_json: bool) -> None:
    """Open a host again."""
    _say_host(connect(service).run(steps.open_host(host)), as_json=as_json)


def _say_host(found: Document, *, as_json: bool) -> None:
    if as_json:
        say_json(found)
        return
    why = f" ({_why(found)})" if _why(found) else ""
    running = f", {found['running']} running" if found.get("running") else ""
    say(f"host {found['host']}: {_row(found)[1]}{why}{running}")


def set_paused(service: str, group: str | None, verb: str, body: Document, *, as_json: bool) -> None:
    """`pause` or `resume` the grants and reclaims of a resource group, or of all."""
    connection = connect(service)
    groups = [group] if group is not None else list(connection.run(steps.consumers())["resource_groups"])
    found = [connection.run(steps.pause_group(each, verb, body)) for each in groups]
    if as_json:
        say_json(found)
        return
    for each in found:
        paused = [word for word in ("grants", "reclaims") if each[word]]
        say(
            f"{each['resource_group']}: {' and '.join(paused)} paused"
            if paused
            else f"{each['resource_group']}: goes on"
        )

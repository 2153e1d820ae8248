"""`hosts`, `pause` and `resume`."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from fairhold.cli.live.connection import connect
from fairhold.cli.live.printing import clock, fitted, resources_used, say, say_json, show
from fairhold.client import steps
from fairhold.model.hostnames import fold_counted
from fairhold.model.presence import GONE, SILENT, UNSEEN, presence, presence_in_words
from fairhold.runtime.outlet import tell

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairhold.client.exchange import Document

_PLANNED = (("closes", "close_at"), ("empty by", "empty_by"), ("opens", "open_at"))
_HEAD = ("host", "state", "slots", "running", "starting", "refusals", "reason")
_SPARE = ("refusals", "starting", "labels", "slots")
"""Columns that a narrow terminal does without, in this order."""


def list_hosts(service: str, *, as_json: bool, is_full: bool = False) -> None:
    """`hosts`: what each has, how it is, and why it is closed; full: hosts that are alike stand one by one, too."""
    found = connect(service).run(steps.hosts())
    if as_json:
        say_json(found)
    else:
        say(hosts_in_words(found["hosts"], is_full=is_full))


def hosts_in_words(hosts: Sequence[Document], *, is_full: bool) -> str:
    """A table, under how many hosts are up where not every host is up and has a row of its own."""
    told = [(host, host["host"], 1) for host in hosts] if is_full else list(_folded(hosts))
    rows, head = [(name, *_row(host)[1:]) for host, name, _ in told], list(_HEAD)
    if all(host.get("resources") for host in hosts):  # none has slots
        rows, head = [(*row[:2], *row[3:]) for row in rows], [name for name in _HEAD if name != "slots"]
    for column, more in (("used", _used), ("labels", _labels), ("limits", _limits)):
        cells = [more(host) for host, _, _ in told]
        if any(cells):
            rows = [(*row[:-1], cell or None, row[-1]) for row, cell in zip(rows, cells, strict=True)]
            head.insert(-1, column)
    if len(told) < len(hosts):
        rows = [(row[0], number, *row[1:]) for row, (_, _, number) in zip(rows, told, strict=True)]
        head.insert(1, "hosts")
    listed = fitted(head, rows, [name for name in _SPARE if name in head])
    summary = _summary(hosts, is_folded=len(told) < len(hosts))
    return f"{summary}\n\n{listed}" if summary else listed


def _folded(hosts: Sequence[Document]) -> Iterator[tuple[Document, str, int]]:
    """Hosts that follow one another and are alike as one: the first of them, their names as ranges, how many.

    Only those where nothing runs or starts.
    """

    def alike(each: tuple[int, Document]) -> object:
        place, host = each
        if host.get("running") or host.get("starting"):
            return place
        return (*_row(host)[1:], host.get("resource_groups"), _used(host), _labels(host), _limits(host))

    for _, run in groupby(enumerate(hosts), alike):
        same = [host for _, host in run]
        for name, number in fold_counted(host["host"] for host in same):
            yield same[0], name, number


def _summary(hosts: Sequence[Document], *, is_folded: bool) -> str:
    """`8 of 40 hosts are up; g[09-40] were never seen.`; empty where all are up and each has a row."""
    since = {SILENT: "silent_since", GONE: "gone_at"}
    planned = {host["host"]: host for host in hosts if host["state"] != "unknown"}
    if "-" in planned:
        planned["the service's own"] = planned.pop("-")
    away = {
        name: (host["state"], host.get(since.get(host["state"], "")))
        for name, host in planned.items()
        if host["state"] != "up"
    }
    if away:
        return f"{presence_in_words(presence(planned, away), clock)}."
    return f"{len(planned)} of {len(planned)} hosts are up." if is_folded else ""


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
        "never seen" if host["state"] == UNSEEN else host["state"],
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


def enrol_host(service: str, host: str, *, as_json: bool) -> None:
    """`hosts enrol`: the code alone to standard output, so that it can be put somewhere."""
    found = connect(service).run(steps.enrol_host(host))
    if as_json:
        say_json(found)
        return
    say(found["code"])
    tell(f"on {host}, within an hour: fairhold agent enrol --host {host} …, which reads this from standard input")


def revoke_host(service: str, host: str, *, as_json: bool) -> None:
    """`hosts revoke`."""
    found = connect(service).run(steps.revoke_host(host))
    show(found, lambda each: f"certificates of {each['host']} of before now are revoked", as_json=as_json)


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

"""`status`: the service on one screen; `state`: its state as a file."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from fairhold.cli.live.connection import connect
from fairhold.cli.live.printing import clock, pairs, resources_used, say, say_json, seconds, span
from fairhold.cli.writing import STANDARD_OUTPUT, write_whole
from fairhold.client import steps
from fairhold.errors import UsageError, count, printable
from fairhold.runtime.outlet import warn

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.client.exchange import Document


_STATES = {"unseen": "never seen"}
"""Words of states of hosts that are not plain."""


def show_status(service: str, *, as_json: bool) -> None:
    """`status`: which service it is, its plan, hosts, what is used, who waits, what is under notice, the last cycle."""
    found = connect(service).run(steps.status())
    if as_json:
        say_json(found)
    else:
        say(status_text(found))


def status_text(found: Document) -> str:
    """The status in words, one line for each part."""
    service, plan, hosts = found["service"], found["plan"], found["hosts"]
    others = "".join(
        f"; {each['count']} {_STATES.get(each['state'], each['state'])}: "
        + ", ".join("the service's own" if name == "-" else name for name in each["hosts"])
        for each in hosts["others"]
    )
    condition = f"{service['state']}: {service['trouble']}" if service["trouble"] else service["state"]
    until = f", until {clock(plan['until'])}" if plan["until"] else ""
    comment = f": {plan['comment']}" if plan["comment"] else ""
    rows: dict[str, object] = {
        "service": f"{service['address']}, {condition}, fairhold {service['version']}",
        "leads": _leads(service),
        "since": f"{clock(service['started'])}, for {seconds(service['uptime'])}",
        "state": service["directory"],
        "plan": f"version {plan['version']}, since {clock(plan['at'])} by {plan['author']}{until}{comment}",
        "hosts": f"{hosts['up']} of {hosts['all']} up{others}",
    }
    rows |= {name: _used(group) for name, group in found["resource_groups"].items()}
    rows |= {"waiting": _waiting(found["waiting"]), "under notice": _notices(found["reclaiming"])}
    rows["last cycle"] = _cycle(found["cycle"])
    return pairs(rows)


def _leads(service: Document) -> str:
    """That it leads, as which one of those that share the store."""
    return f"{service['leader']}, term {service['term']}" if service.get("term") else "the only service of its cluster"


def _used(group: Document) -> str:
    slots = group["slots"]
    return f"{slots['used']}/{slots['total']} slots used" if slots else f"{resources_used(group['resources'])} used"


def _waiting(waiting: Document) -> str:
    oldest = waiting["oldest"]
    if oldest is None:
        return "nothing"
    told = f"job {oldest['job']} of {oldest['consumer']}, for {span(oldest['submitted'], None)}"
    return f"{count(waiting['tasks'], 'task')} of {count(waiting['jobs'], 'job')}; the longest: {told}"


def _notices(reclaiming: Document) -> str:
    if not reclaiming["attempts"]:
        return "nothing"
    return f"{count(reclaiming['attempts'], 'task')}; the next deadline is {clock(reclaiming['next'])}"


def _cycle(cycle: Document | None) -> str:
    if cycle is None:
        return "none"
    did = [f"{cycle[word]} {word}" for word in ("granted", "reclaimed", "withdrawn", "observed") if cycle.get(word)]
    took = f"{cycle['seconds'] * 1000:.1f} ms"
    group = f" of {cycle['resource_group']}" if cycle["resource_group"] else ""
    return f"{clock(cycle['at'])}{group}, {took}: {', '.join(did) or 'nothing to do'}"


def write_state(service: str, output: Path | None, plan: Path | None) -> None:
    """`state`: the live state as a state file; plan : file for the text of the plan that it goes with."""
    if plan is not None and plan == (output or STANDARD_OUTPUT):
        raise UsageError("`--output` and `--plan` name one file; name two")
    connection = connect(service)
    found = connection.run(steps.state())
    for line in found["unsaid"]:
        warn(f"not in the state file: {line}")
    if plan is not None:
        text = found.get("plan_text") or connection.run(steps.plan(found["plan"]))["text"]
        if plan == STANDARD_OUTPUT:
            sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        else:
            write_whole(plan, text)
    if output is None or output == STANDARD_OUTPUT:
        say_json(found["state"])
        return
    write_whole(output, json.dumps(found["state"], indent=1) + "\n")
    where = f"it is in {printable(str(plan))}" if plan is not None else _how_to_get(found)
    say(f"{printable(str(output))}: the state under plan {found['plan']}; {where}")


def _how_to_get(found: Document) -> str:
    if found.get("plan_text"):
        return "get it, with the hosts that are nodes, by `fairhold state --plan plan.yaml`"
    return f"get it with `fairhold plan show --version {found['plan']} > plan.yaml`"

"""Changes that an explanation tells of, made by hand in the plan and state files."""

from __future__ import annotations

import copy
import json
from typing import Any

from fairhold.cycle.explain.pooled.document import explain_pools
from fairhold.errors import InputError
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state

Json = dict[str, Any]
BY_RESOURCE = {"share_limit": None, "limit": "none", "deserved": "unlimited", "over_quota_weight": None}
"""Key of a consumer with values by resource → the word for no bound; None = what is left out has none."""


def applied(plan: Json, state: Json, changes: list[Json]) -> tuple[Json, Json]:
    """The files with some changes."""
    plan, state = copy.deepcopy(plan), copy.deepcopy(state)
    for change in changes:
        if "request" in change:
            _change_request(state, change)
        elif "host" in change:
            _change_host(plan, state, change)
        elif "consumer" in change:
            _change_consumer(plan, change)
        else:
            new = "none" if change["new"] is None else change["new"]
            plan["policies"][0].setdefault("settings", {})[change["what"]] = new
    return plan, state


def _change_request(state: Json, change: Json) -> None:
    (request,) = [each for each in state["requests"] if each["id"] == change["request"]]
    what, new = change["what"], change["new"]
    if what == "amount":
        request["unit"][change["resource"]] = new
    elif new is None:
        request.pop(what, None)
    else:
        request[what] = list(new) if isinstance(new, tuple) else new


def _change_host(plan: Json, state: Json, change: Json) -> None:
    what, name = change["what"], change["host"]
    if what in {"hosts_down", "hosts_never_seen", "hosts_closed"}:
        state[what] = [each for each in state[what] if each != name]
        return
    (hosts,) = [
        group["hosts"]
        for group in plan["resource_groups"].values()
        if any(host["name"] == name for host in group["hosts"])
    ]
    (host,) = [host for host in hosts if host["name"] == name]
    if what == "amount":
        host[change["resource"]] = change["new"]
    else:
        hosts += [{**host, "name": f"{name}-{at}"} for at in range(2, 2 + change["new"] - change["old"])]


def _change_consumer(plan: Json, change: Json) -> None:
    what, new = change["what"], change["new"]
    stated = plan["policies"][0].setdefault("consumers", {})
    mine = stated[change["consumer"]] = stated.get(change["consumer"]) or {}
    if "resource_group" in change:
        for own in mine["own"]:
            if own["resource_group"] == change["resource_group"]:
                place = own[what] if "resource" in change else own
                place[change.get("resource", what)] = new
    elif "resource" in change:
        said = mine.get(what)
        if not isinstance(said, dict):  # one word or number is for all resources
            mine[what] = {} if said in {None, "none"} else dict.fromkeys(plan["resources"], said)
        word = BY_RESOURCE[what]
        mine[what].pop(change["resource"], None)
        if new is not None or word is not None:
            mine[what][change["resource"]] = word if new is None else new
    else:
        mine[what] = "none" if new is None else new


def outcome(plan: Json, state: Json, changes: list[Json], request: Json) -> tuple[int, int] | None:
    """What a request holds after some changes, and what is on its way to it; None where the files are refused then."""
    new_plan, new_state = applied(plan, state, changes)
    try:
        parsed = parse_plan(json.dumps(new_plan), "plan.json")[0]
        (told,) = explain_pools(
            parsed, parse_state(json.dumps(new_state), parsed, "state.json"), request["consumer"], what_if=False
        )
    except InputError:
        return None
    after = next(each for each in told["requests"] if each["request"] == request["request"])
    return after["held"], after["on_the_way"]

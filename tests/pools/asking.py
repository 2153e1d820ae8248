"""Small written plans and states of `multidimensional`, and what is explained of them."""

from __future__ import annotations

from typing import Any

from fairhold.cycle.explain.pooled.document import explain_pools
from fairhold.runtime.explaining_pools import as_document
from tests.pools.small import inputs

Json = dict[str, Any]
PAIR: Json = {"/A": {}, "/B": {}}
BETTER: Json = {"/A": {"share_priority": 1}, "/B": {}}


def explained(path: str, *args: Any, **more: Any) -> Json:
    plan, state = inputs(*args, **more)
    (told,) = explain_pools(plan, state, path)
    return as_document(told)


def first(path: str, *args: Any, **more: Any) -> Json:
    """The first request of a consumer."""
    request: Json = explained(path, *args, **more)["requests"][0]
    return request


def level(request: Json, pool: str = "/") -> Json:
    """Why a request has no more at one level."""
    found: Json = next(each for each in request["waits"]["levels"] if each["pool"] == pool)
    return found


def helps(request: Json) -> dict[str, tuple[Any, Any, int]]:
    """What would help alone → old, new, units that it has then or that are on the way."""
    found = {}
    for each in request["would_help"]:
        change = each["changes"][0]
        what = change["what"] + (" on a host" if "host" in change else "")
        found[what] = change["old"], change["new"], each["held"] + each["on_the_way"]
    return found

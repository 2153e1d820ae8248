"""Keys of queries: unknown ones are refused, as in bodies."""

from __future__ import annotations

from difflib import get_close_matches

from fastapi import Request  # noqa: TC002 - FastAPI reads it
from fastapi.routing import APIRoute

from fairhold.errors import Fault, InputError

_MOST_FAULTS = 100


async def refuse_unknown(request: Request) -> None:
    """Raise InputError `unknown-key` where a query has a key that its address does not know."""
    route = request.scope.get("route")
    if not request.query_params or not isinstance(route, APIRoute):
        return
    known = [field.alias for field in route.dependant.query_params]
    strange = [key for key in dict.fromkeys(request.query_params) if key not in known]
    if strange:
        raise InputError([_fault(key, known) for key in strange[:_MOST_FAULTS]])


def _fault(key: str, known: list[str]) -> Fault:
    mend = f"known are {', '.join(f'`{each}`' for each in known)}" if known else "leave it out"
    close = get_close_matches(key[:100], known, n=1)
    if close:
        mend = f"did you mean `{close[0]}`?"
    return Fault("unknown-key", "the query has an unknown key", mend, ("query", key))

"""What other numbers would do to the live cluster, and what the coming windows of its plan do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fairhold.cycle.window_preview import calendar_document
from fairhold.lab.explorer import Explorer, parse_change
from fairhold.lab.explorer.changes import DEMAND
from fairhold.lab.explorer.fields import content_document, explored_document
from fairhold.planio.rewriting import rewritten
from fairhold.planio.state import parse_state
from fairhold.service.planning import NAME, state_now
from fairhold.units import format_instant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.service.planning import Frozen

    Document = dict[str, Any]

_STATE = "the live state"


def explorer_of(frozen: Frozen, text: str) -> Explorer:
    """What can be changed of a plan's text, on the live cluster at one instant."""
    state = json.dumps(state_now(frozen, text)["state"])
    return Explorer(text, f"plan {frozen.version}", state, _STATE, frozen.with_hosts)


def content(frozen: Frozen, text: str) -> Document:
    """What can be changed."""
    return _head(frozen) | content_document(explorer_of(frozen, text), f"plan {frozen.version}")


def explored(frozen: Frozen, text: str, changes: Sequence[str], consumer: str) -> Document:
    """What comes of changes; InputError where one of them cannot be made.

    consumer : path whose explanations are told before and after, empty = nobody's
    """
    explorer = explorer_of(frozen, text)
    found = explorer.explore(changes)
    why = {"before": explorer.why(consumer), "after": explorer.why(consumer, found)} if consumer else None
    return _head(frozen) | explored_document(found) | {"why": why}


def drafted(frozen: Frozen, text: str, changes: Sequence[str]) -> Document:
    """The text of the plan with changes, and those of them that are not of the plan; InputError as `explored`."""
    document = explorer_of(frozen, text).explore(changes).plan_document
    left = [each for each in changes if parse_change(each).steps[0] == DEMAND]
    return _head(frozen) | {"text": rewritten(text, document), "left_out": left}


def windows_ahead(frozen: Frozen, text: str, ahead: int, *, with_reclaims: bool) -> Document:
    """The calendar of the plan in force for so many microseconds, with what each switch takes back if that is asked."""
    plan, now, state = frozen.plan, frozen.now, None
    if with_reclaims:
        plan = frozen.with_hosts(plan)
        state = parse_state(json.dumps(state_now(frozen, text)["state"]), plan, NAME)
    return calendar_document(plan, now, now + ahead, state)


def _head(frozen: Frozen) -> Document:
    return {"version": frozen.version, "at": format_instant(frozen.now)}

"""What the plan says of when to reclaim, as the reason why a job waits (R-CONTROL-1 to R-CONTROL-5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.units import format_instant

if TYPE_CHECKING:
    from fairhold.cycle.explain import Control
    from fairhold.runtime.live.views.prospect import Prospect

_TEXT = {
    "dead_zone": "its leaf has a deficit of {units}, too few for a reclaim",
    "await_ends": "its leaf has a deficit of {units}; reclaim starts at {until} if no task ends before",
    "max_reclaims": "{units} of {consumer} are reclaimed in a later cycle: the limit of reclaims per cycle is reached",
    "observe_only": "{consumer} should give {units} back, and its policy entry only observes that",
    "min_runtime": "{consumer} keeps {units} that have not run long enough, the first until {until}",
}


def restrained(look: Prospect, leaf: int) -> tuple[str, dict[str, Any]] | None:
    """The first control that keeps units from a leaf that misses some: the sentence and its facts."""
    found = look.control(leaf)
    return None if found is None else (_text(found), _facts(found))


def _text(control: Control) -> str:
    units = f"{control.units} {'slot' if control.units == 1 else 'slots'}"
    until = format_instant(control.until) if control.until else ""
    return _TEXT[control.name].format(units=units, consumer=control.consumer, until=until)


def _facts(control: Control) -> dict[str, Any]:
    return {"control": control.name, "consumer": control.consumer, "units": control.units, "until": control.until}

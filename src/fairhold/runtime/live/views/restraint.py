"""What the plan says of when to reclaim, as the reason why a job waits (R-CONTROL-1 to R-CONTROL-5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.units import format_instant

if TYPE_CHECKING:
    from fairhold.cycle.explain import Control
    from fairhold.runtime.live.views.prospect import Prospect

_TEXT = {
    "dead_zone": "its leaf misses {units}, and takes none back for so few",
    "await_ends": "its leaf misses {units}, and takes them back from {until} on, if no task ends before",
    "max_reclaims": "{units} of {consumer} go in a later cycle: no more are taken back at once",
    "observe_only": "{consumer} should give {units} back, and its policy entry only observes that",
    "min_runtime": "{consumer} keeps {units} for want of run time, the first until {until}",
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

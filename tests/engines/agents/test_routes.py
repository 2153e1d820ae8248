"""Which connection an instruction goes to where two machines hold attempts of one number."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from fairhold.engines.agents.routes import Routes
from fairhold.orchestrator.events import Held, MachineReported, Outcome, TaskEnded
from fairhold.orchestrator.instructions import Start, Stop

if TYPE_CHECKING:
    from fairhold.engines.agents.link import Link


def test_a_stray_with_the_number_of_an_attempt_elsewhere_does_not_turn_its_instructions_away() -> None:
    first, second = cast("Link", object()), cast("Link", object())
    routes = Routes("", ("h1", "h2"))
    routes.told(MachineReported("h1", "b", 0), first)
    assert routes.link_for(Start(7, "1", 0, 1, "c", "h1")) is first
    routes.told(MachineReported("h2", "b", 9, (Held(7, is_alive=True, exit=None),)), second)
    assert routes.link_for(Stop(7, "cancel")) is first
    assert routes.link_for(Stop(7, "stray", "h2")) is second
    routes.told(TaskEnded(7, Outcome.STOPPED, None, "h2"), second)
    assert routes.link_for(Stop(7, "cancel")) is first
    routes.told(TaskEnded(7, Outcome.FINISHED, None, "h1"), first)
    assert routes.link_for(Stop(7, "cancel")) is None

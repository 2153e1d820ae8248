"""Two and three leaves, two to four slots: whatever comes in whatever order, slots are reclaimed once and it ends."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from fairhold.orchestrator.handle import Orchestrator
from tests.protocol import reclaims
from tests.protocol.reclaims import Service, Wish, explore, plan_of


class Case(NamedTuple):
    """A policy, its slots and leaves, how many wishes may come, how many states there are, how many notices at most.

    Every wish is one of any leaf for one task more, for two more, or for none of its last job.
    """

    policy: str
    slots: int
    leaves: dict[str, Any]
    left: int
    states: int
    notices: int

    def service(self) -> Service:
        graces = dict(zip(self.leaves, ("2s", "1s", "0s"), strict=False))
        return Service(plan_of(self.policy, self.slots, self.leaves, graces))

    def asked(self) -> tuple[Wish, ...]:
        return tuple((leaf, count) for leaf in self.leaves for count in (0, 1, 2))


def owners(*owned: int) -> dict[str, Any]:
    return {path: {"owned": units} for path, units in zip(("/A", "/B", "/C"), owned, strict=False)}


TO_BOTH = {"owned": 2, "lend_to": [{"consumer": "/B"}, {"consumer": "/C"}]}
FROM_A = {"borrow_from": [{"consumer": "/A"}]}
LENDING = {"/A": TO_BOTH, "/B": FROM_A, "/C": FROM_A}


def lending_to_each_other(*paths: str) -> dict[str, Any]:
    """Each owns a slot and lends it to all others."""
    others = {path: [{"consumer": other} for other in paths if other != path] for path in paths}
    return {path: {"owned": 1, "lend_to": each, "borrow_from": each} for path, each in others.items()}


SHARING: dict[str, Any] = {"/A": {}, "/B": {}, "/C": {}}
SHORT = [
    Case("hybrid", 2, owners(1, 1), 3, 2_000, 1),
    Case("hybrid", 3, owners(1, 1, 1), 3, 4_000, 2),
    Case("hybrid", 3, owners(2, 1, 0), 3, 5_900, 2),
    Case("share_ratio", 4, SHARING, 3, 3_500, 2),
    Case("ownership", 2, LENDING, 2, 470, 2),
    Case("ownership", 2, LENDING | {"/C": {}}, 3, 600, 2),
    Case("ownership", 2, lending_to_each_other("/A", "/B"), 3, 2_000, 1),
    Case("ownership", 3, lending_to_each_other("/A", "/B", "/C"), 3, 5_000, 2),
]
LONG = [
    Case("hybrid", 2, owners(1, 1), 4, 24_000, 1),
    Case("hybrid", 4, owners(2, 2), 4, 30_000, 2),
    Case("share_ratio", 3, SHARING, 4, 79_000, 1),
    Case("ownership", 2, LENDING, 3, 10_000, 2),
    Case("ownership", 2, lending_to_each_other("/A", "/B"), 4, 24_000, 1),
]


@pytest.mark.parametrize("case", [*SHORT, *(pytest.param(case, marks=pytest.mark.slow) for case in LONG)], ids=str)
def test_whatever_is_wished_it_comes_to_rest(case: Case) -> None:
    """`explore` fails where a slot is used twice, a leaf at its quota gives one, or a way never ends."""
    seen = explore(case.service(), case.asked(), case.left)
    assert seen.rounds <= 1, "all notices that a wish leads to are given at once"
    assert (seen.states >= case.states, seen.notices) == (True, case.notices), seen


def test_an_exploration_that_is_not_whole_is_none() -> None:
    with pytest.raises(AssertionError, match="more than 50 states"):
        explore(SHORT[0].service(), SHORT[0].asked(), 3, most=50)


def test_a_slot_that_is_granted_before_it_is_free_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(world: reclaims.World) -> reclaims.World:
        """An agent that says that a task is over when it reads the order to stop it, while it still runs."""
        order = world.going[0]
        world = received(world)
        is_stop = order[0] == "stop" and any(task.attempt == order[1] for task in world.running)
        return world._replace(coming=(*world.coming, order[1:])) if is_stop else world

    received = reclaims._received
    monkeypatch.setattr(reclaims, "_received", forgetful)
    with pytest.raises(AssertionError, match="its slot is free"):
        explore(SHORT[0].service(), SHORT[0].asked(), 2)


def test_a_withdrawal_that_is_not_told_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    order = Orchestrator.order

    def quiet(live: Orchestrator, each: Any) -> None:
        if type(each).__name__ != "Withdraw":
            order(live, each)

    monkeypatch.setattr(Orchestrator, "order", quiet)
    with pytest.raises(AssertionError, match="was not told"):
        explore(SHORT[0].service(), SHORT[0].asked(), 3)


def test_a_notice_to_who_has_no_more_than_the_quota_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    view = Service._view

    def blind(service: Service, number: int, now: int) -> reclaims.View:
        """What would be seen if slots were taken from those who have no more than their quota."""
        seen = view(service, number, now)
        leaves = {path: leaf._replace(quota=max(leaf.quota, leaf.held)) for path, leaf in seen.leaves.items()}
        return seen._replace(leaves=leaves)

    monkeypatch.setattr(Service, "_view", blind)
    with pytest.raises(AssertionError, match="above its quota"):
        explore(SHORT[0].service(), SHORT[0].asked(), 2)

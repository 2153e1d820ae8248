"""Two hosts, two attempts, every interleaving (docs/attempts.md): nothing runs twice, nothing is lost."""

from collections.abc import Iterator

import pytest

from fairhold.orchestrator.events import Woken
from fairhold.orchestrator.outbox import Outbox
from tests.protocol import service
from tests.protocol import world as model
from tests.protocol.explore import Flaw, explore
from tests.protocol.world import CANCEL, REQUEUE, SUBMIT, begin


@pytest.mark.parametrize(
    ("asked", "faults", "longest_round", "states"),
    [
        ((SUBMIT,), 0, 1, 299),
        ((SUBMIT,), 1, 4, 18_000),
        ((SUBMIT, REQUEUE), 0, 4, 3_000),
        ((SUBMIT, REQUEUE), 1, 1, 280_000),
    ],
)
def test_no_interleaving_runs_a_task_twice_or_loses_one(
    asked: tuple[str, ...], faults: int, longest_round: int, states: int
) -> None:
    assert explore(begin(asked, faults, longest_round=longest_round)) >= states


@pytest.mark.parametrize(
    ("asked", "faults", "longest_round", "doubles", "states"),
    [
        ((SUBMIT,), 0, 1, 2, 9_000),
        ((SUBMIT,), 0, 4, 1, 1_000),
        ((SUBMIT, REQUEUE), 0, 1, 1, 30_000),
        pytest.param((SUBMIT,), 1, 1, 1, 90_000, marks=pytest.mark.slow),
        pytest.param((SUBMIT, REQUEUE), 1, 1, 1, 500_000, marks=pytest.mark.slow),
    ],
)
def test_a_message_that_comes_twice_changes_nothing(
    asked: tuple[str, ...], faults: int, longest_round: int, doubles: int, states: int
) -> None:
    world = begin(asked, faults, longest_round=longest_round, doubles=doubles)
    assert explore(world, most=1_500_000) >= states


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "faults", "longest_round"),
    [
        ((SUBMIT, CANCEL), 1, 1),
        ((SUBMIT, REQUEUE), 1, 4),
        ((SUBMIT,), 2, 1),
        ((SUBMIT, CANCEL), 2, 1),
        ((SUBMIT, REQUEUE), 2, 1),
    ],
)
def test_more_faults_and_longer_rounds_change_nothing(asked: tuple[str, ...], faults: int, longest_round: int) -> None:
    assert explore(begin(asked, faults, longest_round=longest_round), most=1_500_000) > 120_000


@pytest.fixture
def no_memory() -> Iterator[None]:
    service.decide.cache_clear()
    yield
    service.decide.cache_clear()


def test_a_service_that_speaks_before_it_has_taken_the_inventory_would_be_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def steps(world: model.World, host: model.Host) -> Iterator[tuple[model.Host, frozenset[int]]]:
        for after, started in _host_steps(world, host):
            yield after._replace(open=after.linked), started

    _host_steps = model.host_steps
    monkeypatch.setattr(model, "host_steps", steps)
    with pytest.raises(Flaw, match="lives, and its slot is free"):
        explore(begin((SUBMIT, REQUEUE), 1), most=200_000)


@pytest.mark.usefixtures("no_memory")
def test_orders_from_before_a_report_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    _add = Outbox.add
    monkeypatch.setattr(Outbox, "add", lambda self, _event, orders, cluster: _add(self, Woken(), orders, cluster))
    with pytest.raises(Flaw, match="lives, and its slot is free"):
        explore(begin((SUBMIT, REQUEUE), 1, longest_round=4), most=200_000)


def test_an_orphan_that_outlives_its_lease_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def steps(world: model.World) -> Iterator[model.World]:
        yield from _lease_steps(world)
        host = world.hosts[1]
        if not host.linked and not host.is_up and host.lease == "held":
            yield model.put(world, 1, host._replace(lease="over"))

    _lease_steps = model.lease_steps
    monkeypatch.setattr(model, "lease_steps", steps)
    with pytest.raises(Flaw, match="lives, and its slot is free"):
        explore(begin((SUBMIT,), 2), most=400_000)


def test_an_agent_that_forgets_what_it_has_started_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def received(host: model.Host) -> model.Host:
        message = host.going[0]
        is_held = any(each.attempt == message[1] for each in host.spool)
        return _received(host._replace(last=0) if message[0] == "start" and not is_held else host)

    _received = model.received
    monkeypatch.setattr(model, "received", received)
    with pytest.raises(Flaw):
        explore(begin((SUBMIT,), 0, doubles=2), most=100_000)

"""Two hosts, two attempts, every interleaving (docs/attempts.md): nothing runs twice, nothing is lost."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from fairhold.orchestrator import cluster as cluster_module
from fairhold.orchestrator import handle, machines
from fairhold.orchestrator.attempts import Attempt
from fairhold.orchestrator.changes import AttemptNumbersTaken
from fairhold.orchestrator.cluster import Cluster
from fairhold.orchestrator.ending import end
from fairhold.orchestrator.events import TaskEnded, Woken
from fairhold.orchestrator.handle import Orchestrator
from fairhold.orchestrator.outbox import Outbox
from tests.protocol import faults, service
from tests.protocol import world as model
from tests.protocol.explore import Flaw, explore
from tests.protocol.world import CANCEL, DRAIN, GANG, OPEN, REQUEUE, SUBMIT, begin


class Case(NamedTuple):
    """What may happen, as `begin` takes it, and how many states there are at least."""

    states: int
    asked: tuple[str, ...] = (SUBMIT,)
    faults: int = 0
    longest_round: int = 1
    doubles: int = 0
    restarts: int = 0
    both_leased: bool = False
    lasts: tuple[int, int] = (0, 0)


def _name(case: Case) -> str:
    usual = Case(0)._asdict()
    return ", ".join(f"{what} {value}" for what, value in case._asdict().items() if value != usual[what])


SHORT = [
    Case(299),
    Case(400, both_leased=True),
    Case(18_000, faults=1),
    Case(36_000, restarts=1),
    Case(3_000, (SUBMIT, REQUEUE), longest_round=4),
    Case(2_500, (SUBMIT, DRAIN, OPEN)),
    Case(9_000, doubles=2),
    Case(1_500, doubles=1, longest_round=4),
    Case(8_500, lasts=(3, 2)),
    Case(12_000, lasts=(1, 2), both_leased=True),
    Case(15_000, (GANG,), faults=2),
    Case(3_300, (GANG,), faults=1, both_leased=True),
    Case(2_300, (GANG,), restarts=1),
    Case(290, (GANG, DRAIN, OPEN), both_leased=True),
]
LONG = [
    Case(30_000, (SUBMIT, REQUEUE), doubles=1),
    Case(45_000, faults=1, both_leased=True),
    Case(18_000, faults=1, longest_round=4),
    Case(90_000, faults=1, doubles=1),
    Case(100_000, (SUBMIT, CANCEL), faults=1),
    Case(280_000, (SUBMIT, REQUEUE), faults=1),
    Case(220_000, (SUBMIT, DRAIN, OPEN), faults=1),
    Case(24_000, (SUBMIT, DRAIN, OPEN), doubles=1),
    Case(63_000, restarts=1, both_leased=True),
    Case(67_000, (GANG,), faults=1, restarts=1),
    Case(400_000, (SUBMIT, REQUEUE), restarts=1),
    Case(430_000, faults=2),
    Case(150_000, faults=1, lasts=(0, 2)),
]


@pytest.mark.parametrize("case", [*SHORT, *(pytest.param(case, marks=pytest.mark.slow) for case in LONG)], ids=_name)
def test_no_interleaving_runs_a_task_twice_or_loses_one(case: Case) -> None:
    """`explore` refuses to end before it has seen every state."""
    options: dict[str, Any] = case._asdict()
    states = options.pop("states")
    assert explore(begin(**options)) >= states


def test_an_exploration_that_is_not_whole_is_none() -> None:
    with pytest.raises(RuntimeError, match="more than 200 states"):
        explore(begin((SUBMIT,)), most=200)


@pytest.fixture
def no_memory() -> Iterator[None]:
    service.decide.cache_clear()
    yield
    service.decide.cache_clear()


def test_a_service_that_speaks_before_it_has_taken_the_inventory_would_be_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def steps(world: model.World, at: int) -> Iterator[tuple[model.Host, frozenset[int]]]:
        for after, started in _host_steps(world, at):
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


def test_a_service_that_forgets_before_it_commits_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def decided(world: model.World, events: Any) -> tuple[model.World, model.World]:
        after, _ = _decided(world, events)
        hosts = tuple(
            host._replace(going=tuple(each for each in host.going if each[0] == "forget")) for host in after.hosts
        )
        return after, after._replace(document=world.document, hosts=hosts)

    _decided = model._decided
    monkeypatch.setattr(model, "_decided", decided)
    with pytest.raises(Flaw, match="is deleted, and its end is not committed"):
        explore(begin((SUBMIT,), 1), most=100_000)


@pytest.mark.parametrize("both_leased", [False, True])
def test_a_supervisor_that_ignores_its_lease_would_be_found(
    monkeypatch: pytest.MonkeyPatch, *, both_leased: bool
) -> None:
    monkeypatch.setattr(model, "lease_over", lambda host: host._replace(lease="over"))
    with pytest.raises(Flaw, match="lives, and its slot is free"):
        explore(begin((SUBMIT,), 1, both_leased=both_leased), most=100_000)


@pytest.mark.usefixtures("no_memory")
def test_an_order_that_is_not_said_again_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machines, "_say_again", lambda _live, _attempt: None)
    with pytest.raises(Flaw, match="was not told"):
        explore(begin((SUBMIT, DRAIN, OPEN), 1), most=200_000)


@pytest.mark.usefixtures("no_memory")
def test_a_service_that_waits_for_what_a_lost_spool_held_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machines, "_missing", lambda _live, _attempt, _last, **_: ())
    with pytest.raises(Flaw, match="slots that never come back"):
        explore(begin((SUBMIT,), restarts=1), most=200_000)


@pytest.mark.usefixtures("no_memory")
def test_a_gang_that_goes_on_without_one_of_its_hosts_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def first_alone(cluster: Cluster, machine: str) -> list[Attempt]:
        return [attempt for attempt in cluster.attempts.values() if attempt.machine == machine]

    monkeypatch.setattr(Cluster, "on", first_alone)
    with pytest.raises(Flaw, match="goes on without one of its hosts"):
        explore(begin((GANG,), 1), most=100_000)


@pytest.mark.usefixtures("no_memory")
def test_a_restored_service_that_goes_on_below_a_number_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cluster_module._APPLY, AttemptNumbersTaken, lambda _cluster, _change, _now: None)
    with pytest.raises(Flaw, match="comes when it must be refused"):
        explore(begin((SUBMIT,), lasts=(3, 2)), most=100_000)


@pytest.mark.usefixtures("no_memory")
def test_a_service_that_takes_a_number_for_an_attempt_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(live: Orchestrator, event: TaskEnded) -> None:
        end(live, replace(event, machine=None) if event.attempt in live.attempts else event)

    monkeypatch.setitem(handle._HANDLERS, TaskEnded, ended)
    with pytest.raises(Flaw, match="is never cleared"):
        explore(begin((SUBMIT,), lasts=(1, 2)), most=100_000)


def test_a_lease_that_is_never_made_shorter_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one in the spool counts on a clock that has begun again: it ends long after the service has given up."""
    monkeypatch.setattr(model, "welcomed", lambda host: host)
    with pytest.raises(Flaw, match="lives, and its slot is free"):
        explore(begin((SUBMIT,), 1), most=100_000)


@pytest.mark.usefixtures("no_memory")
@pytest.mark.parametrize("lost", ["power", "spool"])
def test_a_service_that_believes_a_memory_from_before_a_restart_would_be_found(
    monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    def missing(*given: Any, **_: Any) -> tuple[TaskEnded, ...]:
        return _missing(*given, forgot=False)

    def restarted(world: model.World) -> Iterator[model.World]:
        disks = [host.disk for host in world.hosts]
        for after in _restarted(world):
            if (disks == [host.disk for host in after.hosts]) == (lost == "power"):
                yield after

    _missing, _restarted = machines._missing, faults._restarted
    monkeypatch.setattr(machines, "_missing", missing)
    monkeypatch.setattr(faults, "_restarted", restarted)
    with pytest.raises(Flaw, match="is started twice"):
        explore(begin((SUBMIT,), restarts=1), most=200_000)


def test_an_agent_that_does_not_see_that_its_host_restarted_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(model.LEFT, model.DEAD)
    with pytest.raises(Flaw, match="never"):
        explore(begin((SUBMIT,), restarts=1), most=200_000)

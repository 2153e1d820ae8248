"""What queues have used corrects their shares: booked exactly, kept over restarts, counted at borders."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.cli.pool_words import pools_in_words
from fairhold.ledger.decay import Steps
from fairhold.ledger.history import FINEST, History
from fairhold.ledger.vectors import POOLED
from fairhold.model.queue import FairShareSettings, UsageWindow
from fairhold.orchestrator.as_file import as_file
from fairhold.orchestrator.events import JobChanged, MachineGone, MachineSilent, Woken
from fairhold.orchestrator.freeze import freeze
from fairhold.orchestrator.vectors import state_of
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state
from fairhold.planio.statewrite import state_document
from fairhold.runtime.live.views.consumers import consumer_explanation
from fairhold.units import SECOND, parse_instant
from tests.examples import FEWER
from tests.live.play import Play

if TYPE_CHECKING:
    from pathlib import Path

HOUR, DAY = 3600 * SECOND, 24 * 3600 * SECOND
GPU = (("gpu", "1"),)


def plan(*, groups: str = "train", leaf: str = "a", base: str = "0.001", **settings: Any) -> str:
    """Two hosts of four GPUs and the queues /A/a, /A/b and /B."""
    return json.dumps(
        {
            "fairhold": 1,
            "time_zone": "Europe/Zurich",
            "resources": {"cpu": {"base": base}, "gpu": {}},
            "resource_groups": {groups: {"hosts": [{"name": "h[1-2]", "cpu": 16, "gpu": 4}]}},
            "consumers": {"A": {"consumers": {leaf: {}, "b": {}}}, "B": {}},
            "policies": [{"resource_groups": [groups], "policy": "fair_share", "settings": settings}],
        }
    )


def played(directory: Path, text: str) -> Play:
    found = Play(directory, text)
    for name in ("h1", "h2"):
        found.report(name)
    return found


def ask(play: Play, consumer: str, count: int, unit: tuple[tuple[str, str], ...] = GPU) -> str:
    job = play.submit(consumer, count, group=POOLED, unit=unit)
    play.pass_time(SECOND)
    return job


def usage(play: Play) -> dict[str, str]:
    """Path → usage of GPUs, of the capacity."""
    play.core.orchestrator.now = play.clock.instant
    found = state_of(play.core.cluster, play.clock.instant).usage
    return {play.core.plan.tree.paths[row]: str(float(parts[1])) for row, parts in found.items()}


def end_all(play: Play, job: str) -> None:
    for name, attempt in list(play.core.cluster.attempts.items()):
        if attempt.job.name == job:
            play.end(name)


def test_half_lives_and_windows_in_steps() -> None:
    """R-HISTORY-2: a weight halves exactly after a half-life, and falls from step to step."""
    steps = Steps(FairShareSettings(half_life=DAY), None)
    assert steps.step == DAY // 32
    weights = [steps.weight(-(age + 1) * steps.step, 0) for age in range(steps.most)]
    assert weights[0] == 2**64
    assert [weights[at] for at in (32, 64)] == [2**63, 2**62]
    assert weights == sorted(weights, reverse=True)
    assert abs(weights[16] - 2**64 / 2**0.5) < 2**12
    plain = Steps(FairShareSettings(usage_window=UsageWindow(length=HOUR)), None)
    assert plain.step == HOUR // 128
    assert plain.weight(-HOUR, 0) == plain.weight(-plain.step, 0) == 2**64
    tiny = Steps(FairShareSettings(half_life=SECOND, usage_window=UsageWindow(length=10 * SECOND)), None)
    assert (tiny.step, tiny.most) == (SECOND, 10)
    long = Steps(FairShareSettings(half_life=365 * DAY, usage_window=UsageWindow(length=HOUR)), None)
    assert SECOND <= long.step <= HOUR // 128


def test_usage_is_what_was_held_of_what_there_was(tmp_path: Path) -> None:
    """R-HISTORY-1: 2 of 8 GPUs for an hour, then 6, without a half-life, as of the last border."""
    play = played(tmp_path, plan(k=1, usage_window="128h"))
    small = ask(play, "/A/a", 2)
    play.pass_time(10 * HOUR)
    assert usage(play)["/A/a"] == "0.25"
    ask(play, "/B", 6)
    play.pass_time(10 * HOUR)
    found = usage(play)
    assert 0.24 < float(found["/A/a"]) <= 0.25
    assert abs(float(found["/B"]) - 0.75 * 10 / 20) < 0.05
    end_all(play, small)
    play.pass_time(130 * HOUR)
    assert list(usage(play)) == ["/B"]
    assert usage(play)["/B"] == "0.75"


def test_it_decays_by_half_in_a_half_life(tmp_path: Path) -> None:
    play = played(tmp_path, plan(k=1, half_life="8h", usage_window="30d"))
    job = ask(play, "/B", 8)
    play.pass_time(24 * HOUR)
    end_all(play, job)
    play.pass_time(9 * HOUR)
    # Of 24 hours of eight GPUs, nine hours ago; what there was goes on.
    expected = 2 ** (-9 / 8) * (1 - 2**-3) / (1 - 2 ** (-33 / 8))
    assert abs(float(usage(play)["/B"]) - expected) < 0.001


def test_it_is_the_same_after_restarts_snapshots_and_moves(tmp_path: Path) -> None:
    """R-HISTORY-1: the log says all; a snapshot holds what is booked up to the latest change."""
    play = played(tmp_path, plan(k=1, half_life="1h"))
    job = ask(play, "/A/a", 3, (("cpu", "1.5"), ("gpu", "1")))
    ask(play, "/B", 2)
    play.pass_time(HOUR)
    play.feed(JobChanged(job, consumer="/A/b"))
    play.pass_time(2 * HOUR)
    play.feed(MachineSilent("h2"), MachineGone("h2"))
    play.pass_time(HOUR)
    play.commit()
    before, seen = freeze(play.core.cluster), usage(play)
    assert set(seen) == {"/A/a", "/A/b", "/B"}
    for snapshot in (False, True, False):
        play.commit()
        if snapshot:
            play.snapshot()
        play.store.close()
        play.open()
        assert freeze(play.core.cluster)["usage"]["of"].keys() == before["usage"]["of"].keys()
        assert usage(play) == seen


def test_another_plan_goes_on_with_it(tmp_path: Path) -> None:
    """R-HISTORY-1: also with other base units, other steps and another name of the leaf."""
    play = played(tmp_path, plan(k=0, usage_window="128h"))
    ask(play, "/A/a", 4)
    play.pass_time(20 * HOUR)
    assert usage(play) == {}
    other = plan(k=1, usage_window="64h", leaf="c", base="0.01")
    play.core.apply_plan(other, "ann", "", play.core.version, moved={"/A/a": "/A/c"})
    play.pass_time(2 * HOUR)
    assert abs(float(usage(play)["/A/c"]) - 0.5) < 0.01
    play.restart(snapshot=False)
    assert abs(float(usage(play)["/A/c"]) - 0.5) < 0.01


@pytest.mark.parametrize(
    ("window", "begins"),
    [
        ("day", "2026-01-05T23:00:00Z"),  # midnight in Zurich
        ({"tumbling": "24h", "start": "2026-01-01T10:00:00Z"}, "2026-01-06T10:00:00Z"),
    ],
)
def test_windows_begin_anew(tmp_path: Path, window: object, begins: str) -> None:
    """R-HISTORY-2: by the calendar of the plan's time zone, or after a length."""
    play = played(tmp_path, plan(k=1, usage_window=window))
    job = ask(play, "/B", 8)
    instant = parse_instant(begins)
    assert instant is not None
    play.pass_time(instant - SECOND - play.clock.instant)
    assert usage(play) == {"/B": "1.0"}
    end_all(play, job)
    play.pass_time(3 * SECOND)
    assert usage(play) == {}


def test_shares_change_by_time_alone_at_borders_and_then_rest(tmp_path: Path) -> None:
    """R-HISTORY-3: who has used less takes back as history grows; between borders and after a cycle nothing moves."""
    play = played(tmp_path, plan(k=3, usage_window="128m"))
    busy = ask(play, "/B", 8)
    play.pass_time(60 * 60 * SECOND)
    idle = ask(play, "/A/a", 8)
    taken = [each.job.name for each in play.core.cluster.attempts.values() if each.notice or each.stopping]
    assert taken == [busy] * len(taken)
    assert len(taken) > 4
    cycles = play.core.cluster.cycles
    play.core.orchestrator.changed_all()
    play.feed(Woken())
    play.pass_time(SECOND)
    assert [each.job.name for each in play.core.cluster.attempts.values() if each.notice or each.stopping] == taken
    ran = play.core.cluster.cycles
    assert ran == cycles + 1
    play.pass_time(600 * SECOND)
    assert ran + 9 <= play.core.cluster.cycles <= ran + 11
    assert idle


def test_a_state_of_the_live_cluster_holds_it(tmp_path: Path) -> None:
    """Billionths, as a file can hold them."""
    play = played(tmp_path, plan(k=1, half_life="7h"))
    ask(play, "/B", 3)
    play.pass_time(31 * HOUR)
    parts = state_of(play.core.cluster, play.clock.instant).usage
    assert all(FINEST % each.denominator == 0 for row in parts.values() for each in row)
    state = as_file(state_of(play.core.cluster, play.clock.instant))
    text = json.dumps(state_document(play.core.plan, state))
    assert parse_state(text, play.core.plan, "state").usage == parts


def test_windows_are_read_strictly() -> None:
    """R-HISTORY-2."""
    read = parse_plan(plan(usage_window={"tumbling": "7d"}), "plan")[0].policies[0].settings.fair_share
    assert read is not None
    assert read.usage_window == UsageWindow("tumbling", 7 * DAY)
    for wrong in ("0s", "year", {"start": "2026-01-01T00:00:00Z"}, {"tumbling": "1d", "cron": "x"}, 3):
        with pytest.raises(Exception, match="usage_window"):
            parse_plan(plan(usage_window=wrong), "plan")


@given(
    moves=st.lists(st.tuples(st.integers(0, 5 * DAY), st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=12),
    settings=st.sampled_from(
        [
            {"usage_window": "3d"},
            {"half_life": "5h", "usage_window": "9d"},
            {"half_life": "2d", "usage_window": "month"},
            {"half_life": "7h", "usage_window": {"tumbling": "50h", "start": "2026-01-01T00:00:01Z"}},
        ]
    ),
    later=st.integers(0, 2 * DAY),
)
@FEWER
def test_usage_is_the_sum_over_all_microseconds(
    moves: list[tuple[int, int, int]], settings: dict[str, Any], later: int
) -> None:
    """R-HISTORY-1, R-HISTORY-2: against every step by itself, with powers of two in doubles; asking changes nothing."""
    read = parse_plan(plan(k=1, **settings), "plan")[0]
    asked, quiet = History(read, 0), History(read, 0)
    steps, now = asked.steps, 10 * DAY
    held: list[tuple[int, int, int]] = []  # (instant, leaf, units from then on)
    for history in (asked, quiet):
        history.have([0, 8_000], now)
    for wait, leaf, units in moves:
        now += wait
        before = next((has for _, row, has in reversed(held) if row == leaf), 0)
        held.append((now, leaf, units))
        for history in (asked, quiet):
            history.hold(leaf + 2, (0, 1_000), units - before, now)
        asked.usage(now)
    end = now + later
    border, first = steps.of(end)[0], max(steps.first(steps.of(end)[0]), 10 * DAY)
    found = quiet.usage(end)
    assert asked.usage(end) == found
    sums: dict[int, float] = dict.fromkeys((-1, 0, 1, 2), 0.0)
    life = read.policies[0].settings.fair_share
    assert life is not None
    at = first
    while at < border and steps.begin(at) <= steps.begin(border):
        start, stop = steps.of(at)
        age = (border - start) // steps.step - 1
        weight = 2 ** -(age * steps.step / life.half_life) if life.half_life else 1.0
        if steps.begin(at) == steps.begin(border) and age < steps.most:
            for leaf in (0, 1, 2):
                mine = [(when, units) for when, row, units in held if row == leaf]
                for (when, units), (until, _) in pairwise([*mine, (end, 0)]):
                    sums[leaf] += weight * units * max(0, min(until, stop) - max(when, at))
            sums[-1] += weight * 8 * (stop - at)
        at = stop
    for leaf in (0, 1, 2):
        expected = sums[leaf] / sums[-1] if sums[-1] else 0
        assert abs(float(found.get(leaf + 2, (0, 0))[1]) - expected) < 1e-6


def test_explain_says_which_history_counts(tmp_path: Path) -> None:
    """R-HISTORY-3: from when to when, and what came of it."""
    play = played(tmp_path, plan(k=1, usage_window="128m"))
    ask(play, "/B", 8)
    play.pass_time(130 * 60 * SECOND)
    (told,) = consumer_explanation(play.core, "/B")()["explanations"]
    text = pools_in_words(told)
    assert f"History counts from {told['usage_from']} to {told['usage_to']}" in text
    assert "1.000" in text

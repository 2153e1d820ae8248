"""Work on several cores: in order, and after Ctrl-C what is there."""

from __future__ import annotations

import os
import signal
import time

import pytest

from fairhold.lab.parallel import run_all


def squared(number: int) -> int:
    return number * number


def interrupted_at(number: int) -> int:
    if number == 3:
        raise KeyboardInterrupt
    return number


def tell_parent_at(number: int) -> int:
    """As Ctrl-C that only the command itself is told of, while others are at work."""
    if number == 1:
        time.sleep(1)
        os.kill(os.getppid(), signal.SIGINT)
    if number:
        time.sleep(60)
    return number


@pytest.mark.parametrize("processes", [1, 2, 9])
def test_results_are_in_the_order_of_the_tasks(processes: int) -> None:
    told: list[tuple[int, int]] = []
    done = run_all(squared, range(5), processes, lambda *so_far: told.append(so_far))
    assert done == ([0, 1, 4, 9, 16], True)
    assert told == [(at, 5) for at in range(6)]


@pytest.mark.parametrize("processes", [1, 2])
def test_ctrl_c_leaves_what_was_done(processes: int) -> None:
    assert run_all(interrupted_at, range(6), processes) == ([0, 1, 2], False)


def test_ctrl_c_before_the_first_result_is_an_interrupt() -> None:
    with pytest.raises(KeyboardInterrupt):
        run_all(interrupted_at, [3, 1])


def test_ctrl_c_ends_those_that_are_at_work() -> None:
    begin = time.monotonic()
    assert run_all(tell_parent_at, range(3), 3) == ([0], False)
    assert time.monotonic() - begin < 30


def test_no_task_is_no_work() -> None:
    assert run_all(squared, [], 4) == ([], True)

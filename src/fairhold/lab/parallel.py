"""Independent pieces of work on several cores: results in order, and after Ctrl-C those that are there."""

from __future__ import annotations

import signal
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    OnProgress = Callable[[int, int], object]

Result = TypeVar("Result")


class Done(NamedTuple, Generic[Result]):
    """What has been done.

    results  : in the order of the tasks, from the first one on
    is_whole : whether every task was done; False after Ctrl-C
    """

    results: list[Result]
    is_whole: bool


def run_all(
    work: Callable[[Any], Result], tasks: Sequence[Any], processes: int = 1, on_progress: OnProgress | None = None
) -> Done[Result]:
    """Do all tasks; the results are the same on any number of processes.

    on_progress : is told how many tasks are done, and of how many; 0 at the start

    Raises KeyboardInterrupt where Ctrl-C comes before the first result.
    """
    tell = on_progress or (lambda _done, _whole: None)
    results: list[Result] = []
    try:
        tell(0, len(tasks))
        for result in _results(work, tasks, min(processes, len(tasks))):
            results.append(result)
            tell(len(results), len(tasks))
    except KeyboardInterrupt:
        if not results:
            raise
        return Done(results, is_whole=False)
    return Done(results, is_whole=True)


def _results(work: Callable[[Any], Result], tasks: Sequence[Any], processes: int) -> Iterator[Result]:
    if processes <= 1:
        yield from map(work, tasks)
        return
    # A fork would have locks of threads that are not there: those of Polars, which may have read the jobs.
    pool = ProcessPoolExecutor(processes, get_context("spawn"), _begin, (work,))
    try:
        with reacting(signal.SIG_IGN):  # as processes do that begin now, until they have something to do
            begun = [pool.submit(_do, task) for task in tasks]
        for each in begun:
            yield each.result()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in active_children():
            process.terminate()
        raise
    pool.shutdown()


_WORK: list[Callable[[Any], Any]] = []
"""Of a process of the pool: what it does with every task."""


def _begin(work: Callable[[Any], Any]) -> None:
    _WORK.append(work)


def _do(task: Any) -> Any:  # noqa: ANN401 - whatever the work takes and gives
    with reacting(signal.default_int_handler):
        return _WORK[0](task)


@contextmanager
def reacting(to_interrupts: Any) -> Iterator[None]:  # noqa: ANN401 - whatever a signal can be handled by
    """Ctrl-C, of which every process is told, ends work, and no process that waits for something to do."""
    before = signal.signal(signal.SIGINT, to_interrupts)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)

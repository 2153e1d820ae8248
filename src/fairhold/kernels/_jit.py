"""Runs a kernel as plain Python or compiled by Numba; the only module that imports Numba.

A small input runs as Python, so that a command starts without importing Numba. A large input, or any input of a
long-running process (`prefer_compiled`), runs compiled if the extra `fast` is installed. Both give the same answers.
`FAIRHOLD_JIT=off` keeps everything plain, `on` compiles everything.
"""

from __future__ import annotations

import os
from functools import cache, partial
from importlib.util import find_spec
from types import FunctionType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
F = TypeVar("F", bound="Callable[..., Any]")

FEW_ROWS = 20_000
"""Below so many rows a one-shot command is done before Numba would be imported (0.3 s)."""
SAFE = 2**62
MOST_LASTING = 64

_MODE = {"few_rows": 0 if os.environ.get("FAIRHOLD_JIT") == "on" else FEW_ROWS}


def prefer_compiled(few_rows: int = 0) -> None:
    """Compile for inputs of `few_rows` rows or more from now on; for processes that run many cycles."""
    _MODE["few_rows"] = few_rows


def fits(rows: int, largest_product: int) -> bool:
    """Whether kernels on so many rows are to run compiled.

    largest_product : bound on every product that the kernels form
    """
    return (
        rows >= _MODE["few_rows"]
        and largest_product < SAFE
        and os.environ.get("FAIRHOLD_JIT") != "off"
        and _has_numba()
    )


@cache
def _has_numba() -> bool:
    return find_spec("numba") is not None


@cache
def _compiled(function: Callable[..., Any], *, kept: bool) -> Callable[..., Any]:
    """The compiled twin of a kernel or of a part; `kept` on disk for the next process, or not."""
    from numba import njit  # noqa: PLC0415  # the extra `fast`, imported only when asked for

    # Python calls a kernel's parts as they are; compiled code needs them compiled, under the same names.
    names = {
        name: _compiled(value, kept=kept) if getattr(value, "is_part", False) else value
        for name, value in function.__globals__.items()
        if name in function.__code__.co_names
    }
    twin = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
    twin.__module__, twin.__qualname__ = function.__module__, function.__qualname__
    # No fastmath and plain int64: the answers must not depend on the machine.
    return njit(twin, cache=kept, nogil=True, error_model="numpy")


def part(function: F) -> F:
    """Mark a function that kernels call."""
    function.is_part = True  # type: ignore[attr-defined]
    return function


def lasting(columns: type[T]) -> type[T]:
    """Mark a tuple of columns that is made once for all cycles; only of such columns may kernels take slices."""
    columns.lasts = True  # type: ignore[attr-defined]
    return columns


class Kernel(Generic[P, R]):
    """A kernel: call it plain, or `kernel.run(compiled, …)`."""

    def __init__(self, function: Callable[P, R]) -> None:
        self.plain = function
        self._kept: Callable[..., R] | None = None
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.plain(*args, **kwargs)

    def run(self, compiled: bool, /, *args: Any) -> R:  # noqa: FBT001, ANN401  # the columns of any kernel
        """Run on columns, compiled or plain; out columns are written in place either way."""
        if not compiled:
            return self.plain(*args)  # type: ignore[call-arg]
        if self._kept is None:
            self._kept = _compiled(self.plain, kept=True)
        views = [_view(arg) if getattr(type(arg), "lasts", False) else arg for arg in args]
        try:
            return self._kept(*views)
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001  # kernels never raise: the compiler's cache is stale, foreign or not writable
            return _compiled(self.plain, kept=False)(*views)  # type: ignore[no-any-return]


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Make a plain function on columns a kernel."""
    return Kernel(function)


_LASTING: dict[int, tuple[Any, Any]] = {}
"""Views of columns that last from cycle to cycle, with the columns, so that no other value takes their place."""


def _view(columns: Any) -> Any:  # noqa: ANN401  # a tuple of columns that lasts
    """The same columns as arrays of NumPy, which compiled code may cut into slices.

    All other columns are given to it as they are: it asks for their memory in a third of the time.
    """
    known = _LASTING.get(id(columns))
    if known is None or known[0] is not columns:
        if len(_LASTING) >= MOST_LASTING:
            _LASTING.clear()
        views = tuple.__new__(type(columns), map(_viewed(), columns))
        known = _LASTING[id(columns)] = columns, views
    return known[1]


@cache
def _viewed() -> Callable[[array[int]], Any]:
    import numpy as np  # noqa: PLC0415  # only beside Numba

    return partial(np.frombuffer, dtype=np.dtype(np.int64))

"""What a truth of `cycle/invariants.py` finds that does not hold (SPEC §10)."""

from __future__ import annotations

from typing import NamedTuple


class Violation(NamedTuple):
    """A truth that does not hold.

    truth : name of the function that found it
    where : path of a consumer, name of a host, or empty
    text  : what is wrong, with the numbers
    """

    truth: str
    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.truth} {self.where}: {self.text}"

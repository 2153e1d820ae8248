"""Ownership that a plan states and hosts cannot provide: too few hosts, or others own them (SPEC §6.7, S2.25-27)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from fairhold.kernels.vectors import Vector
    from fairhold.model.vector import Owning


class Unmet(NamedTuple):
    """An entry of a consumer that is not met: hosts are too few, or others have what it asks for (S2.25-27).

    planned, got : whole hosts, or hosts of which it has its part; of a total base units, by place of the resource
    """

    row: int
    entry: Owning
    planned: int | Vector
    got: int | Vector

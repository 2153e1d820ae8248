"""Vectors: named resources in whole base units, what a consumer owns of hosts, and parcels (SPEC §6.1)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

Vector = tuple[int, ...]
"""Amounts in base units, one for every resource of the plan, in its order."""

DEFAULT_PREFERENCE = 5


@dataclass(frozen=True, slots=True)
class Resource:
    """A dimension of hosts and units.

    unit       : what amounts in files are in, as `GiB`; empty = a plain number
    base       : base units in one declared unit: an amount in a file is `amount · base`, whole
    step       : base units that parts of hosts are rounded down to
    overcommit : of a host's amount so many times as much may be used, rounded down
    """

    name: str
    unit: str = ""
    base: int = 1000
    step: int = 1000
    overcommit: Fraction = Fraction(1)


@dataclass(frozen=True, slots=True)
class Owning:
    """One entry under `own:`: what a consumer owns of a resource group; exactly one way of saying it is set.

    hosts     : whole hosts by number
    percent   : whole hosts by part of those that are up, a child's of its parent's, exact
    remaining : all whole hosts that are left
    names     : whole hosts by name
    per_host  : of every host: (place of the resource, part or amount in base units); those left out follow
    total     : in all: (place of the resource, amount in base units); those left out follow
    preference : 1 is best, 10 worst; None = the parent's for the group, else 5
    reserved   : never lent; of a mid-level consumer: not beyond its own private pool
    lend_grace : microseconds within which a borrower has to let go, None = no bound
    reclaim_before_next_level : taken back before anything worse is used
    """

    resource_group: str
    hosts: int | None = None
    percent: Fraction | None = None
    remaining: bool = False
    names: tuple[str, ...] = ()
    per_host: tuple[tuple[int, Fraction | int], ...] = ()
    total: tuple[tuple[int, int], ...] = ()
    preference: int | None = None
    reserved: bool = False
    lend_grace: int | None = None
    reclaim_before_next_level: bool = False


@dataclass(frozen=True, slots=True)
class Parcel:
    """A piece of a host that a consumer owns and its children do not, as adjusted so far.

    consumer : row of the owner
    """

    host: str
    consumer: int
    amounts: Vector

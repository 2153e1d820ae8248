"""What is said of the consumers of a resource group, column by column, so that few are made into rows.

Of ten thousand consumers a change touches few. Two states are compared a column at a time, and only consumers that
differ, or are asked for, become rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from fairhold.units import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fairhold.ledger.rows import Rows

Row = tuple[Any, ...]
"""Values of a consumer in the order of `NAMES`."""
SUMS = ("demand", "allocated", "reclaiming", "coming", "running")
NAMES = (
    *("path", "leaf", "rank", "owned", "reserved", "limit", "quota", *SUMS, "borrowed", "lent", "waiting"),
    *("users", "user_limit", "budget", "amounts", "queue"),
)
_BUDGET = NAMES.index("budget")


class Table(Protocol):
    """All consumers of a resource group but the root, in path order."""

    @property
    def lasts(self) -> bool:
        """Whether all of it stays true while nothing happens: what is held uses a budget up with time alone."""
        ...

    def paths(self) -> list[str]:
        """All paths."""
        ...

    def rows(self, places: Iterable[int] | None = None) -> list[Row]:
        """The consumers at some places of `paths`, None = all."""
        ...

    def differing(self, before: Self) -> list[int] | None:
        """Places of those that differ from an earlier state; None where that has other consumers."""
        ...


class Columns(NamedTuple):
    """A group that shares slots; every column is by row of the tree, and is not changed any more.

    dense  : owned, reserved, quota, demand, allocated
    sparse : those of some rows: reclaiming, coming, running, borrowed, lent (else 0), users (else none), budget
    """

    of: Rows
    dense: tuple[Sequence[int], ...]
    sparse: tuple[Mapping[int, Any], ...]

    @property
    def lasts(self) -> bool:
        """Whether all of it stays true while nothing happens."""
        return not self.sparse[-1]

    def paths(self) -> list[str]:
        """All paths."""
        return [self.of.paths[row] for row in self.of.tree.path[1:]]

    def rows(self, places: Iterable[int] | None = None) -> list[Row]:
        """The consumers at some places, None = all."""
        order = self.of.tree.path
        chosen = order[1:] if places is None else [order[place + 1] for place in places]
        return [self._row(row) for row in chosen]

    def _row(self, row: int) -> Row:
        owned, reserved, quota, demand, allocated = (column[row] for column in self.dense)
        *sums, users, budget = self.sparse
        reclaiming, coming, running, borrowed, lent = (column.get(row, 0) for column in sums)
        of = self.of
        return (
            *(of.path(row), of.is_leaf(row), of.rank(row), owned, reserved, _or_none(of.plan.limit[row]), quota),
            *(demand, allocated, reclaiming, coming, running, borrowed, lent, max(0, demand - allocated)),
            *(users.get(row, {}), _or_none(of.controls.user_limit[row]), budget.get(row), None, None),
        )

    def differing(self, before: Columns) -> list[int] | None:
        """Places of those that differ; None where the plan has other consumers."""
        one, other = self.of, before.of
        if one is not other and (one.paths != other.paths or one.tree.path != other.tree.path):
            return None
        pairs = list(zip(self.dense, before.dense, strict=True))
        if one is not other:
            pairs += zip(_stated(one), _stated(other), strict=True)
        rows = {row for now, then in pairs if now != then for row in _unequal(now, then)}
        for mine, theirs in zip(self.sparse, before.sparse, strict=True):
            rows |= {row for row in mine.keys() | theirs.keys() if mine.get(row) != theirs.get(row)}
        return sorted(one.position[row] - 1 for row in rows - {0})


class Made(NamedTuple):
    """A group whose consumers are rows already, as those of pools are."""

    made: list[Row]

    @property
    def lasts(self) -> bool:
        """Whether all of it stays true while nothing happens."""
        return all(row[_BUDGET] is None for row in self.made)

    def paths(self) -> list[str]:
        """All paths."""
        return [row[0] for row in self.made]

    def rows(self, places: Iterable[int] | None = None) -> list[Row]:
        """The consumers at some places, None = all."""
        return self.made if places is None else [self.made[place] for place in places]

    def differing(self, before: Made) -> list[int] | None:
        """Places of those that differ; None where there are other consumers."""
        if self.paths() != before.paths():
            return None
        return _unequal(self.made, before.made)


def _stated(of: Rows) -> tuple[Sequence[int], ...]:
    """What entries in force say of consumers: another window says something else."""
    return of.tree.rank, of.plan.limit, of.controls.user_limit


def _unequal(one: Sequence[Any], other: Sequence[Any]) -> list[int]:
    return [place for place, (now, then) in enumerate(zip(one, other, strict=True)) if now != then]


def _or_none(limit: int) -> int | None:
    return None if limit >= UNLIMITED else limit

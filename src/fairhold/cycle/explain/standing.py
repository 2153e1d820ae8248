"""The numbers of one consumer among its siblings, under whatever policy of slots."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from fairhold.cycle.explain.nouns import Standing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from fairhold.cycle.explain.nouns import Bound, OwnBound, Parts
    from fairhold.cycle.run import CycleResult

NOTHING: Mapping[str, int] = MappingProxyType({})


def standing(
    result: CycleResult,
    row: int,
    *,
    floor: int,
    exact: Fraction,
    bound: Bound | OwnBound,
    parts: Parts | None = None,
    more: Mapping[str, int] = NOTHING,
) -> Standing:
    """What a consumer states, wants, holds and gets.

    floor : what it gets before anything is shared
    exact : its share before rounding; parts: what its quota is made of, where it owns exactly
    more  : numbers of its policy alone, by column
    """
    snapshot, draft, rows = result.snapshot, result.draft, result.snapshot.rows
    quota = draft.quota[row]
    return Standing(
        path=rows.path(row),
        owned=rows.plan.owned[row],
        reserve=draft.needs.reserve[row],
        limit=rows.plan.limit[row],
        demand=snapshot.demand[row],
        need=draft.needs.need[row],
        floor=floor,
        rank=rows.rank(row),
        exact=exact,
        quota=quota,
        rounded=(quota > exact) - (quota < exact),
        held=snapshot.held[row],
        bound=bound,
        parts=parts,
        more=more,
    )

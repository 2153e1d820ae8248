"""One cycle: snapshot → quotas → grants → reclaims (SPEC §8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairhold.ledger.draft import new_draft
from fairhold.ledger.snapshot import take_snapshot
from fairhold.policies.registry import rules_of
from fairhold.rules.gangs import settle_gangs
from fairhold.rules.housing import bound_by_hosts

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable

    from fairhold.ledger.books import Books
    from fairhold.ledger.decision import Decision
    from fairhold.ledger.draft import CycleContext
    from fairhold.ledger.snapshot import Snapshot


@dataclass(frozen=True)
class CycleResult:
    """What one cycle saw and decided for one resource group.

    tried : quotas of all divisions that it made while gangs gave way, those of the draft last
    """

    snapshot: Snapshot
    draft: CycleContext
    tried: tuple[array[int], ...] = ()

    @property
    def books(self) -> Books:
        """The books that it saw."""
        return self.snapshot.books

    @property
    def now(self) -> int:
        """Its instant."""
        return self.snapshot.now

    @property
    def quota(self) -> array[int]:
        """(rows,) quotas."""
        return self.draft.quota

    @property
    def idle(self) -> int:
        """Slots that stay idle."""
        return self.draft.idle

    @property
    def decision(self) -> Decision:
        """Grants, new notices, withdrawn notices."""
        return self.draft.decision


def _unwatched(_stage: str) -> None:
    pass


def run(books: Books, now: int, on_stage: Callable[[str], None] = _unwatched) -> CycleResult:
    """Run a whole cycle on one resource group; pure: the books stay as they are until the decision is applied.

    on_stage : called with the name of each stage as it begins: `snapshot`, then each rule's
    """
    result = quotas(books, now, on_stage)
    for rule in rules_of(books.rows).moves:
        on_stage(rule.__name__)
        rule(result.snapshot, result.draft)
    return result


def quotas(books: Books, now: int, on_stage: Callable[[str], None] = _unwatched) -> CycleResult:
    """Only the quotas of one resource group: what everybody is entitled to, without moving anything."""
    on_stage("snapshot")
    snapshot = take_snapshot(books, now)
    while True:
        usable = snapshot.usable[:]
        divisions = CycleDivisions(snapshot, on_stage)
        draft = settle_gangs(snapshot, divisions.divide, divisions.quotas)
        fewer = bound_by_hosts(snapshot, draft, usable)
        if fewer is None:
            return CycleResult(snapshot, draft, (*divisions.tried, draft.quota))
        snapshot = fewer


class CycleDivisions:
    """The divisions of one cycle while gangs give way.

    tried : their quotas, in order
    """

    def __init__(self, snapshot: Snapshot, on_stage: Callable[[str], None] = _unwatched) -> None:
        self._snapshot, self._on_stage, self._known = snapshot, on_stage, snapshot.books.divisions
        self.tried: list[array[int]] = []
        self._drafts: dict[bytes, CycleContext] = {}

    def divide(self) -> CycleContext:
        """The quotas by what the snapshot says, which has been asked before where a gang gave way in vain."""
        draft = self._drafts.get(self._question())
        return self._divide(self._known.known(self._snapshot)) if draft is None else draft

    def quotas(self) -> array[int]:
        """Only the quotas, which may be known."""
        quota = self._known.known(self._snapshot)
        if quota is None:
            draft = self._drafts[self._question()] = self._divide(None)
            quota = draft.quota
        self.tried.append(quota)
        return quota

    def _question(self) -> bytes:
        """All that differs between the divisions of one cycle."""
        return self._snapshot.usable.tobytes() + self._snapshot.most.tobytes()

    def _divide(self, known: array[int] | None) -> CycleContext:
        snapshot = self._snapshot
        draft = new_draft(snapshot, known)
        for rule in rules_of(snapshot.rows).quotas:
            self._on_stage(rule.__name__)
            rule(snapshot, draft)
        self._known.keep(snapshot, draft.quota)
        return draft

"""Small changes that would give a waiting request more: each is tried in the core, so that it is true when tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.cycle.pooled.decide import decide
from fairhold.cycle.pooled.force import entries_in_force

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairhold.cycle.explain.pooled.changes import Change, Trial
    from fairhold.cycle.explain.pooled.inquiry import Document, Inquiry
    from fairhold.ledger.pools import Asked

_WORK = 60_000
"""Units and hosts that all trials of one explanation look at together: some seconds."""
_FEWEST = 10
"""Trials that are made in any case."""
_HOST = 4
"""Units that a host costs as much as."""


class Search:
    """Tries changes for the requests of one inquiry, as long as its work lasts."""

    def __init__(self, inquiry: Inquiry) -> None:
        self.inquiry = inquiry
        books = inquiry.books
        units = sum(asked.model.count for asked in books.asked.values())
        self._tried: dict[tuple[Change, ...], dict[str, tuple[int, int]]] = {}
        self._left = max(_FEWEST, _WORK // (1 + units + _HOST * len(books.hosts)))

    def of(self, asked: Asked, kinds: Iterator[Iterator[Trial]]) -> list[Document] | None:
        """Of every kind of change the smallest that gives a request more; None where the work did not last for any.

        kinds : for every kind what is tried of it, the smallest change first
        """
        found: dict[int, Document] = {}
        open_ = dict(enumerate(kinds))
        while open_:  # every kind has its turn before any has its next: the work may not last for all
            for kind, trials in list(open_.items()):
                trial = next(trials, None)
                if trial is not None and self._left <= 0:
                    return [found[at] for at in sorted(found)] or None
                helped = self._helps(asked, trial) if trial is not None else None
                if helped is not None:
                    found[kind] = helped
                if trial is None or helped is not None:
                    del open_[kind]
        return [found[at] for at in sorted(found)]

    def _helps(self, asked: Asked, trial: Trial) -> Document | None:
        """What a request holds and what is on its way to it after a change, where that is more in all."""
        self._left -= 1
        if trial.changes not in self._tried:
            self._tried[trial.changes] = self._run(trial)
        held, coming = self._tried[trial.changes][asked.model.id]
        if held + coming <= asked.held + self.inquiry.ways.units(asked):
            return None
        return {"changes": [change.document() for change in trial.changes], "held": held, "on_the_way": coming}

    def _run(self, trial: Trial) -> dict[str, tuple[int, int]]:
        """What every request of the inquiry holds, and what is on its way to it, in a cycle after a change.

        Requests that wait for the same reason are often helped by the same change: it is tried once for all of them.
        """
        forces = entries_in_force(trial.plan, trial.state.now)
        force = next(each for each in forces if each.at == self.inquiry.force.at)
        decided = decide(trial.plan, force.entry, force.part_of(trial.plan, trial.state))
        others = [decided.books.asked[asked.model.id] for asked in self.inquiry.asked()]
        return {other.model.id: (other.held, decided.sweeps.ways.units(other)) for other in others}

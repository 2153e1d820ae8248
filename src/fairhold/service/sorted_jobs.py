"""A page of jobs in an order that somebody chose, gathered without holding the desk for long."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from fairhold.runtime.live.views import job_order as orders
from fairhold.runtime.live.views.jobs import rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairhold.ports import FinishedJob
    from fairhold.runtime.live.views.job_order import Order, Place
    from fairhold.runtime.live.views.jobs import Wanted
    from fairhold.service.context import Service

    Document = dict[str, Any]


_MORE = 8
"""How many times as many jobs are read at the next look, where too few of them may be seen."""


class Search(NamedTuple):
    """Which jobs are wanted in which order, behind which place (None = from the begin), and how many at most."""

    wanted: Wanted
    order: Order
    after: Place | None
    limit: int

    def places(
        self, service: Service, live: list[Place], unwritten: Sequence[FinishedJob]
    ) -> tuple[list[Place], str, dict[str, FinishedJob]]:
        """Places of the page, the cursor behind it, and the jobs of it that are over. Not in the desk's thread.

        live : of jobs that have not ended; unwritten : jobs that are over and not in the store yet
        """
        order, limit = self.order, self.limit
        if order.column == orders.NAME:
            specs = ((number, service.desk.core.specs.of(str(number))) for _, number in live)
            live = [(spec.name if spec else "", number) for number, spec in specs]
        found, border = self._finished(service) if self.wanted.has_finished else ([], None)
        over = {job.job: job for job in (*found, *unwritten) if self.wanted.fits(job)}
        done = order.behind((orders.finished_place(job, order.column) for job in over.values()), self.after)
        still = order.behind((place for place in live if str(place[1]) not in over), self.after)
        parts = ((still[: limit + 1], None if len(still) <= limit + 1 else still[limit]), (done, border))
        return *orders.merged(order, parts, limit), over

    def _finished(self, service: Service) -> tuple[list[FinishedJob], Place | None]:
        """Jobs that are over, and the place of the last of them where there may be more.

        Where somebody does not see all jobs that is the place of one that he sees: cursors tell of no other.
        """
        wanted, column, is_down = self.wanted, self.order.column, self.order.is_down
        found: list[FinishedJob] = []
        after, count = self.after, self.limit + 1
        while True:
            rows = service.store.jobs_in_order(wanted.of_store, column, is_down=is_down, after=after, limit=count)
            found += rows if wanted.sees is None else filter(wanted.fits, rows)
            if len(rows) < count:
                return found, None
            if wanted.sees is None or len(found) > self.limit:
                return found, orders.finished_place(found[-1], column)
            after, count = orders.finished_place(rows[-1], column), count * _MORE


async def sorted_page(service: Service, wanted: Wanted, sort: str, cursor: str, limit: int) -> Document:
    """A page; it may have fewer rows than asked for, even none, and yet a cursor. InputError `bad-cursor`.

    The desk looks at a part of the jobs at a time. A job that changes meanwhile stands where it stood before or after.
    """
    order = orders.Order.of(sort)
    search = Search(wanted, order, order.parse(cursor) if cursor else None, limit)
    live, below, is_more = list[orders.Place](), 0, wanted.has_live
    while is_more:
        ask = partial(orders.live_places, wanted=wanted, column=order.column, below=below)
        part, below = await service.read(ask)
        live += part
        is_more = below > 0
    unwritten = await service.read(partial(orders.unwritten, wanted=wanted)) if wanted.has_finished else []
    places, following, over = await asyncio.to_thread(search.places, service, live, unwritten)
    names = [str(number) for _, number in places]
    rows = await service.read(partial(rows_of, names=names, over=over))
    return {"jobs": rows, "next": following or None}

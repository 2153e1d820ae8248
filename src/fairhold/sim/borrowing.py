"""What consumers borrow of a resource of hosts over a run: by what their units stand on, of queues by sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.orchestrator.owned import borrowed_parts, deserved_now

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.orchestrator.cluster import Cluster
    from fairhold.sim.account import Account


class Borrowing:
    """Keeps `Account.borrows` up to date.

    of : attempt → (path of a consumer, what it borrows of the resource by it)
    """

    def __init__(self, accounts: Mapping[str, Account], at: int) -> None:
        self._accounts, self._at = accounts, at
        self._of: dict[int, list[tuple[str, int]]] = {}

    def stands(self, cluster: Cluster, group: str, number: int, now: int) -> None:
        """A unit stands where it did not before, or has gone."""
        for path, amount in self._of.pop(number, ()):
            self._add(path, -amount, now)
        attempt = cluster.attempts.get(number)
        if attempt is None:
            return
        books = cluster.books[group]
        paths = books.rows.source.tree.paths
        parts = [(paths[row], part[self._at]) for row, part in borrowed_parts(books, attempt) if part[self._at]]
        for path, amount in parts:
            self._add(path, amount, now)
        if parts:
            self._of[number] = parts

    def _add(self, path: str, amount: int, now: int) -> None:
        account = self._accounts[path]
        account.advance(now)
        if account.borrows is not None:
            account.borrows += amount

    def sort_out(self, cluster: Cluster, group: str, now: int) -> None:
        """Other entries may be in force: of queues and of all together it goes by sums."""
        rows = cluster.books[group].rows
        by_sums = {"/", *deserved_now(rows.source, now, rows.spent)}
        sums = dict.fromkeys(self._accounts, 0)
        for parts in self._of.values():
            for path, amount in parts:
                sums[path] += amount
        for path, account in self._accounts.items():
            borrows = None if path in by_sums else sums[path]
            if borrows != account.borrows:
                account.advance(now)
                account.borrows = borrows

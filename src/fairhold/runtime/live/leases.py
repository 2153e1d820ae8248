"""How long leases may be that a service has given, kept for the next one.

Who makes leases shorter has to wait for the longer ones all the same, where a machine is silent at the next start.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from fairhold.engines.agents.lease import length
from fairhold.ports import StoreError
from fairhold.units import SECOND

if TYPE_CHECKING:
    from fairhold.ports import Store

_KEY = "lease"


class PromisedLeases:
    """Written down before the first lease is given.

    seconds : of the leases of this service, 0 = it gives none
    before  : of the longest that may not be over when it starts
    """

    def __init__(self, store: Store, seconds: float) -> None:
        """Raises StoreError."""
        self._store, self._seconds = store, seconds
        self.before = int(store.meta().get(_KEY, "0")) / SECOND
        self._over_at: float | None = time.monotonic() + length(self.before)
        if seconds > self.before:
            self._keep()

    def close(self) -> None:
        """A service that ran long enough leaves nothing of longer ones; called before the store is closed."""
        if self._seconds < self.before and self._over_at is not None and time.monotonic() > self._over_at:
            try:
                self._keep()
            except StoreError:  # the next start waits longer than it has to
                return
        self._over_at = None

    def _keep(self) -> None:
        with self._store.transaction() as batch:
            batch.put_meta(_KEY, str(int(self._seconds * SECOND)))

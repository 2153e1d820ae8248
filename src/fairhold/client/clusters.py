"""What both clients ask a service that has a Kubernetes cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.client import steps

if TYPE_CHECKING:
    from fairhold.client.exchange import Document, Returned, Steps


class OfClusters:
    """Methods of the client."""

    if TYPE_CHECKING:

        def _run(self, steps: Steps[Returned]) -> Returned: ...

    def pods(self, namespace: str = "", state: str = "", limit: int = 1000) -> Document:
        """Pods that are governed and not over, the first of them, of one namespace or state where it is named."""
        return self._run(steps.pods(namespace, state, limit))

    def pod(self, namespace: str, pod: str) -> Document:
        """Where a pod stands, and why."""
        return self._run(steps.pod(namespace, pod))

    def observed(self, limit: int = 1000) -> Document:
        """What would be done to pods now; nothing is done."""
        return self._run(steps.observed(limit))


class OfClustersLater:
    """The same of the asynchronous client."""

    if TYPE_CHECKING:

        async def _run(self, steps: Steps[Returned]) -> Returned: ...

    async def pods(self, namespace: str = "", state: str = "", limit: int = 1000) -> Document:
        """Pods that are governed and not over, the first of them, of one namespace or state where it is named."""
        return await self._run(steps.pods(namespace, state, limit))

    async def pod(self, namespace: str, pod: str) -> Document:
        """Where a pod stands, and why."""
        return await self._run(steps.pod(namespace, pod))

    async def observed(self, limit: int = 1000) -> Document:
        """What would be done to pods now; nothing is done."""
        return await self._run(steps.observed(limit))

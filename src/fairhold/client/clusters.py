"""What both clients ask a service that has a Kubernetes cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.client import steps
from fairhold.client.connections import AsyncConnections, Connections

if TYPE_CHECKING:
    from fairhold.client.exchange import Document


class ClusterCalls(Connections):
    """Methods of the client."""

    def pods(self, namespace: str = "", state: str = "", limit: int = 1000) -> Document:
        """Pods that are governed and not over, the first of them, of one namespace or state where it is named."""
        return self._run(steps.pods(namespace, state, limit))

    def pod(self, namespace: str, pod: str) -> Document:
        """Where a pod stands, and why."""
        return self._run(steps.pod(namespace, pod))

    def observed(self, limit: int = 1000) -> Document:
        """What would be done to pods now; nothing is done."""
        return self._run(steps.observed(limit))


class AsyncClusterCalls(AsyncConnections):
    """The same of the asynchronous client."""

    async def pods(self, namespace: str = "", state: str = "", limit: int = 1000) -> Document:
        """Pods that are governed and not over, the first of them, of one namespace or state where it is named."""
        return await self._run(steps.pods(namespace, state, limit))

    async def pod(self, namespace: str, pod: str) -> Document:
        """Where a pod stands, and why."""
        return await self._run(steps.pod(namespace, pod))

    async def observed(self, limit: int = 1000) -> Document:
        """What would be done to pods now; nothing is done."""
        return await self._run(steps.observed(limit))

"""Carries steps out over the connections of a client, whose calls wait or are awaited."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Self

import httpx

from fairhold.client.errors import ServiceError, ServiceMissing, closed, strange
from fairhold.client.exchange import Pause, Request, Response, carry_through
from fairhold.client.rotation import Rotation, Tries
from fairhold.client.wire import answered, call, missing, settings, wire

if TYPE_CHECKING:
    from types import TracebackType

    from fairhold.client.exchange import Returned, Steps
    from fairhold.client.finding import Target


class Connections:
    """Connections to a service; to be closed, as by `with`."""

    def __init__(self, target: Target, transport: httpx.BaseTransport | None = None) -> None:
        """`connect` makes one. transport: of tests."""
        self._rotation = Rotation(target)
        self._each = [
            httpx.Client(**settings(one), transport=transport or httpx.HTTPTransport(**wire(one)))
            for one in self._rotation.targets
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close its connections; jobs continue."""
        for each in self._each:
            each.close()

    def _run(self, steps: Steps[Returned]) -> Returned:
        """Carry out steps over this client's connections."""
        try:
            return carry_through(steps, self._carry_out)
        except (KeyError, AttributeError) as error:  # of an answer in which that is not as it is with us
            raise strange(error) from error

    def _carry_out(self, step: Request | Pause) -> Response | None:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        tries = Tries(self._rotation)
        while True:
            http = self._each[tries.at]
            if http.is_closed:
                raise closed()
            try:
                outcome: Response | ServiceMissing = answered(http.request(**call(step, len(self._each))))
            except httpx.HTTPError as error:
                outcome = missing(error, tries)
            if (answer := tries.judge(outcome)) is not None:
                return answer


class AsyncConnections:
    """Connections to a service; to be closed, as by `async with`."""

    def __init__(self, target: Target, transport: httpx.AsyncBaseTransport | None = None) -> None:
        """`connect` makes one. transport: of tests."""
        self._rotation = Rotation(target)
        self._each = [
            httpx.AsyncClient(**settings(one), transport=transport or httpx.AsyncHTTPTransport(**wire(one)))
            for one in self._rotation.targets
        ]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close its connections; jobs continue."""
        for each in self._each:
            await each.aclose()

    async def _run(self, steps: Steps[Returned]) -> Returned:
        """Carry out steps over this client's connections."""
        try:
            step = next(steps)
            while True:
                try:
                    answer = await self._carry_out(step)
                except ServiceError as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(answer)
        except StopIteration as end:
            returned: Returned = end.value
            return returned
        except (KeyError, AttributeError) as error:  # of an answer in which that is not as it is with us
            raise strange(error) from error

    async def _carry_out(self, step: Request | Pause) -> Response | None:
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return None
        tries = Tries(self._rotation)
        while True:
            http = self._each[tries.at]
            if http.is_closed:
                raise closed()
            try:
                outcome: Response | ServiceMissing = answered(await http.request(**call(step, len(self._each))))
            except httpx.HTTPError as error:
                outcome = missing(error, tries)
            if (answer := tries.judge(outcome)) is not None:
                return answer

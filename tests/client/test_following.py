"""Events as they are committed: taken up where a stream broke, until it can be taken up no more."""

from __future__ import annotations

import asyncio
import json
from itertools import islice
from typing import TYPE_CHECKING

import httpx
import pytest

import fairhold
from fairhold.client import following
from fairhold.client.errors import Refused, ServiceError, ServiceMissing
from fairhold.client.finding import Target
from fairhold.client.rotation import Rotation
from fairhold.errors import UsageError
from tests.client.fake import Fake, Problem, fault
from tests.client.serving import fake as fake  # noqa: PLC0414 - a fixture

if TYPE_CHECKING:
    from collections.abc import Iterable


def frames(numbers: Iterable[int], *, cut: int = 0) -> bytes:
    text = ": fairhold\n\n"
    for seq in numbers:
        text += f"id: {seq}\nevent: Running\ndata: {json.dumps({'seq': seq, 'kind': 'Running'})}\n\n"
    return text.encode()[: -cut or None]


def asked(fake: Fake) -> list[str]:
    return [path for _, path, _ in fake.asked if path.startswith("/v1/events")]


def test_a_stream_goes_on_where_it_broke(fake: Fake) -> None:
    fake.streams = [frames([8, 9, 10], cut=20), frames([10, 11]), b"", frames([12])]
    with fairhold.connect() as service:
        assert [each["seq"] for each in islice(service.follow(), 5)] == [8, 9, 10, 11, 12]
    assert asked(fake) == [f"/v1/events?after={after}" for after in (7, 9, 11, 11)]
    with pytest.raises(UsageError, match="closed"):
        next(service.follow(3))


def test_asyncio_follows_as_well(fake: Fake) -> None:
    fake.streams = [frames([4], cut=2), frames([4, 5])]

    async def use() -> list[int]:
        found: list[int] = []
        async with fairhold.connect_async() as service:
            async for event in service.follow(3):
                found.append(event["seq"])
                if len(found) == 2:
                    break
            assert await service.metrics() == "fairhold_jobs 1\n"
        return found

    assert asyncio.run(use()) == [4, 5]


def test_a_stream_that_cannot_go_on_says_why(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "LONG_PATIENCE", 0.1)
    with fairhold.connect() as service:
        with pytest.raises(ServiceError, match="the service stops"):  # nothing was there to wait for
            next(service.follow(3))
        fake.streams = [frames([4])]
        events = service.follow(3)
        assert next(events)["seq"] == 4
        with pytest.raises(ServiceError, match="the service stops"):
            next(events)
        fake.streams = [b"data: {}\n\n"]
        with pytest.raises(ServiceError, match="not an answer of a fairhold service"):
            next(service.follow(3))
        fake.problems["events"] = Problem(410, fault("events-gone", "entries of the log before 9 are gone"))
        with pytest.raises(Refused, match="events-gone"):
            next(service.follow(3))
    with httpx.Client(base_url="http://127.0.0.1:1") as nobody, pytest.raises(ServiceMissing):
        next(following.follow([nobody], Rotation(Target("http://nobody")), 1))


@pytest.mark.usefixtures("fake")
def test_a_job_can_be_checked_without_being_submitted() -> None:
    with fairhold.connect() as service:
        found = service.check_job("/Research", ["true"], count=3, after="ok:1", need=("ssd",), labels={"team": "x"})
        assert found["tasks"] == 3
        assert service.jobs() == []
        with pytest.raises(TypeError, match="'counts'"):
            service.check_job("/Research", ["true"], counts=3)  # type: ignore[call-arg]

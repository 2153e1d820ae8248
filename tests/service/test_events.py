"""The event log: pages and streams."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, cast

from fairhold.access.rights import unlimited
from fairhold.ports import Entry, Retention
from fairhold.service import streams
from fairhold.service.news import News
from fairhold.service.settings import RequestLimits
from tests.service.served import here, serving

if TYPE_CHECKING:
    from pathlib import Path

    import httpx
    import pytest

    from tests.service.support import Bank

STREAM = {"Accept": "text/event-stream"}


def parsed(text: str) -> list[dict[str, Any]]:
    """Events of a stream, each with its id."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if fields:
            document = json.loads(fields["data"])
            assert fields["id"] == str(document["seq"])
            assert fields["event"] == document["kind"]
            found.append(document)
    return found


def test_pages_follow_one_another(bank: Bank) -> None:
    bank.submit(count=3)
    bank.hub.wait_started(3)
    whole = bank.get("/events")
    assert [each["seq"] for each in whole["events"]] == list(range(1, whole["next"] + 1))
    assert whole["events"][0]["kind"] == "PlanApplied"
    added = next(each for each in whole["events"] if each["kind"] == "JobAdded")
    assert (added["consumer"], added["tasks"], added["resource_group"]) == ("/Research", 3, "compute")
    after, seen = 0, []
    while page := bank.get(f"/events?after={after}&limit=2")["events"]:
        assert len(page) <= 2
        seen += page
        after = page[-1]["seq"]
    assert seen[: len(whole["events"])] == whole["events"]
    assert bank.get("/events?after=-1", 422)["code"] == "out-of-range"
    assert bank.get(f"/events?after={2**40}")["events"] == []


def test_a_stream_goes_on_where_the_last_one_ended(bank: Bank) -> None:
    job = bank.submit()["job"]
    bank.hub.wait_started(1)
    bank.until(f"/jobs/{job}", "state", "running")
    while not bank.desk.read(lambda core: core.cluster.attempts[1].is_running).result():
        pass

    async def follow() -> None:
        news = News(bank.desk)
        news.open()
        first = streams.stream(bank.store, news, 0, 0.05, sight(bank))
        assert (await anext(first)).startswith(":")
        events = parsed(await anext(first))
        assert [each["seq"] for each in events][:2] == [1, 2]
        second = streams.stream(bank.store, news, events[1]["seq"], 0.05, sight(bank))
        await anext(second)
        assert parsed(await anext(second)) == events[2:]
        assert await anext(second) == ": beat\n\n"
        last = news.last
        bank.hub.end(1)
        new: list[dict[str, Any]] = []
        while not any(each["kind"] == "JobEnded" for each in new):
            new += parsed(await anext(second))
        assert [each["seq"] for each in new] == list(range(last + 1, last + 1 + len(new)))
        news.close()
        rest = [piece async for piece in second]
        assert all(not parsed(piece) or piece for piece in rest)

    asyncio.run(follow())


def test_a_slow_reader_is_sent_pages_and_no_more(bank: Bank, monkeypatch: Any) -> None:
    monkeypatch.setattr(streams, "PAGE", 3)
    for _ in range(5):
        bank.submit()

    async def follow() -> None:
        news = News(bank.desk)
        news.open()
        slow = streams.stream(bank.store, news, 0, 0.05, sight(bank))
        await anext(slow)
        assert len(parsed(await anext(slow))) == 3
        bank.submit()  # nothing of it is kept for the reader
        assert [each["seq"] for each in parsed(await anext(slow))] == [4, 5, 6]
        news.close()

    asyncio.run(follow())


def test_a_hole_in_the_log_is_told(bank: Bank) -> None:
    for _ in range(3):
        bank.submit()
    for _ in range(2):
        bank.store.save_snapshot(bank.store.last, bank.store.last_at, b"{}")
        bank.submit()
    while bank.store.compact(Retention(entries_through=5)):
        pass
    first = bank.store.first()
    assert first > 2
    assert bank.get("/events?after=1", 410)["code"] == "events-gone"
    assert bank.get("/events")["events"][0]["seq"] == first
    answer = bank.client.get("/v1/events", headers={"Accept": "text/event-stream", "Last-Event-ID": "1"})
    assert answer.status_code == 410


def test_a_stream_whose_next_entries_are_cleared_out_ends(bank: Bank) -> None:
    for _ in range(6):
        bank.submit(hold=True)
    real = bank.store.entries

    def later(after: int, through: int = 0, limit: int = 0) -> list[Entry]:
        return [entry for entry in real(after, through, limit) if entry.seq > 4]

    async def follow() -> list[str]:
        news = News(bank.desk)
        bank.store.entries = cast("Any", later)  # type: ignore[method-assign]  # what a clearing out would leave
        return [piece async for piece in streams.stream(bank.store, news, 2, 0.05, sight(bank))]

    assert asyncio.run(follow()) == [": fairhold\n\n"], "nothing is left out silently"


def test_a_last_event_id_is_a_number(bank: Bank) -> None:
    answer = bank.client.get("/v1/events", headers={"Accept": "text/event-stream", "Last-Event-ID": "one"})
    assert answer.status_code == 422


def test_an_unknown_kind_keeps_its_fields() -> None:
    found = streams.event_document(Entry(7, 0, '["Novelty",1,"two"]'))
    assert found == {"seq": 7, "at": "1970-01-01T00:00:00Z", "kind": "Novelty", "fields": [1, "two"]}


def test_an_entry_that_cannot_be_read_is_told(bank: Bank, caplog: pytest.LogCaptureFixture) -> None:
    bank.submit()
    broken = [Entry(each.seq, each.at, each.body[:-4]) for each in bank.store.entries(0)]
    bank.store.entries = cast("Any", lambda *_, **__: broken)  # type: ignore[method-assign]  # as a bad disk would
    assert bank.get("/events", 500)["code"] == "store-damaged"
    assert "entry 1 of the log cannot be read" in caplog.text

    async def follow() -> list[str]:
        return [piece async for piece in streams.stream(bank.store, News(bank.desk), 0, 0.05, sight(bank))]

    assert asyncio.run(follow()) == [": fairhold\n\n"]


async def some(client: httpx.AsyncClient, pieces: int, **headers: str) -> list[dict[str, Any]]:
    """Events of a new stream, so many at least; then it is cut."""
    found: list[dict[str, Any]] = []
    head = {"Accept": "text/event-stream"} | {name.replace("_", "-"): value for name, value in headers.items()}
    async with client.stream("GET", "/v1/events", headers=head) as stream:
        assert stream.status_code == 200
        assert stream.headers["content-type"].startswith("text/event-stream")
        text = ""
        async for piece in stream.aiter_text():
            text += piece
            found = parsed(text.rpartition("\n\n")[0])
            if len(found) >= pieces:
                break
    return found


def test_a_stream_over_http_is_taken_up_after_it_was_cut(tmp_path: Path) -> None:
    async def work(bank: Bank, _url: str) -> None:
        async with here(bank) as client:
            for _ in range(4):
                await client.post("/v1/jobs", json={"consumer": "/Research", "argv": ["true"], "hold": True})
            first = await some(client, 3, Last_Event_ID="0")
            last = first[2]["seq"]
            following = asyncio.create_task(some(client, 2, Last_Event_ID=str(last)))
            await client.post("/v1/jobs", json={"consumer": "/Research", "argv": ["true"], "hold": True})
            more = await asyncio.wait_for(following, 10)
            assert [each["seq"] for each in more] == list(range(last + 1, last + 1 + len(more)))
            await client.post("/v1/stop")

    assert serving(tmp_path, work) == "leave"


def test_only_so_many_follow_at_once(tmp_path: Path) -> None:
    async def work(bank: Bank, _url: str) -> None:
        async with here(bank) as client, client.stream("GET", "/v1/events", headers=STREAM) as stream:
            pieces = stream.aiter_text()  # kept: the stream ends with it
            assert (await anext(pieces)).startswith(":")
            refused = await client.get("/v1/events", headers=STREAM)
            assert (refused.status_code, refused.json()["code"]) == (429, "too-many")
            assert "`streams` is 1" in refused.json()["detail"]
            await client.post("/v1/stop")

    assert serving(tmp_path, work, limits=RequestLimits(streams=1)) == "leave"


def sight(bank: Bank) -> streams.Sight:
    return streams.Sight(bank.core, lambda: unlimited("ann"))

from __future__ import annotations

import json
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairhold.agent.frames import AGENT, MAXIMUM, NONCE, SERVICE, Channel, FrameError, Opener, Sealer, session_key

KEY = session_key(b"secret", b"a" * NONCE, b"s" * NONCE)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
messages = st.lists(st.dictionaries(st.text(), values, max_size=4), min_size=1, max_size=5)


def sealed(contents: list[dict[str, object]], direction: bytes = AGENT, key: bytes = KEY) -> list[bytes]:
    sealer = Sealer(key, direction)
    return [sealer.seal(content) for content in contents]


@given(messages, st.integers(1, 50))
def test_what_is_sealed_is_opened_in_any_portions(contents: list[dict[str, object]], portion: int) -> None:
    stream = b"".join(sealed(contents))
    opener = Opener(KEY, AGENT)
    opened = [m for place in range(0, len(stream), portion) for m in opener.feed(stream[place : place + portion])]
    assert opened == contents


@given(messages, st.data())
def test_a_changed_bit_is_never_believed(contents: list[dict[str, object]], data: st.DataObject) -> None:
    stream = bytearray(b"".join(sealed(contents)))
    bit = data.draw(st.integers(0, len(stream) * 8 - 1))
    stream[bit // 8] ^= 1 << bit % 8
    opener, opened = Opener(KEY, AGENT), []
    try:
        for byte in stream:
            opened += opener.feed(bytes([byte]))
    except FrameError:
        with pytest.raises(FrameError):
            opener.feed(b"")
    # A length that was made larger only waits for more; in no case is there more than what stood before the change.
    assert opened == contents[: len(opened)]
    assert len(opened) < len(contents)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=8))
def test_only_the_order_of_the_sender_is_accepted(order: list[int]) -> None:
    frames = sealed([{"n": n} for n in range(5)])
    opener, opened = Opener(KEY, AGENT), []
    is_refused = False
    try:
        for n in order:
            opened += opener.feed(frames[n])
    except FrameError:
        is_refused = True
    assert opened == [{"n": n} for n in range(len(opened))]
    assert is_refused == (order != list(range(len(order))))


@pytest.mark.parametrize(
    ("direction", "key"),
    [
        (SERVICE, KEY),
        (AGENT, session_key(b"other", b"a" * 32, b"s" * 32)),
        (AGENT, session_key(b"secret", b"b" * 32, b"s" * 32)),
    ],
    ids=["sent back", "another secret", "another session"],
)  # fmt: skip
def test_frames_of_elsewhere_are_refused(direction: bytes, key: bytes) -> None:
    with pytest.raises(FrameError, match="does not verify"):
        Opener(KEY, AGENT).feed(sealed([{}], direction, key)[0])


def test_too_long_frames_are_refused_before_they_arrive_and_before_they_are_sent() -> None:
    with pytest.raises(FrameError, match="at most"):
        Opener(KEY, AGENT).feed(struct.pack(">I", MAXIMUM + 1) + bytes(32))
    sealer = Sealer(KEY, AGENT)
    with pytest.raises(FrameError, match="at most"):
        sealer.seal({"x": "y" * MAXIMUM})
    assert Opener(KEY, AGENT).feed(sealer.seal({"n": 1})) == [{"n": 1}]  # the one that was too long was not counted


@pytest.mark.parametrize(
    "payload", [b"[1]", b"{", b"\xff", b"", b"[" * 200_000], ids=["list", "half", "text", "none", "deep"]
)
def test_a_payload_that_is_no_object_is_refused(payload: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairhold.agent.frames._encode", lambda _: payload.decode("latin-1"))
    with pytest.raises(FrameError, match="JSON"):
        Opener(KEY, AGENT).feed(Sealer(KEY, AGENT).seal({}))


@settings(max_examples=30)
@given(st.integers(1, NONCE + 5), st.text())
def test_two_ends_agree_on_a_session(portion: int, text: str) -> None:
    agent, service = Channel(b"k", AGENT), Channel(b"k", SERVICE)
    with pytest.raises(FrameError, match="nonce"):
        agent.seal({})
    assert service.feed(agent.greeting) == []
    stream = service.greeting + service.seal({"text": text})
    opened = [m for place in range(0, len(stream), portion) for m in agent.feed(stream[place : place + portion])]
    assert opened == [{"text": text}]
    assert service.feed(agent.seal({"n": 1})) == [{"n": 1}]


def test_two_ends_with_two_secrets_do_not() -> None:
    agent, service = Channel(b"k", AGENT), Channel(b"l", SERVICE)
    service.feed(agent.greeting)
    agent.feed(service.greeting)
    with pytest.raises(FrameError):
        service.feed(agent.seal(json.loads("{}")))

"""Sessions of browsers: begun with a token, or with a code that counts once, and over when they should be."""

from __future__ import annotations

from fairhold.service.sessions import CODE_SPAN, MOST, SPAN, Sessions


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_session_stands_for_its_token_until_it_ends() -> None:
    sessions = Sessions(Clock())
    first, second = sessions.begin("Bearer a"), sessions.begin("Bearer b")
    assert (sessions.credential(first), sessions.credential(second)) == ("Bearer a", "Bearer b")
    sessions.end(first)
    assert (sessions.credential(first), sessions.credential(second)) == (None, "Bearer b")
    assert sessions.credential("") is None


def test_session_is_over_after_its_span() -> None:
    clock = Clock()
    sessions = Sessions(clock)
    secret = sessions.begin("Bearer a")
    clock.now += SPAN - 1
    assert sessions.credential(secret) == "Bearer a"
    clock.now += 1
    assert sessions.credential(secret) is None


def test_code_counts_once_and_soon() -> None:
    clock = Clock()
    sessions = Sessions(clock)
    code, late = sessions.code("Bearer a"), sessions.code("Bearer a")
    assert (sessions.redeem(code), sessions.redeem(code)) == ("Bearer a", None)
    assert sessions.credential(late) is None, "a code is no session"
    clock.now += CODE_SPAN
    assert sessions.redeem(late) is None


def test_sessions_do_not_grow_without_end() -> None:
    sessions = Sessions(Clock())
    first = sessions.begin("Bearer a")
    last = [sessions.begin("Bearer b") for _ in range(MOST)][-1]
    assert (sessions.credential(first), sessions.credential(last)) == (None, "Bearer b")

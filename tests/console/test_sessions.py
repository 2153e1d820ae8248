"""Sessions of browsers: begun with a token, or with a code that counts once, and over when they should be."""

from __future__ import annotations

from fairhold.service.sessions import CODE_SPAN, MOST, SPAN, Sessions, Signed


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def asked(sessions: Sessions, secret: str) -> str | None:
    signed = sessions.signed(secret)
    return signed.credential if signed else None


def test_session_stands_for_its_token_until_it_ends() -> None:
    sessions = Sessions(Clock())
    first, second = sessions.begin(Signed("Bearer a")), sessions.begin(Signed("Bearer b"))
    assert (asked(sessions, first), asked(sessions, second)) == ("Bearer a", "Bearer b")
    sessions.end(first)
    assert (asked(sessions, first), asked(sessions, second)) == (None, "Bearer b")
    assert asked(sessions, "") is None


def test_session_is_over_after_its_span() -> None:
    clock = Clock()
    sessions = Sessions(clock)
    secret = sessions.begin(Signed("Bearer a"))
    clock.now += SPAN - 1
    assert asked(sessions, secret) == "Bearer a"
    clock.now += 1
    assert asked(sessions, secret) is None


def test_code_counts_once_and_soon() -> None:
    clock = Clock()
    sessions = Sessions(clock)
    code, late = sessions.code("Bearer a"), sessions.code("Bearer a")
    assert (sessions.redeem(code), sessions.redeem(code)) == ("Bearer a", None)
    assert asked(sessions, late) is None, "a code is no session"
    clock.now += CODE_SPAN
    assert sessions.redeem(late) is None


def test_sessions_do_not_grow_without_end() -> None:
    sessions = Sessions(Clock())
    first = sessions.begin(Signed("Bearer a"))
    last = [sessions.begin(Signed("Bearer b")) for _ in range(MOST)][-1]
    assert (asked(sessions, first), asked(sessions, last)) == (None, "Bearer b")

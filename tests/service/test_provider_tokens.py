"""Tokens that are forged, late or of somebody else, and providers that are away or lie."""

from __future__ import annotations

import asyncio
import hmac
import json
import threading
import time
from base64 import urlsafe_b64encode
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey

from fairhold.access.provider import Person, Provider
from fairhold.errors import Fault
from fairhold.planio.access import parse_access
from fairhold.service.sign_in import asking
from fairhold.service.sign_in.checking import Checking
from fairhold.service.sign_in.keys import FRESH, LIFE, PAUSE, Directory
from tests.provider.running import RunningProvider
from tests.service.people import access_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NOW = 1_800_000_000
KEYS = {name: RSAKey.generate_key(2048, {"kid": name, "use": "sig"}) for name in ("one", "two")}
CURVE = ECKey.generate_key("P-256", {"kid": "curve", "use": "sig", "alg": "ES256"})
PUBLIC: list[dict[str, Any]] = [
    *(dict(key.as_dict(private=False)) for key in KEYS.values()),
    dict(CURVE.as_dict(private=False)),
]


class Liar:
    """A provider that says what a test wants; asked: the paths that it was asked for."""

    def __init__(self, port: int) -> None:
        self.issuer = f"http://127.0.0.1:{port}"
        self.said: dict[str, Any] = {
            "issuer": self.issuer,
            "jwks_uri": f"{self.issuer}/keys",
            "token_endpoint": f"{self.issuer}/token",
            "authorization_endpoint": f"{self.issuer}/authorize",
        }
        self.keys: Any = {"keys": PUBLIC}
        self.asked: list[str] = []
        self.answer: Callable[[str], tuple[int, dict[str, str], bytes]] = self.plain

    def plain(self, path: str) -> tuple[int, dict[str, str], bytes]:
        body = self.keys if path == "/keys" else self.said
        return 200, {}, json.dumps(body).encode()


@contextmanager
def serving() -> Iterator[Liar]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            provider.asked.append(self.path)
            status, headers, body = provider.answer(self.path)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                self.wfile.write(body)
            except OSError:
                return

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        provider = Liar(server.server_address[1])
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield provider
        server.shutdown()
        thread.join()


@pytest.fixture
def liar() -> Iterator[Liar]:
    with serving() as found:
        yield found


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Door:
    """Checks tokens as the service does, under a clock that the test sets."""

    def __init__(self, issuer: str, **more: Any) -> None:
        self.provider = Provider(issuer, "fairhold", **more)
        self.clock = Clock()
        self.directory = Directory(self.clock)
        self.checking = Checking(self.directory)
        self.access = parse_access(access_text(), "access.yaml")[0]

    def find(self, token: str, now: float = NOW) -> Person | Fault:
        async def check() -> Person | Fault:
            await self.checking.prepare(self.provider, token)
            renewing = self.directory._renewing
            if renewing is not None:
                await renewing
            return self.checking.person(self.access, self.provider, token, int(now * 1_000_000))

        return asyncio.run(check())

    def code(self, token: str, now: float = NOW) -> str:
        found = self.find(token, now)
        return found.code if isinstance(found, Fault) else found.name


def claims(issuer: str, **more: Any) -> dict[str, Any]:
    plain = {"iss": issuer, "aud": "fairhold", "sub": "7", "iat": NOW - 10, "exp": NOW + 600}
    found = plain | {"preferred_username": "ben", "groups": ["quants"]} | more
    return {name: value for name, value in found.items() if value is not None}


def signed(said: dict[str, Any], key: Any = KEYS["one"], **head: Any) -> str:
    kid = {} if "kid" in head else {"kid": key.kid}
    header = {name: value for name, value in ({"alg": "RS256"} | kid | head).items() if value is not None}
    return jwt.encode(header, said, key, algorithms=["RS256", "ES256", "PS256", "HS256", "none"])


# Signatures


def test_good_tokens_count_whatever_the_kind_of_their_key(liar: Liar) -> None:
    door, said = Door(liar.issuer), claims(liar.issuer)
    assert door.find(signed(said)) == Person("ben", ("quants",), "7", (NOW + 660) * 1_000_000)
    assert door.code(signed(said, KEYS["two"], alg="PS256")) == "ben"
    assert door.code(signed(said, CURVE, alg="ES256")) == "ben"
    assert liar.asked == ["/.well-known/openid-configuration", "/keys"], "once for all"


@pytest.mark.filterwarnings("ignore")
def test_forged_tokens_of_a_provider_are_refused(liar: Liar) -> None:
    door, said = Door(liar.issuer), claims(liar.issuer)
    good = signed(said)
    head, body, signature = good.split(".")
    other = RSAKey.generate_key(2048, {"kid": "one"})
    forged = {
        "another key of the same name": signed(said, other),
        "no signature": f"{head}.{body}.",
        "half a signature": f"{head}.{body}.{signature[:100]}",
        "another body": f"{head}.{signed(claims(liar.issuer, sub='8')).split('.')[1]}.{signature}",
        "alg none": signed(said, OctKey.import_key("x"), alg="none", kid="one"),
        "alg none, spelled otherwise": good.replace(head, _part({"alg": "nOnE", "kid": "one"})),
        "the public key as a secret": by_hand({"alg": "HS256", "kid": "one"}, said),
        "a key of its own": good.replace(head, _part({"alg": "RS256", "jwk": PUBLIC[1]})),
        "another kind of key": good.replace(head, _part({"alg": "ES256", "kid": "one"})),
        "a key for something else": signed(said, alg="RS256", kid="curve"),
        "a logout token": signed(said, typ="logout+jwt"),
        "what must be understood": by_hand({"alg": "RS256", "kid": "one", "crit": ["x"], "x": 1}, said),
        "no name of a key": signed(said, kid=None),
        "no text": "..",
        "no base64": "ü.ü.ü",
        "deep": f"{_part('[' * 2000)}.{body}.{signature}",
        "long": f"{head}.{'a' * 40_000}.{signature}",
    }
    assert {why: door.code(token) for why, token in forged.items()} == dict.fromkeys(forged, "wrong-token")
    assert door.code(good) == "ben"


def by_hand(head: dict[str, Any], said: dict[str, Any]) -> str:
    """A token that the library would not make: of HS256 with the public key as its secret, else of RS256."""
    text = f"{_part(head)}.{_part(said)}".encode()
    if head["alg"] == "HS256":
        signature = hmac.digest(KEYS["one"].as_pem(private=False), text, "sha256")
    else:
        key = KEYS["one"].private_key
        assert key is not None
        signature = key.sign(text, PKCS1v15(), SHA256())
    return f"{text.decode()}.{urlsafe_b64encode(signature).decode().rstrip('=')}"


def test_tokens_made_by_hand_count_where_nothing_is_wrong_with_them(liar: Liar) -> None:
    assert Door(liar.issuer).code(by_hand({"alg": "RS256", "kid": "one"}, claims(liar.issuer))) == "ben"


def _part(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


# What tokens say


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"iss": "https://elsewhere.example"}, "wrong-token"),
        ({"iss": None}, "wrong-token"),
        ({"aud": "other"}, "wrong-token"),
        ({"aud": []}, "wrong-token"),
        ({"aud": None}, "wrong-token"),
        ({"aud": {"fairhold": 1}}, "wrong-token"),
        ({"aud": ["other", "fairhold"]}, "ben"),
        ({"aud": ["other", "fairhold"], "azp": "other"}, "wrong-token"),
        ({"aud": "api"}, "ben"),
        ({"aud": ["api"], "azp": "other"}, "ben"),
        ({"exp": None}, "wrong-token"),
        ({"exp": "soon"}, "wrong-token"),
        ({"exp": True}, "wrong-token"),
        ({"exp": 1e300}, "wrong-token"),
        ({"exp": NOW - 60}, "expired-token"),
        ({"exp": NOW - 59}, "ben"),
        ({"nbf": NOW + 61}, "early-token"),
        ({"nbf": NOW + 60}, "ben"),
        ({"nbf": "now"}, "wrong-token"),
        ({"iat": NOW + 61}, "early-token"),
        ({"sub": None}, "wrong-token"),
        ({"sub": ""}, "wrong-token"),
        ({"sub": "x" * 256}, "wrong-token"),
        ({"preferred_username": None}, "wrong-token"),
        ({"preferred_username": ["ben"]}, "wrong-token"),
        ({"preferred_username": "ben/ada"}, "wrong-token"),
        ({"preferred_username": "b\u202een"}, "wrong-token"),
        ({"preferred_username": "x" * 65}, "wrong-token"),
        ({"preferred_username": "nightly"}, "name-taken"),
        ({"groups": "quants"}, "ben"),
        ({"groups": 7}, "ben"),
        ({"groups": [["quants"], None]}, "ben"),
    ],
)
def test_what_a_token_says_has_to_be_for_us_and_now(liar: Liar, more: dict[str, Any], code: str) -> None:
    assert Door(liar.issuer, audience=("api",)).code(signed(claims(liar.issuer, **more))) == code


def test_tokens_of_another_client_and_of_another_provider_are_refused(tmp_path: Path, liar: Liar) -> None:
    with RunningProvider(tmp_path / "provider") as provider:
        door = Door(provider.issuer)
        assert door.code(provider.tokens("ben", "other")["id_token"], time.time()) == "wrong-token"
        assert door.code(signed(claims(provider.issuer)), time.time()) == "wrong-token"
        assert door.code(provider.tokens("ben")["access_token"], time.time()) == "wrong-token"
        good = provider.tokens("ben")["id_token"]
        assert door.code(good, time.time()) == "ben"
        assert Door(liar.issuer).code(good, time.time()) == "wrong-token"
        assert door.code(good, time.time() + 3600) == "expired-token"


# Keys


def test_another_key_is_asked_for_and_not_too_often(tmp_path: Path) -> None:
    provider = RunningProvider(tmp_path / "provider")
    with provider:
        door = Door(provider.issuer)
        first = provider.tokens("ben")["id_token"]
        assert door.code(first, time.time()) == "ben"
    (provider.folder / "key.pem").rename(provider.folder / "old.pem")
    provider.new_key()
    assert door.code(first, time.time()) == "ben", "known keys count while the provider is away"
    with provider:
        second = provider.tokens("ben")["id_token"]
        assert door.code(second, time.time()) == "wrong-token", "asked a moment ago"
        door.clock.now += PAUSE
        assert [door.code(each, time.time()) for each in (second, first)] == ["ben", "ben"]


def test_strangers_cannot_let_the_provider_be_asked_again_and_again(liar: Liar) -> None:
    door = Door(liar.issuer)
    for number in range(50):
        door.code(signed(claims(liar.issuer), kid=f"k{number}"))
    assert len(liar.asked) == 2
    door.clock.now += PAUSE
    for number in range(50):
        door.code(signed(claims(liar.issuer), kid=f"k{number}"))
    assert len(liar.asked) == 4


def test_keys_are_renewed_while_they_count_and_end_where_that_fails(liar: Liar) -> None:
    door, token = Door(liar.issuer), signed(claims(liar.issuer))
    assert door.code(token) == "ben"
    liar.keys = {"keys": PUBLIC[1:]}
    door.clock.now += FRESH
    assert door.code(token) == "wrong-token", "a key that the provider has taken back counts no more"
    liar.keys = {"keys": PUBLIC}
    door.clock.now += PAUSE
    assert door.code(token) == "ben"
    liar.keys = {"keys": [{**PUBLIC[1], "kid": "one"}, *PUBLIC[1:]]}
    door.clock.now += FRESH
    assert door.code(token) == "wrong-token", "nor does one that another has taken the name of"
    liar.keys = {"keys": PUBLIC}
    door.clock.now += FRESH
    assert door.code(token) == "ben"
    liar.answer = lambda _: (500, {}, b"")
    door.clock.now += LIFE - 1
    assert door.code(token) == "ben"
    door.clock.now += 1
    assert door.code(token) == "provider-down"
    liar.answer = liar.plain
    door.clock.now += PAUSE
    assert door.code(token) == "ben"


@pytest.mark.parametrize(
    "keys",
    [
        [],
        {"keys": "none"},
        {"keys": [1, None, {}, {"kty": "RSA"}, {"kty": "RSA", "n": "AQAB", "e": "AQAB", "kid": "one"}]},
        {"keys": [{**PUBLIC[0], "use": "enc"}]},
        {"keys": [OctKey.generate_key(256, {"kid": "one"}).as_dict()]},
        {"keys": [{**PUBLIC[0], "n": str(PUBLIC[0]["n"])[:171]}]},
    ],
)
def test_keys_of_other_kinds_count_for_nothing(liar: Liar, keys: Any) -> None:
    liar.keys = keys
    assert Door(liar.issuer).code(signed(claims(liar.issuer))) == "provider-down"


# Providers that are away, slow or lie


LIES: dict[str, tuple[dict[str, Any], str]] = {
    "is another": ({"issuer": "https://elsewhere.example"}, "calls itself"),
    "is nobody": ({"issuer": None}, "calls itself"),
    "has keys elsewhere without TLS": ({"jwks_uri": "http://elsewhere.example/keys"}, "https"),
    "has keys in a file": ({"jwks_uri": "file:///etc/passwd"}, "https"),
    "has no keys": ({"jwks_uri": None}, "https"),
    "sends codes elsewhere without TLS": ({"token_endpoint": "http://elsewhere.example/token"}, "https"),
    "has a number for an address": ({"authorization_endpoint": 7}, "https"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_provider_that_lies_is_not_believed(liar: Liar, lie: str) -> None:
    more, why = LIES[lie]
    liar.said |= more
    found = Door(liar.issuer).find(signed(claims(liar.issuer)))
    assert isinstance(found, Fault)
    assert found.code == "provider-down"
    assert why in found.what


ANSWERS: dict[str, tuple[tuple[int, dict[str, str], bytes], str]] = {
    "leads elsewhere": ((302, {"Location": "http://127.0.0.1:1/"}, b""), "leads elsewhere"),
    "fails": ((500, {}, b"{}"), "with 500"),
    "is none": ((404, {}, b"<html>"), "no document"),
    "says nothing": ((200, {}, b""), "no document"),
    "says a list": ((200, {}, b"[]"), "no document"),
    "says too much": ((200, {}, b" " * (asking.LARGEST + 1)), "more than"),
    "packs what it says": ((200, {"Content-Encoding": "gzip"}, b"\x1f\x8b"), "packs"),
    "is too deep": ((200, {}, b"[" * 100_000), "no document"),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_provider_that_answers_nonsense_is_told_apart(liar: Liar, answer: str) -> None:
    found, why = ANSWERS[answer]
    liar.answer = lambda _: found
    told = Door(liar.issuer).find(signed(claims(liar.issuer)))
    assert isinstance(told, Fault)
    assert (told.code, why in told.what) == ("provider-down", True), told.what


def test_a_provider_that_is_away_or_slow_keeps_nobody_waiting_long(liar: Liar, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Door("http://127.0.0.1:1").code(signed(claims("http://127.0.0.1:1"))) == "provider-down"
    monkeypatch.setattr(asking, "LONGEST", 0.2)
    ended = threading.Event()
    liar.answer = lambda _: (200, {}, b"{}") if ended.wait(20) else (500, {}, b"")
    found = Door(liar.issuer).find(signed(claims(liar.issuer)))
    ended.set()
    assert isinstance(found, Fault)
    assert "does not answer within" in found.what

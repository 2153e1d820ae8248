"""Sign-in at a real OpenID provider: by browsers, by devices, and with its tokens."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

from fairhold.service import small_bodies
from tests.provider.running import RunningProvider, Visitor
from tests.service.people import access_text, put_access
from tests.service.support import Bank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import httpx

OWN = {"fairhold-console": "1"}


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningProvider]:
    with RunningProvider(tmp_path_factory.mktemp("provider")) as found:
        yield found


@pytest.fixture
def sso(bank: Bank, provider: RunningProvider) -> Bank:
    """A bank whose access document names the provider; its client has no token."""
    put_access(bank, access_text() + provider.document())
    bank.client.headers.pop("Authorization")
    return bank


def asks(bank: Bank, token: str, path: str = "/v1/me", **more: Any) -> httpx.Response:
    return bank.client.get(path, headers={"Authorization": f"Bearer {token}"}, **more)


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.1)


def code_of(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, str(answer.json()["code"])


def records(bank: Bank) -> list[Any]:
    found = asks(bank, bank.token, "/v1/audit").json()["records"]
    return [(each["user"], each["action"], each["outcome"]) for each in found]


def begun(bank: Bank, to: str = "/console/jobs?find=x") -> str:
    """Begin to sign in with the bank's browser; the address at the provider."""
    answer = bank.client.get("/console/sign-in/begin", params={"to": to})
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def path_of(address: str) -> str:
    return address.removeprefix("http://localhost:7878")


# Browsers


def test_browser_signs_in_and_comes_to_the_page_that_it_wanted(sso: Bank, provider: RunningProvider) -> None:
    assert sso.client.get("/console/sign-in").json() == {"provider": "Bank SSO"}
    where = begun(sso)
    asked = parse_qs(urlsplit(where).query)
    assert (asked["code_challenge_method"], asked["response_type"]) == (["S256"], ["code"])
    answer = sso.client.get(path_of(Visitor(provider, "ben").comes_back(where)))
    assert (answer.status_code, answer.headers["location"]) == (303, "/console/jobs?find=x")
    cookies = answer.headers.get_list("set-cookie")
    session = next(each.lower() for each in cookies if each.startswith("fairhold-7878="))
    assert {"httponly", "samesite=strict", "path=/"} <= set(session.split("; "))
    me = sso.client.get("/v1/me", headers=OWN).json()
    assert (me["user"], me["groups"], me["administrator"]) == ("ben", ["quants"], False)
    assert me["via"] == f"127.0.0.1:{provider.port}, subject 1"
    assert records(sso)[-1] == ("ben", "sign_in", "done")
    job = sso.client.post("/v1/jobs", json={"consumer": "/Research", "argv": ["true"]}, headers=OWN)
    assert job.status_code == 201
    found = asks(sso, sso.token, "/v1/audit").json()["records"][-1]
    assert (found["user"], found["via"], found["action"]) == ("ben", me["via"], "submit_job")
    assert sso.client.delete("/console/session", headers=OWN).status_code == 204
    assert sso.client.get("/v1/me", headers=OWN).status_code == 401


def test_a_sign_in_counts_once_and_in_the_browser_that_began_it(sso: Bank, provider: RunningProvider) -> None:
    back = path_of(Visitor(provider, "ben").comes_back(begun(sso)))
    kept = dict(sso.client._client.cookies)
    sso.client._client.cookies.clear()
    answer = sso.client.get(back)
    assert (answer.status_code, "sign-in-over" in answer.text) == (401, True), "in another browser"
    sso.client._client.cookies.update(kept)
    assert sso.client.get(back).status_code == 401, "its state was used up"
    assert sso.client.get("/v1/me", headers=OWN).status_code == 401
    assert ("", "sign_in", "sign-in-over") in records(sso)


def test_a_code_of_another_sign_in_is_refused(sso: Bank, provider: RunningProvider) -> None:
    stolen = parse_qs(urlsplit(Visitor(provider, "ben").comes_back(begun(sso))).query)["code"][0]
    state = parse_qs(urlsplit(begun(sso)).query)["state"][0]
    answer = sso.client.get("/console/sign-in/end", params={"code": stolen, "state": state})
    assert (answer.status_code, "sign-in-over" in answer.text) == (401, True), "it was asked for with another verifier"


def test_a_token_of_another_sign_in_is_refused(sso: Bank, provider: RunningProvider) -> None:
    where = begun(sso)
    state, nonce = (parse_qs(urlsplit(where).query)[name][0] for name in ("state", "nonce"))
    replayed = where.replace(f"nonce={nonce}", "nonce=another")
    code = parse_qs(urlsplit(Visitor(provider, "ben").comes_back(replayed)).query)["code"][0]
    answer = sso.client.get("/console/sign-in/end", params={"code": code, "state": state})
    assert (answer.status_code, "wrong-token" in answer.text, "nonce" in answer.text) == (401, True, True)


@pytest.mark.parametrize(
    "more", [{"error": "access_denied"}, {"iss": "http://127.0.0.1:1/o", "code": "x"}, {"code": "x" * 40_000}]
)
def test_what_comes_back_without_a_good_code_signs_nobody_in(sso: Bank, more: dict[str, str]) -> None:
    state = parse_qs(urlsplit(begun(sso)).query)["state"][0]
    answer = sso.client.get("/console/sign-in/end", params={"state": state, **more})
    assert answer.status_code in {401, 503}
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "to", ["https://evil.example/", "//evil.example", "/console//evil.example", "/console/\\evil", "/v1/stop", ""]
)
def test_a_sign_in_leads_nowhere_else(sso: Bank, provider: RunningProvider, to: str) -> None:
    back = path_of(Visitor(provider, "ben").comes_back(begun(sso, to)))
    assert sso.client.get(back).headers["location"] == "/console/"


def test_a_page_of_somebody_else_begins_nothing(sso: Bank) -> None:
    foreign = {"Origin": "http://evil.example"}
    assert sso.client.post("/console/sign-in/device", headers=foreign).status_code == 403
    assert sso.client.get("/console/sign-in/begin", headers={"Host": "evil.example"}).status_code == 403


def test_who_signs_in_goes_on_being_told_by_what_the_provider_says(sso: Bank, provider: RunningProvider) -> None:
    head = {"Authorization": f"Bearer {provider.tokens('ben')['id_token']}"}
    body = {"mail": True}
    sso._ask("PATCH", "/me/notifications", 200, json=body, headers=head)
    told, day = sso.core.notifications, 86_400_000_000
    first = told.subscription("ben")
    late = first._replace(seen=first.seen - 29 * day, groups=())
    sso.desk.write(lambda core: core.notifications.subscribe(late)).result()
    kept = []
    for _ in range(2):
        assert sso.client.get("/v1/me", headers=head).status_code == 200
        sso.desk.read(lambda _: None).result()
        kept.append(json.loads(sso.store.notifications("person")["ben"]))
    assert (kept[0]["seen"] >= first.seen, kept[0]["groups"]) == (True, ["quants"])
    assert kept[1] == kept[0], "once a day is enough"


def test_a_session_goes_on_with_other_tokens_until_the_provider_gives_none(tmp_path: Path) -> None:
    with RunningProvider(tmp_path / "provider", seconds=2) as provider, Bank(tmp_path / "state") as bank:
        put_access(bank, access_text() + provider.document())
        bank.client.headers.pop("Authorization")
        bank.client.get(path_of(Visitor(provider, "ben").comes_back(begun(bank))))
        first = bank.client.get("/v1/me", headers=OWN).json()["expires"]
        wait_until(lambda: bank.client.get("/v1/me", headers=OWN).json()["expires"] > first)
        provider.forget_sign_ins()
        wait_until(lambda: bank.client.get("/v1/me", headers=OWN).status_code == 401)


# Devices


def waits(bank: Bank, device: str) -> httpx.Response:
    answer: httpx.Response = bank.client.post("/console/sign-in/token", json={"device_code": device})
    return answer


def test_a_device_waits_until_it_is_let_in_and_gets_others_until_it_leaves(
    sso: Bank, provider: RunningProvider
) -> None:
    begin = sso.client.post("/console/sign-in/device")
    told = begin.json()
    assert (begin.status_code, told["provider"], told["interval"]) == (201, "Bank SSO", 1)
    assert waits(sso, told["device_code"]).status_code == 202
    Visitor(provider, "ben").answer(told["user_code"])
    given = waits(sso, told["device_code"]).json()
    assert (given["user"], 0 < given["seconds"] <= 600) == ("ben", True)
    assert asks(sso, given["token"]).json()["user"] == "ben"
    wait_until(lambda: records(sso)[-1] == ("ben", "sign_in", "done"))
    other = sso.client.post("/console/sign-in/refresh", json={"refresh": given["refresh"]}).json()
    assert asks(sso, other["token"]).json()["user"] == "ben"
    assert sso.client.post("/console/sign-in/revoke", json={"refresh": other["refresh"]}).status_code == 204
    over = sso.client.post("/console/sign-in/refresh", json={"refresh": other["refresh"]})
    assert code_of(over) == (401, "sign-in-over")


def test_a_device_that_is_not_let_in_is_told(sso: Bank, provider: RunningProvider) -> None:
    told = sso.client.post("/console/sign-in/device").json()
    Visitor(provider, "ben").answer(told["user_code"], "deny")
    assert code_of(waits(sso, told["device_code"])) == (401, "sign-in-denied")


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"refresh": 1}', b'{"refresh": "a", "b": "c"}', b"x" * 70_000])
def test_what_is_no_refresh_token_is_refused(sso: Bank, body: bytes) -> None:
    assert code_of(sso.client.post("/console/sign-in/refresh", content=body)) == (400, "bad-request")


def test_a_client_with_a_secret_shows_it_to_the_provider_and_to_nobody_else(
    tmp_path: Path, provider: RunningProvider
) -> None:
    secret = tmp_path / "secret"
    with Bank(tmp_path / "state", oidc_secret=secret) as bank:
        put_access(bank, access_text() + provider.document(client_id="closed"))
        absent = bank.client.post("/console/sign-in/device")
        secret.write_text("another\n")
        wrong = bank.client.post("/console/sign-in/device")
        assert [code_of(each) for each in (absent, wrong)] == [(503, "provider-down")] * 2
        secret.write_text("a secret of the client\n")
        bank.client.headers.pop("Authorization")
        where = begun(bank)
        assert "secret" not in where
        back = bank.client.get(path_of(Visitor(provider, "ben").comes_back(where)))
        assert back.status_code == 303
        assert bank.client.get("/v1/me", headers=OWN).json()["user"] == "ben"


def test_where_no_provider_is_named_nobody_can_sign_in(bank: Bank) -> None:
    bank.client.headers.pop("Authorization")
    assert bank.client.get("/console/sign-in").json() == {"provider": None}
    assert code_of(bank.client.post("/console/sign-in/device")) == (404, "no-provider")
    assert bank.client.get("/console/sign-in/begin").status_code == 404
    assert bank.client.get("/console/sign-in/nothing").status_code == 404
    assert bank.client.post("/console/sign-in/begin").status_code == 405
    assert code_of(asks(bank, "a.b.c")) == (401, "wrong-token")


def test_strangers_may_ask_only_so_often(sso: Bank) -> None:
    answers = [sso.client.post("/console/sign-in/refresh", content=b"{}").status_code for _ in range(100)]
    assert set(answers) == {400, 429}


def test_who_sends_slowly_takes_nobody_s_place(sso: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_bodies, "PATIENCE", 1.0)
    told: list[int] = []

    async def never() -> Any:
        await asyncio.sleep(60)

    async def tell(message: Any) -> None:
        if message["type"] == "http.response.start":
            told.append(message["status"])

    async def slowly() -> None:
        headers = [(b"host", b"localhost:7878")]
        path = "/console/sign-in/refresh"
        about = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers}
        await sso.app(about, never, tell)

    async def all_at_once() -> httpx.Response:
        slow = [asyncio.create_task(slowly()) for _ in range(9)]
        await asyncio.sleep(0.1)
        answer = await sso.client._client.get("/console/sign-in/begin")
        assert told == []
        await asyncio.gather(*slow)
        return answer

    assert sso.client._do(all_at_once()).status_code == 303
    assert told == [400] * 9


# Who comes in


def test_who_is_in_no_list_comes_in_by_a_group(sso: Bank, provider: RunningProvider) -> None:
    token = provider.tokens("uma")["id_token"]
    me = asks(sso, token).json()
    assert (me["user"], me["groups"], me["permissions"]["submit"]) == ("uma", ["quants"], ["/Research"])
    job = sso.client.post(
        "/v1/jobs", json={"consumer": "/Research", "argv": ["true"]}, headers={"Authorization": f"Bearer {token}"}
    )
    assert job.json()["user"] == "uma"
    assert asks(sso, token, "/v1/audit").status_code == 403


def test_groups_have_other_names_here_where_the_document_says_so(sso: Bank, provider: RunningProvider) -> None:
    token = provider.tokens("uma")["id_token"]
    text = access_text().replace("groups: {quants: [ben, nightly]}", "groups: {quants: [ben], desk: []}")
    sso.client.headers.update(sso.head)
    put_access(sso, text + provider.document(group_names="{unheard-of: desk, quants: desk}"))
    assert asks(sso, token).json()["groups"] == ["desk"]


@pytest.mark.parametrize(
    ("user", "status", "code"),
    [("zoe", 200, ""), ("ann", 403, "unknown-user"), ("nightly", 403, "name-taken"), ("root", 403, "name-taken")],
)
def test_a_name_alone_gives_nothing(sso: Bank, provider: RunningProvider, user: str, status: int, code: str) -> None:
    answer = asks(sso, provider.tokens(user)["id_token"])
    assert answer.status_code == status
    if code:
        assert answer.json()["code"] == code
    else:
        assert answer.json()["permissions"] == {}


def test_a_prefix_keeps_names_of_the_provider_apart(sso: Bank, provider: RunningProvider) -> None:
    sso.client.headers.update(sso.head)
    put_access(sso, access_text() + provider.document(prefix="sso."))
    me = asks(sso, provider.tokens("nightly")["id_token"]).json()
    assert (me["user"], me["groups"]) == ("sso.nightly", ["quants"])


def test_an_address_counts_as_a_name_only_where_it_was_verified(sso: Bank, provider: RunningProvider) -> None:
    sso.client.headers.update(sso.head)
    put_access(sso, access_text() + provider.document(user_claim="email"))
    assert asks(sso, provider.tokens("uma")["id_token"]).json()["user"] == "uma@example.com"
    assert code_of(asks(sso, provider.tokens("zoe")["id_token"])) == (401, "wrong-token")


def test_who_is_taken_out_of_the_document_may_not_ask(sso: Bank, provider: RunningProvider) -> None:
    token = provider.tokens("uma")["id_token"]
    assert asks(sso, token).status_code == 200
    sso.client.headers.update(sso.head)
    put_access(sso, access_text().replace("quants", "others_") + provider.document())
    assert code_of(asks(sso, token)) == (403, "unknown-user")
    put_access(sso, access_text())
    assert code_of(asks(sso, token)) == (401, "wrong-token")


def test_the_first_provider_locks_nobody_out(bank: Bank, provider: RunningProvider) -> None:
    put_access(bank, access_text())
    before = bank.post("/tokens", {"user": "ben"}, 201)["text"]
    put_access(bank, access_text() + provider.document(issuer="https://127.0.0.1:1/not-there"))
    assert bank.get("/me")["administrator"]
    assert asks(bank, before).json()["user"] == "ben"


def test_a_token_made_by_a_sign_in_ends_with_it(sso: Bank, provider: RunningProvider) -> None:
    token = provider.tokens("ben")["id_token"]
    head = {"Authorization": f"Bearer {token}"}
    made = sso.client.post("/v1/tokens", json={"expires": "365d"}, headers=head).json()
    assert made["expires"] == asks(sso, token).json()["expires"]

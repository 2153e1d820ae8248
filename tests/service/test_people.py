"""Who somebody is: tokens of every kind, users of the machine, people who come and go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fairhold.access.tokens import Token, parse_token
from fairhold.service.auth import Caller, Guard, Peer, Refused
from fairhold.service.settings import RequestLimits
from fairhold.units import SECOND
from tests.service.people import ACCESS, Staff, access_text, put_access
from tests.service.served import here, serving
from tests.service.support import PLAN, Bank

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def staff(bank: Bank) -> Staff:
    return Staff(bank, access_text())


def refusal(staff: Staff, text: str, status: int = 401) -> Any:
    return staff.bank.get("/me", status, headers={"Authorization": f"Bearer {text}"})["code"]


def token_of(staff: Staff, user: str) -> Token:
    token = parse_token(staff.tokens[user])
    assert token is not None
    return token


def test_a_token_says_who_asks_and_the_job_is_his(staff: Staff) -> None:
    job = staff.submit("ben")
    assert job["user"] == "ben"
    assert staff.get("ben", "/me")["user"] == "ben"
    assert staff.get("ben", "/me")["permissions"] == {"submit": ["/Research"], "view": ["/Research"]}


def test_whose_a_job_is_is_not_what_the_client_says(staff: Staff) -> None:
    assert staff.submit("ben", 403, user="ada")["code"] == "not-allowed"
    assert staff.submit("ben", user="ben")["user"] == "ben"


def test_who_may_act_for_others_does_so_on_the_record(bank: Bank) -> None:
    text = access_text() + "  - {role: deputy, at: /Research, users: [zoe]}\n"
    staff = Staff(bank, text)
    job = staff.submit("zoe", user="ben")
    assert job["user"] == "ben"
    assert staff.submit("zoe", 403, consumer="/Trading/FX", user="dan")["code"] == "not-allowed"
    (record,) = staff.get("ada", "/audit?action=submit_job&outcome=done")["records"]
    assert (record["user"], record["target"], record["detail"]["for"]) == ("zoe", job["job"], "ben")


def test_the_account_by_which_somebody_is_known_goes_with_his_own_jobs_only(
    bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    staff = Staff(bank, access_text() + "  - {role: deputy, at: /Research, users: [zoe]}\n")
    known: Any = Guard._by_own_token
    monkeypatch.setattr(Guard, "_by_own_token", lambda guard, text: known(guard, text)._replace(account="zweiss"))
    own, for_ben = staff.submit("zoe"), staff.submit("zoe", user="ben")
    specs = [bank.desk.core.specs.of(job["job"]) for job in (own, for_ben)]
    assert [(spec.user, spec.account) for spec in specs if spec] == [("zoe", "zweiss"), ("ben", "")]


def test_a_token_that_was_revoked_counts_no_more_at_once(staff: Staff) -> None:
    number = token_of(staff, "ben").number
    assert staff.post("ben", f"/tokens/{number}/revoke", {})["state"] == "revoked"
    assert refusal(staff, staff.tokens["ben"]) == "revoked-token"
    assert staff.post("ada", f"/tokens/{number}/revoke", {})["state"] == "revoked", "once more is no error"


def test_forged_tokens_and_those_of_other_clusters_are_refused(staff: Staff) -> None:
    good = token_of(staff, "ben")
    other = "0" * 8 if good.cluster != "0" * 8 else "1" * 8
    assert refusal(staff, good._replace(cluster=other).text()) == "foreign-token"
    assert refusal(staff, good._replace(number=good.number + 1).text()) == "wrong-token"
    assert refusal(staff, good._replace(number=999).text()) == "wrong-token"
    assert refusal(staff, good._replace(secret="x" * 43).text()) == "wrong-token"
    assert refusal(staff, good.text()[:-1]) == "wrong-token"
    assert refusal(staff, f"{good.text()}x") == "wrong-token"


def test_of_a_token_that_ended_or_was_revoked_nothing_is_told_to_who_has_not_got_it(staff: Staff) -> None:
    number = token_of(staff, "ben").number
    staff.post("ben", f"/tokens/{number}/revoke", {})
    assert refusal(staff, token_of(staff, "ben")._replace(secret="x" * 43).text()) == "wrong-token"


def test_a_token_ends_when_it_was_to_whatever_the_clock_did_before(staff: Staff) -> None:
    made = staff.post("ada", "/tokens", {"user": "ben", "expires": "1h"}, 201)
    kept = staff.bank.core.people.token(made["token"])
    assert kept is not None
    now = [kept.created]
    guard = Guard("secret", staff.bank.settings, staff.bank.core.people, lambda: now[0])
    headers = {b"host": b"localhost", b"authorization": f"Bearer {made['text']}".encode()}
    for moment, code in (
        (kept.expires - 1, ""),
        (kept.expires, "expired-token"),
        (kept.expires + 1, "expired-token"),
        (kept.created - 86_400 * SECOND, ""),  # the clock was set back: it is not too early for a token
    ):
        now[0] = moment
        found = guard.check(headers, Peer(None))
        assert (found.fault.code if isinstance(found, Refused) else "") == code


def test_a_token_made_with_a_token_ends_with_it(staff: Staff) -> None:
    first = staff.post("ada", "/tokens", {"user": "ben", "expires": "1h"}, 201)
    staff.tokens["ben"] = first["text"]
    for asked in ("30d", 0):
        assert staff.post("ben", "/tokens", {"expires": asked}, 201)["expires"] == first["expires"]
    assert staff.post("ben", "/tokens", {"expires": "10m"}, 201)["expires"] < first["expires"]


def test_tokens_of_others_are_neither_seen_nor_made_nor_revoked(staff: Staff) -> None:
    assert {row["user"] for row in staff.get("ben", "/tokens")["tokens"]} == {"ben"}
    assert staff.get("ben", "/tokens?user=ada", 403)["code"] == "not-allowed"
    assert staff.post("ben", "/tokens", {"user": "ada"}, 403)["code"] == "not-allowed"
    number = token_of(staff, "ada").number
    hidden = staff.post("ben", f"/tokens/{number}/revoke", {}, 404)
    missing = staff.post("ben", "/tokens/999/revoke", {}, 404)
    assert hidden["detail"].replace(str(number), "N") == missing["detail"].replace("999", "N")
    assert {row["user"] for row in staff.get("ada", "/tokens")["tokens"]} == set(staff.tokens)


def test_a_secret_is_told_once_and_not_kept(staff: Staff) -> None:
    secret = token_of(staff, "ben").secret
    assert "text" not in staff.get("ada", "/tokens")["tokens"][0]
    kept = b"".join(path.read_bytes() for path in staff.bank.place.glob("store*"))
    assert secret.encode() not in kept


def test_a_token_needs_somebody_whom_the_document_knows(staff: Staff) -> None:
    assert staff.post("ada", "/tokens", {"user": "nobody"}, 422)["code"] == "unknown-user"


def test_who_was_taken_away_may_not_ask_and_his_work_runs_on(staff: Staff) -> None:
    job = staff.submit("ben", argv=["sleep", "9"])["job"]
    staff.bank.hub.wait_started(1)
    text = access_text().replace("ben, ", "").replace("[ben, nightly]", "[nightly]")
    told = put_access(staff.bank, text.replace("quants: [nightly]", "quants: [nightly]"))
    assert [row["code"] for row in told["warnings"]] == ["person-gone"]
    assert "1 job has not ended" in told["warnings"][0]["what"]
    assert refusal(staff, staff.tokens["ben"], 403) == "unknown-user"
    assert staff.bank.get(f"/jobs/{job}")["state"] == "running"
    put_access(staff.bank, access_text())
    assert staff.get("ben", "/me")["user"] == "ben", "his token counts again when he comes back"


def test_a_broken_document_changes_nothing(staff: Staff) -> None:
    before = staff.get("ada", "/access")
    for text in ("", "fairhold_access: [", "fairhold_access: 1\nusers: 7", access_text() + "  - {role: king, at: /}\n"):
        assert put_access(staff.bank, text, 422)["faults"]
    assert (
        put_access(staff.bank, access_text().replace("cluster: bank", "cluster: shop"), 422)["code"] == "other-cluster"
    )
    assert staff.get("ada", "/access") == before
    assert staff.get("ben", "/me")["user"] == "ben"


def test_a_change_is_made_from_the_document_in_force(staff: Staff) -> None:
    body = {"text": access_text()}
    assert staff.ask("ada", "PUT", "/access", 428, json=body)["code"] == "if-match-missing"
    assert staff.ask("ada", "PUT", "/access", 412, json=body, headers={"If-Match": '"7"'})["code"] == "access-changed"
    done = staff.ask("ada", "PUT", "/access?dry_run=1", json={"text": access_text("all")}, headers={"If-Match": '"1"'})
    assert done["version"] == 1
    assert done["changes"] == [{"place": "others", "old": "hidden", "new": "all"}]
    assert staff.get("ada", "/access")["version"] == 1


def test_a_document_that_cannot_be_read_at_a_start_gives_nobody_anything(tmp_path: Path) -> None:
    with Bank(tmp_path / "state") as bank:
        staff = Staff(bank, access_text())
        people = bank.core.people
        broken = people._store.access()
        assert broken is not None
        bank.desk.write(
            lambda core: core.journal.write(lambda batch: batch.put_access(broken._replace(version=2, text="no: [")))
        ).result()
    with Bank(tmp_path / "state") as again:
        assert again.core.people.broken
        staff.bank = again
        assert refusal(staff, staff.tokens["ada"], 403) == "unknown-user"
        assert put_access(again, ACCESS.replace("OTHERS", "all"))["version"] == 3
        assert staff.get("ada", "/me")["user"] == "ada"


def test_a_role_for_a_consumer_that_a_plan_drops_is_dead_and_told(staff: Staff) -> None:
    plan = PLAN.replace("consumers: {Risk: {}, FX: {}}", "consumers: {FX: {}}")
    head = {"If-Match": '"1"'}
    dry = staff.ask("ada", "PUT", "/plan?dry_run=1", json={"text": plan}, headers=head)
    assert [row["code"] for row in dry["warnings"]] == ["dead-binding"]
    assert "`/Trading/Risk`" in dry["warnings"][0]["what"]
    staff.ask("ada", "PUT", "/plan", json={"text": plan}, headers=head)
    assert [row["code"] for row in staff.get("ada", "/access")["warnings"]] == ["dead-binding"]
    assert staff.get("cy", "/me")["roles"] == [{"role": "viewer", "at": "/Trading/Risk", "live": False}]
    staff.ask("ada", "PUT", "/plan", json={"text": PLAN}, headers={"If-Match": '"2"'})
    assert staff.get("ada", "/access")["warnings"] == []


@pytest.mark.parametrize("query", ["token=x", "access_token=x", "a=b&Token=x", "access_token"])
def test_a_token_in_an_address_is_refused_be_it_good_or_not(bank: Bank, query: str) -> None:
    answer = bank.client.get(f"/v1/jobs?{query}")
    assert (answer.status_code, answer.json()["code"]) == (400, "token-in-query")


def test_two_tokens_are_refused_be_they_good_or_not(bank: Bank) -> None:
    head = [("Authorization", f"Bearer {bank.token}"), ("authorization", f"Bearer {bank.token}")]
    bank.client.headers.clear()

    async def ask() -> Any:
        return await bank.client._client.get("/v1/jobs", headers=head)

    answer = bank.client._do(ask())
    assert (answer.status_code, answer.json()["code"]) == (400, "two-tokens")


def test_the_single_token_goes_on_as_that_of_the_administrator(staff: Staff) -> None:
    found = staff.bank.get("/me")
    assert found["administrator"]
    assert found["via"] == "token file"
    assert staff.bank.submit(user="whoever")["user"] == "whoever"


def test_a_user_of_the_machine_is_whom_the_document_knows_by_that_name(
    staff: Staff, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {65_534: "ben", 65_533: "nobody"}
    monkeypatch.setattr("fairhold.service.auth.user_name", names.get)
    guard = Guard("secret", staff.bank.settings, staff.bank.core.people)
    found = guard.check({b"host": b"fairhold"}, Peer(65_534))
    assert isinstance(found, Caller)
    assert (found.user, found.via, found.is_built_in) == ("ben", "uid 65534", False)
    refused = guard.check({b"host": b"fairhold"}, Peer(65_533))
    assert isinstance(refused, Refused)
    own = guard.check({b"host": b"fairhold", b"authorization": f"Bearer {staff.tokens['cy']}".encode()}, Peer(65_534))
    assert isinstance(own, Caller)
    assert own.user == "cy", "a token that is shown counts before the socket"


def test_when_a_token_was_used_is_written_now_and_then(staff: Staff, monkeypatch: pytest.MonkeyPatch) -> None:
    staff.get("ben", "/me")
    number = token_of(staff, "ben").number
    assert staff.bank.store.tokens()[number - 1].used == 0
    monkeypatch.setattr("fairhold.service.doorkeeper.WRITE_USES", 0.0)
    staff.get("ben", "/me")
    row = next(row for row in staff.get("ben", "/tokens")["tokens"] if row["token"] == number)
    assert row["used"] is not None
    assert staff.bank.store.tokens()[number - 1].used > 0


def test_other_users_of_the_machine_take_no_place_from_who_runs_the_service(tmp_path: Path) -> None:
    path = tmp_path / "all.sock"

    async def crowd(bank: Bank, _: str) -> None:
        async with here(bank, path) as first, here(bank, path) as second, here(bank) as own:
            assert (await first.get("/v1/me")).status_code == 200
            assert (await second.get("/v1/me")).status_code == 429
            assert (await own.get("/v1/me")).status_code == 200
            await own.post("/v1/stop", json={})

    assert serving(tmp_path, crowd, socket=path, limits=RequestLimits(clients=1)) == "leave"


def test_the_socket_for_all_users_of_the_machine_is_open_to_them(tmp_path: Path) -> None:
    path = tmp_path / "all.sock"

    async def look(bank: Bank, _: str) -> None:
        assert path.stat().st_mode & 0o777 == 0o666
        async with here(bank, path) as client:
            answer = await client.get("/v1/me")
            assert answer.json()["administrator"]
            await client.post("/v1/stop", json={})

    assert serving(tmp_path, look, socket=path) == "leave"

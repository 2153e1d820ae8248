"""`console` of a real service: an address that signs a browser in, once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from tests.cli.live.served import Served


def test_address_signs_in_once(served: Served) -> None:
    done = served.done("console", "--print")
    url, _, code = done.stdout.strip().partition("/console/#code=")
    assert "within a minute" in done.stderr
    with httpx.Client(base_url=url, headers={"Fairhold-Console": "1"}) as browser:
        assert browser.get("/v1/status").status_code == 401
        assert browser.post("/console/session", json={"code": code}).status_code == 201
        assert browser.get("/v1/status").json()["service"]["address"] == url
        assert browser.post("/console/session", json={"code": code}).status_code == 401
    assert served.json("console")["address"].startswith(f"{url}/console/#code=")


def test_socket_of_a_service_leads_to_its_address(served: Served) -> None:
    address = served("console", "--print", "--service", f"unix:{served.state / 'api.sock'}")
    assert address.startswith(served.json("status")["service"]["address"])


def test_nobody_is_signed_in_without_a_token(served: Served) -> None:
    url = served.json("status")["service"]["address"]
    told = served("console", "--service", url, exits=3, FAIRHOLD_STATE=str(served.place / "other"))
    assert "FAIRHOLD_TOKEN" in told

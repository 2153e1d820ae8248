"""One table: which role may use which address. What is not in it is allowed to nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from fastapi.routing import APIRoute

from fairhold.access.permissions import ROLES, Permission
from fairhold.service.allowing import KEY, SEE_ALL, permissions_of
from fairhold.service.app import PREFIX, SUBJECTS
from tests.docs.console import ROOT
from tests.service.people import Staff, access_text
from tests.service.support import PLAN, Bank

if TYPE_CHECKING:
    from collections.abc import Iterator

V, S, OP, P, A = "viewer", "submitter", "operator", "plan_editor", "administrator"
EVERYBODY = (V, S, OP, P, A)
TABLE: dict[str, tuple[str, ...]] = {
    "GET /v1/me": ("nobody", *EVERYBODY),
    "GET /v1/tokens": ("nobody", *EVERYBODY),
    "POST /v1/tokens": ("nobody", *EVERYBODY),
    "POST /v1/tokens/{token}/revoke": ("nobody", *EVERYBODY),
    "GET /v1/docs": ("nobody", *EVERYBODY),
    "GET /v1/me/notifications": ("nobody", *EVERYBODY),
    "PATCH /v1/me/notifications": ("nobody", *EVERYBODY),
    "POST /v1/me/notifications/test": ("nobody", *EVERYBODY),
    "POST /v1/jobs": (S, OP, A),
    "POST /v1/jobs/check": (S, OP, A),
    "GET /v1/jobs": EVERYBODY,
    "GET /v1/jobs/{job}": EVERYBODY,
    "GET /v1/jobs/{job}/tasks": EVERYBODY,
    "GET /v1/jobs/{job}/tasks/{task}/output": (OP, A),
    "GET /v1/jobs/{job}/tasks/{task}/files": (OP, A),
    "GET /v1/jobs/{job}/tasks/{task}/file": (OP, A),
    "GET /v1/jobs/{job}/explanation": EVERYBODY,
    "GET /v1/jobs/{job}/forecast": EVERYBODY,
    "GET /v1/jobs/{job}/notifications": EVERYBODY,
    "PUT /v1/jobs/{job}/notifications": EVERYBODY,
    "POST /v1/jobs/{job}/cancel": (OP, A),
    "POST /v1/jobs/{job}/hold": (OP, A),
    "POST /v1/jobs/{job}/release": (OP, A),
    "POST /v1/jobs/{job}/requeue": (OP, A),
    "PATCH /v1/jobs/{job}": (OP, A),
    "GET /v1/consumers": EVERYBODY,
    "GET /v1/consumers/explanation": EVERYBODY,
    "GET /v1/consumers/lending": EVERYBODY,
    "GET /v1/allocations": EVERYBODY,
    "GET /v1/usage": EVERYBODY,
    "GET /v1/explore": EVERYBODY,
    "POST /v1/explore": EVERYBODY,
    "POST /v1/explore/draft": EVERYBODY,
    "POST /v1/simulate": EVERYBODY,
    "GET /v1/windows": EVERYBODY,
    "GET /v1/pods": EVERYBODY,
    "GET /v1/pods/observed": EVERYBODY,
    "GET /v1/pods/{namespace}/{pod}": EVERYBODY,
    "GET /v1/hosts": EVERYBODY,
    "POST /v1/hosts/{host}/close": (OP, A),
    "POST /v1/hosts/{host}/open": (OP, A),
    "POST /v1/hosts/{host}/enrol": (A,),
    "POST /v1/hosts/{host}/revoke": (A,),
    "POST /v1/groups/{group}/pause": (OP, A),
    "POST /v1/groups/{group}/resume": (OP, A),
    "GET /v1/plan": EVERYBODY,
    "GET /v1/plan/schema": EVERYBODY,
    "GET /v1/plan/versions": EVERYBODY,
    "GET /v1/plan/versions/{version}": EVERYBODY,
    "POST /v1/plan/check": EVERYBODY,
    "POST /v1/plan/diff": EVERYBODY,
    "PUT /v1/plan": (P, A),
    "POST /v1/plan/revert": (P, A),
    "GET /v1/cycles": EVERYBODY,
    "GET /v1/cycles/{number}": EVERYBODY,
    "GET /v1/events": EVERYBODY,
    "GET /v1/events/snapshot": EVERYBODY,
    "GET /v1/health": EVERYBODY,
    "GET /v1/metrics": EVERYBODY,
    "GET /v1/status": EVERYBODY,
    "GET /v1/state": EVERYBODY,
    "GET /v1/access": (A,),
    "GET /v1/access/versions": (A,),
    "GET /v1/access/versions/{version}": (A,),
    "PUT /v1/access": (A,),
    "GET /v1/audit": (A,),
    "GET /v1/audit/check": (A,),
    "POST /v1/stop": (A,),
}
"""Roles bound at `/`, on a job of somebody else, which may use an address; `nobody` is known and holds none."""
ONLY_WHOLE = frozenset(
    {"GET /v1/plan", "GET /v1/plan/versions", "GET /v1/plan/versions/{version}", "POST /v1/plan/diff"}
    | {"GET /v1/explore", "POST /v1/explore", "POST /v1/explore/draft", "POST /v1/simulate", "GET /v1/windows"}
    | {"GET /v1/pods", "GET /v1/pods/observed", "GET /v1/pods/{namespace}/{pod}"}
    | {"GET /v1/cycles", "GET /v1/cycles/{number}", "GET /v1/events/snapshot", "GET /v1/metrics", "GET /v1/state"}
)
"""Addresses that tell of all: not for who holds a role below the root, where others are not shown."""
BODIES: dict[str, Any] = {
    "POST /v1/jobs": {"consumer": "/Research", "argv": ["true"]},
    "POST /v1/jobs/check": {"consumer": "/Research", "argv": ["true"]},
    "PATCH /v1/jobs/{job}": {"priority": 1},
    "POST /v1/hosts/{host}/close": {"reason": "test"},
    "POST /v1/plan/check": {"text": PLAN},
    "POST /v1/plan/diff": {"text": PLAN},
    "POST /v1/simulate": {"text": "x"},
    "PUT /v1/plan": {"text": PLAN},
    "PUT /v1/access": {"text": "x"},
    "POST /v1/tokens": {"expires": "1h"},
    "PUT /v1/jobs/{job}/notifications": {"events": []},
}
QUERIES = {
    "GET /v1/consumers/explanation": "?consumer=/Research",
    "GET /v1/consumers/lending": "?consumer=/Research",
    "GET /v1/jobs/{job}/forecast": "?draws=1",
    "GET /v1/jobs/{job}/tasks/{task}/file": "?path=step",
    "PUT /v1/plan": "?dry_run=1",
    "PUT /v1/access": "?dry_run=1",
}
THERE = {
    "namespace": "risk",
    "pod": "waits",
    "job": "1",
    "task": "0",
    "host": "-",
    "group": "compute",
    "version": "1",
    "number": "1",
    "token": "999",
}


class NeverStopping:
    how: str | None = None

    async def ask(self, _how: str) -> None:
        return


ROOT_BINDINGS = "".join(f"  - {{role: {role}, at: /, users: [{role}]}}\n" for role in EVERYBODY)
BELOW_BINDINGS = "".join(f"  - {{role: {role}, at: /Research, users: [{role}_below]}}\n" for role in EVERYBODY)
PEOPLE = [*EVERYBODY, *(f"{role}_below" for role in EVERYBODY), "nobody"]
DOCUMENT = f"fairhold_access: 1\nothers: sums\nusers: [{', '.join(PEOPLE)}]\nbindings:\n{ROOT_BINDINGS}{BELOW_BINDINGS}"


@pytest.fixture(scope="module")
def staff(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Staff]:
    with Bank(tmp_path_factory.mktemp("roles") / "state", stopping=NeverStopping()) as bank:
        bank.submit(hold=True)
        yield Staff(bank, DOCUMENT)


def routes() -> dict[str, APIRoute]:
    found: dict[str, APIRoute] = {}
    for route in (each for subject in SUBJECTS for each in subject.router.routes):
        assert isinstance(route, APIRoute)
        found |= {f"{method} {PREFIX}{route.path}": route for method in route.methods or ()}
    return found


def status_of(staff: Staff, who: str, address: str) -> int:
    method, path = address.split(" ")
    head = {"Authorization": f"Bearer {staff.tokens[who]}", "If-Match": '"1"'}
    body = BODIES.get(address, {} if method in {"POST", "PUT", "PATCH"} else None)
    asked = path.format(**THERE) + QUERIES.get(address, "")
    return staff.bank.client.request(method, asked, headers=head, json=body).status_code


def test_every_address_is_in_the_table_and_says_what_it_asks_for(staff: Staff) -> None:
    found = routes()
    assert set(found) == set(TABLE)
    assert [address for address, route in found.items() if permissions_of(route) is None] == []
    documented = staff.bank.app.openapi()["paths"]
    assert {f"{method.upper()} {path}" for path, methods in documented.items() for method in methods} == {*found} - {
        "GET /v1/docs"
    }


@pytest.mark.parametrize("role", [*EVERYBODY, "nobody"])
def test_a_role_at_the_root_may_do_what_the_table_says_and_nothing_else(staff: Staff, role: str) -> None:
    refused = {address for address in TABLE if status_of(staff, role, address) in {401, 403}}
    assert refused == {address for address, roles in TABLE.items() if role not in roles}


OF_THE_CLUSTER = frozenset(
    address
    for address in TABLE
    if any(word in address for word in ("/hosts/", "/groups/", "/access", "/audit", "/stop"))
)


@pytest.mark.parametrize("role", EVERYBODY)
def test_a_role_below_the_root_may_do_the_same_there_but_nothing_of_the_cluster(staff: Staff, role: str) -> None:
    edits = {address for address in ONLY_WHOLE if "/plan" in address} if role in {P, A} else set()
    for address, roles in TABLE.items():
        is_allowed = role in roles and address not in OF_THE_CLUSTER and address not in ONLY_WHOLE - edits
        status = status_of(staff, f"{role}_below", address)
        assert (status != 403) == is_allowed, (address, status)


def test_an_address_that_says_nothing_is_refused_to_everybody(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes()["GET /v1/hosts"], "openapi_extra", None)
    assert bank.get("/hosts", 403)["code"] == "not-allowed"


def test_permissions_are_in_the_document_of_the_addresses(bank: Bank) -> None:
    known = {*map(str, Permission), SEE_ALL}
    for path in bank.app.openapi()["paths"].values():
        for operation in path.values():
            assert set(operation[KEY]) <= known


def test_the_page_of_roles_is_that_of_the_code() -> None:
    text = (ROOT / "docs/reference/access.md").read_text()
    for role, permissions in ROLES.items():
        held = ", ".join(f"`{each}`" for each in Permission if each in permissions)
        assert f"| `{role}` | {held} |" in text
    for address, route in routes().items():
        asked = permissions_of(route) or ()
        needs = " or ".join(f"`{each}`" for each in asked) or "a token that is good"
        assert f"| `{address.replace('/v1', '')}` | {needs} |" in text


def test_the_documents_of_the_tests_are_right(bank: Bank) -> None:
    for others in ("hidden", "sums", "all"):
        assert Staff(bank, access_text(others)).get("ada", "/me")["others"] == others

"""A bank's people: an access document, and tokens for all whom it names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.service.support import Bank

ACCESS = """\
fairhold_access: 1
cluster: bank
others: OTHERS
users: [ada, ben, cy, dan, eve, olga, zoe]
service_accounts: [nightly]
groups: {quants: [ben, nightly]}
roles: {auditor: [view, read_audit], deputy: [view, submit, impersonate]}
bindings:
  - {role: administrator, at: /, users: [ada]}
  - {role: submitter, at: /Research, groups: [quants]}
  - {role: viewer, at: /Trading/Risk, users: [cy]}
  - {role: plan_editor, at: /Trading, users: [dan]}
  - {role: operator, at: /Trading, users: [olga]}
  - {role: auditor, at: /, users: [eve]}
"""
"""zoe holds no role."""


def access_text(others: str = "hidden") -> str:
    return ACCESS.replace("OTHERS", others)


def put_access(bank: Bank, text: str, status: int = 200) -> Any:
    seen = {"If-Match": f'"{bank.core.people.version}"'}
    return bank._ask("PUT", "/access", status, json={"text": text}, headers=seen)


class Staff:
    """Asks in the name of a bank's people."""

    def __init__(self, bank: Bank, text: str) -> None:
        self.bank = bank
        put_access(bank, text)
        access = bank.core.people.access
        self.tokens = {
            user: str(bank.post("/tokens", {"user": user}, 201)["text"])
            for user in sorted(access.users | access.service_accounts)
        }

    def ask(self, user: str, method: str, path: str, status: int = 200, **more: Any) -> Any:
        head = {"Authorization": f"Bearer {self.tokens[user]}"} | more.pop("headers", {})
        return self.bank._ask(method, path, status, headers=head, **more)

    def get(self, user: str, path: str, status: int = 200) -> Any:
        return self.ask(user, "GET", path, status)

    def post(self, user: str, path: str, body: object = None, status: int = 200) -> Any:
        return self.ask(user, "POST", path, status, json=body)

    def submit(self, who: str, /, status: int = 201, **terms: Any) -> Any:
        return self.post(who, "/jobs", {"consumer": "/Research", "argv": ["true"]} | terms, status)

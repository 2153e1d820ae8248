"""Access documents: what they say, and every fault of them."""

from __future__ import annotations

import re

import pytest

from fairhold.access.document import Access, Binding, PersonLimits
from fairhold.access.permissions import Permission
from fairhold.errors import InputError
from fairhold.planio.access import parse_access
from fairhold.planio.plan import parse_plan
from tests.docs.console import ROOT
from tests.service.support import PLAN

GOOD = """\
fairhold_access: 1
cluster: bank
others: sums
users: [ada, ben]
service_accounts: [nightly]
groups:
  quants: [ben, nightly]
roles:
  auditor: [view, read_audit]
bindings:
  - {role: auditor, at: /, users: [ada]}
  - {role: submitter, at: /Research, groups: [quants], service_accounts: [nightly]}
limits:
  requests: 100
  people:
    nightly: {submits: 20}
"""


def test_a_document_is_read_whole() -> None:
    access, warnings = parse_access(GOOD, "access.yaml")
    assert warnings == ()
    assert access == Access(
        users=frozenset({"ada", "ben"}),
        service_accounts=frozenset({"nightly"}),
        groups={"quants": frozenset({"ben", "nightly"})},
        roles={"auditor": frozenset({Permission.VIEW, Permission.READ_AUDIT})},
        bindings=(
            Binding("auditor", "/", users=("ada",)),
            Binding("submitter", "/Research", groups=("quants",), service_accounts=("nightly",)),
        ),
        others="sums",
        limits=PersonLimits(requests=100),
        own_limits={"nightly": PersonLimits(requests=100, submits=20)},
        cluster="bank",
    )


def test_an_empty_document_knows_nobody_and_shows_all() -> None:
    access, _ = parse_access("fairhold_access: 1", "access.yaml")
    assert access == Access()
    assert access.others == "all"


@pytest.mark.parametrize(
    ("old", "new", "code", "place"),
    [
        ("fairhold_access: 1", "fairhold_access: 2", "version", "fairhold_access"),
        ("fairhold_access: 1", "fairhold: 1", "version", "fairhold"),
        ("others: sums", "others: some", "unknown-word", "others"),
        ("others: sums", "other: sums", "unknown-key", "other"),
        ("[ada, ben]", "[ada, ben, ada]", "duplicate-key", "users[2]"),
        ("[ada, ben]", "[ada, 'b en', ben]", "name", "users[1]"),
        ("[ada, ben]", "[ada, a/b, ben]", "name", "users[1]"),
        ("[ada, ben]", "[ada, ben, 7]", "not-a-string", "users[2]"),
        ("[ada, ben]", "{ada: 1}", "wrong-type", "users"),
        ("[nightly]", "[nightly, ada]", "duplicate-key", "service_accounts"),
        ("[ben, nightly]", "[ben, nightlyy]", "unknown-user", "groups.quants[1]"),
        ("auditor: [view", "viewer: [view", "duplicate-key", "roles.viewer"),
        ("read_audit]", "read_audits]", "unknown-word", "roles.auditor[1]"),
        ("role: auditor", "role: auditr", "unknown-word", "bindings[0].role"),
        ("role: auditor, at: /", "role: auditor, at: Research", "name", "bindings[0].at"),
        ("role: auditor, at: /", "role: auditor, at: /Research/", "name", "bindings[0].at"),
        ("role: auditor, at: /,", "role: auditor,", "missing-key", "bindings[0]"),
        ("users: [ada]}", "users: [adam]}", "unknown-user", "bindings[0].users[0]"),
        (", users: [ada]}", "}", "missing-key", "bindings[0]"),
        ("groups: [quants], ", "groups: [quant], ", "unknown-user", "bindings[1].groups[0]"),
        ("requests: 100", "requests: -1", "negative", "limits.requests"),
        ("requests: 100", "request: 100", "unknown-key", "limits.request"),
        ("nightly: {submits", "nobody: {submits", "unknown-user", "limits.people.nobody"),
        ("submits: 20", "people: 20", "unknown-key", "limits.people.nightly.people"),
    ],
)
def test_every_fault_is_told_with_its_place(old: str, new: str, code: str, place: str) -> None:
    assert old in GOOD
    with pytest.raises(InputError) as refused:
        parse_access(GOOD.replace(old, new, 1), "access.yaml")
    assert any((each.code, each.where().partition(": ")[2]) == (code, place) for each in refused.value.faults), str(
        refused.value
    )


@pytest.mark.parametrize(
    "text", ["", "fairhold_access: [", "[]", "{", "\0", "fairhold_access: 1\nusers: [a]\nusers: [b]"]
)
def test_what_is_no_document_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_access(text, "access.yaml")


def test_a_binding_for_a_consumer_that_the_plan_has_not_is_a_warning() -> None:
    tree = parse_plan(PLAN, "plan.yaml")[0].tree
    access, warnings = parse_access(GOOD.replace("/Research", "/Reserch"), "access.yaml", tree)
    assert [(each.code, each.line) for each in warnings] == [("dead-binding", 12)]
    assert access.bindings[1].at == "/Reserch"


def test_a_permission_of_the_cluster_bound_below_its_root_is_a_warning() -> None:
    _, warnings = parse_access(GOOD.replace("role: auditor, at: /,", "role: auditor, at: /Research,"), "access.yaml")
    assert [each.code for each in warnings] == ["no-effect"]


def test_what_the_pages_fill_in_for_providers_is_good() -> None:
    page = (ROOT / "docs/how-to/sign-in.md").read_text()
    blocks = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 5
    for block in blocks:
        whole = block if block.startswith("fairhold_access") else f"fairhold_access: 1\ngroups: {{quants: []}}\n{block}"
        provider = parse_access(whole, "access.yaml")[0].provider
        assert provider is not None
        assert provider.issuer.startswith("https://")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("issuer: http://sso.example.com", "tls-needed"),
        ("issuer: ftp://sso.example.com", "name"),
        ("issuer: https://user@sso.example.com", "name"),
        ("issuer: https://sso.example.com/?a=b", "name"),
        ("issuer: 'https://sso.example.com:99999'", "name"),
        ("issuer: ''", "out-of-range"),
        ("issuer: 7", "not-a-string"),
        ("client_id: ''", "out-of-range"),
        ("clock_skew: 11m", "out-of-range"),
        ("clock_skew: soon", "duration"),
        ("scopes: [email]", "out-of-range"),
        ("scopes: ['openid profile']", "name"),
        ("audience: api", "wrong-type"),
        ("group_names: {/q: quant}", "unknown-user"),
        ("secret: x", "unknown-key"),
    ],
)
def test_a_provider_at_fault_is_refused(line: str, code: str) -> None:
    lines = {"issuer": "https://sso.example.com", "client_id": "fairhold"}
    key, _, value = line.partition(": ")
    text = "fairhold_access: 1\ngroups: {quants: []}\noidc:\n"
    text += "".join(f"  {name}: {each}\n" for name, each in (lines | {key: value}).items())
    with pytest.raises(InputError) as caught:
        parse_access(text, "access.yaml")
    assert code in {fault.code for fault in caught.value.faults}


@pytest.mark.parametrize("key", ["issuer", "client_id"])
def test_a_provider_needs_an_issuer_and_a_client(key: str) -> None:
    lines = {"issuer": "https://sso.example.com", "client_id": "fairhold"}
    del lines[key]
    with pytest.raises(InputError, match="missing-key"):
        parse_access(f"fairhold_access: 1\noidc: {lines}\n", "access.yaml")


def test_a_word_in_a_list_is_told_by_what_the_list_is_called() -> None:
    text = "fairhold_access: 1\nroles: {auditor: [view, fly]}\n"
    with pytest.raises(InputError) as caught:
        parse_access(text, "access.yaml")
    assert [fault.what for fault in caught.value.faults] == ["`fly` is not a value of `auditor`"]

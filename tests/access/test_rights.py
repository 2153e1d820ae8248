"""What a document gives a person, and what he sees."""

from __future__ import annotations

import pytest

from fairhold.access.document import Access, Binding, PersonLimits
from fairhold.access.permissions import CLUSTER_WIDE, ROLES, Permission
from fairhold.access.rights import covers, rights_of, unlimited

MAY = Permission


def access(*bindings: Binding, others: str = "hidden") -> Access:
    return Access(
        users=frozenset({"ada", "ben"}),
        service_accounts=frozenset({"nightly"}),
        groups={"quants": frozenset({"ben", "nightly"})},
        roles={"auditor": frozenset({MAY.VIEW, MAY.READ_AUDIT})},
        bindings=bindings,
        others=others,
        limits=PersonLimits(10, 5, 100),
        own_limits={"nightly": PersonLimits(50, 50, 0)},
    )


@pytest.mark.parametrize(
    ("above", "path", "is_covered"),
    [
        ("/", "/", True),
        ("/", "/A/b", True),
        ("/A", "/A", True),
        ("/A", "/A/b", True),
        ("/A", "/AB", False),
        ("/A/b", "/A", False),
        ("/A", "/", False),
        ("/A", "A", False),
    ],
)
def test_a_role_holds_for_a_consumer_and_all_below_it(above: str, path: str, *, is_covered: bool) -> None:
    assert covers(above, path) == is_covered


def test_roles_of_a_person_and_of_his_groups_add_up() -> None:
    rights = rights_of(
        access(Binding("viewer", "/A", users=("ben",)), Binding("submitter", "/B", groups=("quants",))), "ben"
    )
    assert rights.paths == {MAY.VIEW: ("/A", "/B"), MAY.SUBMIT: ("/B",)}
    assert rights.may(MAY.SUBMIT, "/B/x")
    assert not rights.may(MAY.SUBMIT, "/A")
    assert rights.limits == PersonLimits(10, 5, 100)


def test_a_role_further_up_swallows_those_below() -> None:
    rights = rights_of(
        access(Binding("viewer", "/A/b", users=("ben",)), Binding("viewer", "/A", users=("ben",))), "ben"
    )
    assert rights.paths[MAY.VIEW] == ("/A",)


def test_service_accounts_hold_roles_by_name_and_by_group_and_limits_of_their_own() -> None:
    rights = rights_of(access(Binding("submitter", "/A", service_accounts=("nightly",))), "nightly")
    assert rights.may(MAY.SUBMIT, "/A")
    assert rights.limits.submits == 50


def test_whom_the_document_does_not_know_may_do_nothing() -> None:
    rights = rights_of(access(Binding("viewer", "/", users=("eve",)), others="all"), "eve")
    assert rights.paths == {}
    assert not any(rights.somewhere(each) for each in Permission)
    assert not rights.sees_all


@pytest.mark.parametrize("permission", sorted(CLUSTER_WIDE))
def test_what_no_part_of_the_tree_has_counts_at_the_root_alone(permission: Permission) -> None:
    below = rights_of(access(Binding("administrator", "/A", users=("ada",))), "ada")
    at_the_root = rights_of(access(Binding("administrator", "/", users=("ada",))), "ada")
    assert not below.somewhere(permission)
    assert at_the_root.somewhere(permission)


@pytest.mark.parametrize(("others", "sees"), [("hidden", False), ("sums", False), ("all", True)])
def test_others_are_seen_as_the_document_says(others: str, *, sees: bool) -> None:
    rights = rights_of(access(Binding("viewer", "/A", users=("ben",)), others=others), "ben")
    assert (rights.sees_all, rights.sees("/B")) == (sees, sees)
    assert rights.sees("/A/x")
    assert rights.sees_job("/B", "ben"), "his own job"


def test_who_holds_nothing_sees_nothing_though_others_are_shown() -> None:
    assert not rights_of(access(others="all"), "ben").sees("/A")


def test_the_built_in_administrator_may_do_everything_everywhere() -> None:
    rights = unlimited("root")
    assert all(rights.may(each, "/A/b") and rights.somewhere(each) for each in Permission)
    assert rights.sees_all


def test_every_role_that_is_there_allows_to_look() -> None:
    assert all(Permission.VIEW in permissions for permissions in ROLES.values())

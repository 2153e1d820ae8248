"""People, groups, roles and bindings, as an access document says them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from fairhold.access.notifications import Notifications
from fairhold.access.permissions import ROLES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from fairhold.access.permissions import Permission
    from fairhold.access.provider import Provider

HIDDEN, SUMS, ALL = "hidden", "sums", "all"
OTHERS = (HIDDEN, SUMS, ALL)
"""What people see of consumers for which they hold no role."""
NAME = re.compile(r"[^\s/:\x00-\x1f\x7f]{1,64}")
"""Of users, service accounts, groups and roles."""


class Binding(NamedTuple):
    """That people hold a role for a consumer and all below it; `at` is its path.

    The consumer may be one that the plan does not have (any more): then the binding gives nothing.
    """

    role: str
    at: str
    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    service_accounts: tuple[str, ...] = ()


class PersonLimits(NamedTuple):
    """How much one person may ask for; 0 = as much as he likes.

    requests, submits : a second; as many may come at once
    waiting_in_leaf   : tasks of his that wait in one leaf
    """

    requests: int = 0
    submits: int = 0
    waiting_in_leaf: int = 0


class Access(NamedTuple):
    """An access document.

    users, service_accounts : names; no name is in both
    groups   : name → members, users and service accounts
    roles    : those of the document: name → permissions
    others   : `hidden`, `sums` or `all`
    limits   : of everybody; own_limits : name of a person → limits in their place
    provider : whose people may ask besides, None = there is none
    notifications : how people are told of what happens
    """

    users: frozenset[str] = frozenset()
    service_accounts: frozenset[str] = frozenset()
    groups: Mapping[str, frozenset[str]] = {}
    roles: Mapping[str, frozenset[Permission]] = {}
    bindings: tuple[Binding, ...] = ()
    others: str = ALL
    limits: PersonLimits = PersonLimits()
    own_limits: Mapping[str, PersonLimits] = {}
    cluster: str = ""
    provider: Provider | None = None
    notifications: Notifications = Notifications()

    def knows(self, name: str, groups: Collection[str] = ()) -> bool:
        """Whether there is such a person; groups: those in which the provider says he is."""
        return name in self.users or name in self.service_accounts or any(each in self.groups for each in groups)

    def permissions(self, role: str) -> frozenset[Permission]:
        """What a role allows."""
        return self.roles[role] if role in self.roles else ROLES[role]

    def limits_of(self, name: str) -> PersonLimits:
        """How much a person may ask for."""
        return self.own_limits.get(name, self.limits)

    def groups_of(self, name: str, groups: Collection[str] = ()) -> list[str]:
        """The groups of a person: in which he is listed, and those in which the provider says he is."""
        return sorted(each for each, members in self.groups.items() if name in members or each in groups)

    def bindings_of(self, name: str, groups: Collection[str] = ()) -> Iterator[Binding]:
        """The bindings that give a person something; groups: those in which the provider says he is."""
        held = {*self.groups_of(name, groups)}
        for binding in self.bindings:
            named = binding.users if name in self.users else binding.service_accounts
            if name in named or not held.isdisjoint(binding.groups):
                yield binding

"""What one person may do, and what he sees of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fairhold.access.document import ALL, PersonLimits
from fairhold.access.permissions import CLUSTER_WIDE, ROOT, Permission

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from fairhold.access.document import Access


def covers(above: str, path: str) -> bool:
    """Whether a path is a consumer, or is below it."""
    return above in {ROOT, path} or path.startswith(f"{above}/")


class Rights(NamedTuple):
    """What a person may do.

    paths  : permission → consumers for which he has it, with all below them; none is below another
    others : what he sees of the rest
    """

    user: str
    paths: Mapping[Permission, tuple[str, ...]]
    others: str = ALL
    limits: PersonLimits = PersonLimits()

    def may(self, permission: Permission, path: str = ROOT) -> bool:
        """Whether he has a permission for a consumer."""
        return any(covers(above, path) for above in self.paths.get(permission, ()))

    def somewhere(self, permission: Permission) -> bool:
        """Whether he has a permission anywhere; one that is for the cluster alone only at its root."""
        held = self.paths.get(permission, ())
        return ROOT in held if permission in CLUSTER_WIDE else bool(held)

    @property
    def sees_all(self) -> bool:
        """Whether nothing is kept from him."""
        held = self.paths.get(Permission.VIEW, ())
        return bool(held) and (self.others == ALL or ROOT in held)

    def sees(self, consumer: str) -> bool:
        """Whether he sees a consumer with its name and numbers."""
        return self.sees_all or self.may(Permission.VIEW, consumer)

    def sees_job(self, consumer: str, owner: str) -> bool:
        """Whether he sees a job; his own he always does."""
        return owner == self.user or self.sees(consumer)


def unlimited(user: str) -> Rights:
    """The rights of the administrator that every cluster has."""
    return Rights(user, dict.fromkeys(Permission, (ROOT,)))


def rights_of(access: Access, user: str, groups: Collection[str] = ()) -> Rights:
    """What an access document gives a person; nothing where it does not know him.

    groups : those in which the provider says he is
    """
    found: dict[Permission, list[str]] = {}
    for binding in access.bindings_of(user, groups) if access.knows(user, groups) else ():
        for permission in access.permissions(binding.role):
            found.setdefault(permission, []).append(binding.at)
    paths = {permission: _highest(held) for permission, held in found.items()}
    return Rights(user, paths, access.others, access.limits_of(user))


def _highest(paths: Iterable[str]) -> tuple[str, ...]:
    """Paths without those that are below another."""
    kept: list[str] = []
    for path in sorted(paths):
        if not any(covers(above, path) for above in kept):
            kept.append(path)
    return tuple(kept)

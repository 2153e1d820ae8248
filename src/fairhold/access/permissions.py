"""What can be allowed, and the roles that every cluster has."""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Permission(StrEnum):
    """What somebody may do, in the part of the tree for which he holds a role."""

    VIEW = "view"
    SUBMIT = "submit"
    READ_OUTPUT = "read_output"
    MANAGE_JOBS = "manage_jobs"
    IMPERSONATE = "impersonate"
    EDIT_PLAN = "edit_plan"
    MANAGE_HOSTS = "manage_hosts"
    MANAGE_ACCESS = "manage_access"
    READ_AUDIT = "read_audit"
    STOP = "stop"


CLUSTER_WIDE = frozenset({Permission.MANAGE_HOSTS, Permission.MANAGE_ACCESS, Permission.READ_AUDIT, Permission.STOP})
"""Permissions on what no part of the tree has for itself; they count only where a role is bound at `/`."""
ROOT = "/"
ROLES: Mapping[str, frozenset[Permission]] = MappingProxyType(
    {
        "viewer": frozenset({Permission.VIEW}),
        "submitter": frozenset({Permission.VIEW, Permission.SUBMIT}),
        "operator": frozenset(
            {
                Permission.VIEW,
                Permission.SUBMIT,
                Permission.READ_OUTPUT,
                Permission.MANAGE_JOBS,
                Permission.MANAGE_HOSTS,
            }
        ),
        "plan_editor": frozenset({Permission.VIEW, Permission.EDIT_PLAN}),
        "administrator": frozenset(Permission),
    }
)
"""Roles that need not be written down."""

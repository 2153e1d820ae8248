"""Policies of other packages: installed next to Fairhold, and found by the entry points `fairhold.policies`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from fairhold.errors import Fault, InputError
from fairhold.planio.report import shown
from fairhold.policies.registry import POLICIES, RefusedPolicyError, register

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.model.policy import Policy

GROUP = "fairhold.policies"


def find_policy(name: str) -> Policy | None:
    """The policy of a name; other packages are asked only where no policy of ours has it."""
    return POLICIES.get(name) or all_policies().get(name)


def all_policies() -> Mapping[str, Policy]:
    """All policies by name, those of other packages among them; raises InputError where one cannot be used."""
    read_entry_points()
    return POLICIES


@cache
def read_entry_points() -> None:
    """Take in the policies of other packages, once; raises InputError where one cannot be used."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - slow to load, and most plans do without

    for point in entry_points(group=GROUP):
        try:
            register(point.load())
        except RefusedPolicyError as error:
            raise _fault(str(error), error.mend, point.value) from error
        except Exception as error:  # whatever the other package does
            what = f"it cannot be loaded: {type(error).__name__}: {error}"
            raise _fault(what, "mend or uninstall its package", point.value) from error


def _fault(what: str, mend: str, value: str) -> InputError:
    text = f"the policy of the entry point `{shown(value)}` cannot be used: {shown(what)}"
    return InputError([Fault("installed-policy", text, mend)])

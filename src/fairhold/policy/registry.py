"""The only list of policies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.policy.hybrid import HYBRID

if TYPE_CHECKING:
    from fairhold.policy.policy import Policy

POLICIES: dict[str, Policy] = {policy.name: policy for policy in (HYBRID,)}

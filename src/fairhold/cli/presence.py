"""Hosts that are not up, named at the end of the output about resource groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.errors import printable
from fairhold.model.presence import presence_in_words

if TYPE_CHECKING:
    from collections.abc import Callable

Document = dict[str, Any]


def hosts_in_words(told: Document, clock: Callable[[str], object] = str) -> str:
    """A line for each resource group of which some hosts are not up; empty where there is none.

    told  : a result, or an explanation
    clock : an instant as people read it
    """
    words = ((group, presence_in_words(hosts, clock)) for group, hosts in (told.get("hosts") or {}).items())
    return "\n".join(printable(f"{group}: {text}") for group, text in words if text)


def with_hosts(text: str, told: Document, clock: Callable[[str], object] = str) -> str:
    """A text with these lines below it."""
    below = hosts_in_words(told, clock)
    return f"{text}\n\n{below}" if below else text

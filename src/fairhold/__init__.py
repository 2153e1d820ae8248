"""Fairhold shares a cluster between the parts of an organisation by a plan."""

from __future__ import annotations

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """`connect` and `connect_async` are imported when they are used, so that `import fairhold` stays fast."""
    if name in {"connect", "connect_async"}:
        import importlib  # noqa: PLC0415

        return getattr(importlib.import_module("fairhold.client"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

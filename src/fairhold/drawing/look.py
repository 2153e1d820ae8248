"""The look that the web console, the explorer and the reports share: colours, light and dark, and type."""

from __future__ import annotations

from importlib.resources import files


def look() -> str:
    """The style sheet of it, for a page that is one file."""
    return (files(__package__) / "look.css").read_text(encoding="utf-8")

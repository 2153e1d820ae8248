"""The page of the explorer: one file, which loads nothing but what its own server says of the plan."""

from __future__ import annotations

from html import escape
from importlib.resources import files

from fairhold.drawing.look import look

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What the page may load."""


def page(title: str) -> str:
    """The page; what it shows it asks for."""
    text = _text("page.html").replace("TITLE", escape(title))
    return text.replace("/*STYLE*/", look() + _text("page.css")).replace("/*SCRIPT*/", _text("page.js"))


def _text(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")

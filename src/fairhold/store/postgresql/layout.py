"""The layout of a store in PostgreSQL: that of the SQLite store, said in another dialect."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fairhold.store.schema import steps
from fairhold.store.tables import seal_all, shape

if TYPE_CHECKING:
    from pathlib import Path

    from fairhold.store.postgresql.session import PostgresConnection

_WORDS = (
    (re.compile(r"--[^\n]*"), ""),
    (re.compile(r"\bINTEGER\b"), "BIGINT"),
    (re.compile(r"\bBLOB\b"), "BYTEA"),
    (re.compile(r"\bTEXT\b"), 'TEXT COLLATE "C"'),
    (re.compile(r"\bWITHOUT ROWID\b"), ""),
    (re.compile(r"\bREFERENCES \w+ \(\w+\)"), ""),
    (re.compile(r'(?<!")\b(user|row)\b(?!")'), r'"\1"'),
)
"""What is said otherwise. References are looked after by `store check`, not at every write, as in SQLite."""
FIRST = 8
"""The format of the first store in PostgreSQL; those before it never were in one."""


def in_dialect(text: str) -> str:
    """Statements that make or change tables, as PostgreSQL takes them."""
    for pattern, word in _WORDS:
        text = pattern.sub(word, text)
    return text


def make(connection: PostgresConnection) -> None:
    """Make the tables of format `FIRST`; inside a transaction."""
    made = sorted(shape(FIRST), key=lambda each: (each[0] != "table", each[1]))
    for _, _, text in made:
        connection.execute(in_dialect(text))
    connection.execute('ALTER TABLE "usage" ADD COLUMN rowid BIGINT GENERATED ALWAYS AS IDENTITY')


def take_step(connection: PostgresConnection, number: int, folder: Path) -> None:
    """Take the step to format `number`; inside a transaction."""
    connection.execute(in_dialect(steps(folder)[number - 1].read_text(encoding="utf-8")))
    seal_all(connection, number)

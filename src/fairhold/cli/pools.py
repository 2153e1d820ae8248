"""Pools for people: what each has, who uses how much of it, what they are entitled to, and who owns which hosts."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.cli.table import table
from fairhold.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

Document = dict[str, Any]


def pool_tables(document: Document) -> Iterator[str]:
    """A table for each pool of a result; none where no vectors are shared."""
    for name, found in document.get("pools", {}).items():
        if name.startswith("/"):
            yield _pool(name, found)
        else:  # several entries, each with pools of its own
            for pool, values in found.items():
                yield f"{printable(name)}, {_pool(pool, values)}"


def _pool(name: str, pool: Document) -> str:
    title = "public pool" if name == "/" else f"private pool of {printable(name)}"
    resources = [key for key, value in pool["amounts"].items() if value != "0"]
    has = ", ".join(f"{printable(key)} {short(pool['amounts'][key])}" for key in resources)
    rows = [
        (
            path,
            *(percent(values[key]) for key in ("usage", "usage_demand", "usage_quota")),
            *(short(values["approximate_share_quota"][key]) for key in resources),
        )
        for path, values in pool["consumers"].items()
    ]
    head = ("consumer", "usage", "demand", "quota", *(f"~{key}" for key in resources))
    return f"{title}: {has or 'empty'}\n" + table(head, rows)


def ownership_text(document: Document) -> str:
    """Who owns what of which hosts after a cycle, and requests that fit nowhere."""
    rows, refused = document["ownership"], document["refused"]
    texts = ["Owned: nothing"]
    if rows:
        keys = list(dict.fromkeys(key for row in rows for key in row["amounts"]))
        cells = [(row["consumer"], row["host"], *(row["amounts"].get(key, 0) for key in keys)) for row in rows]
        texts = ["Owned:\n" + table(("consumer", "host", *keys), cells)]
    if refused:
        texts.append("Too large for any host:\n" + table(("request",), [(row["request"],) for row in refused]))
    return "\n\n".join(texts)


def percent(text: str) -> str:
    """An exact fraction as a percentage with one decimal: `1/3` is 33.3%; what is there is never shown as nothing."""
    value = Fraction(text) * 100
    if 0 < value <= Fraction(1, 20):
        return "<0.1%"
    return f"{short(str(value))}%"


def short(text: str) -> str:
    """An exact fraction with one decimal at most."""
    whole, rest = divmod(round(Fraction(text) * 10), 10)
    return f"{whole}.{rest}" if rest else str(whole)

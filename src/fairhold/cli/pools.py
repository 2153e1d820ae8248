"""Pools for people: what each has, who uses how much of it, what they are entitled to, and who owns which hosts."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairhold.cli.table import table
from fairhold.errors import printable
from fairhold.model.hostnames import fold
from fairhold.runtime.explaining_pools import refused as refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

Document = dict[str, Any]
_USED = ("usage", "usage_quota")
POOL_COLUMNS = ("usage", "usage demand", "usage quota", "~")


def pool_tables(document: Document) -> Iterator[str]:
    """A table for each pool of a result; none where no vectors are shared."""
    for title, pool in _pools(document):
        yield _pool(title, pool)


def _pools(document: Document) -> Iterator[tuple[str, Document]]:
    """The pools of a result with their titles."""
    for name, found in document.get("pools", {}).items():
        if name.startswith("/"):
            yield _title(name), found
        else:  # several entries, each with pools of its own
            for pool, values in found.items():
                yield f"{printable(name)}, {_title(pool)}", values


def _title(name: str) -> str:
    return "public pool" if name == "/" else f"private pool of {printable(name)}"


def _pool(title: str, pool: Document) -> str:
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
    head = ("consumer", *POOL_COLUMNS[:3], *(f"~{key}" for key in resources))
    return f"{title}: {has or 'empty'}\n" + table(head, rows)


def ownership_text(document: Document) -> str:
    """Who owns what of which hosts after a cycle, and requests that can have nothing."""
    rows, refused = document["ownership"], document["refused"]
    texts = ["Owned: nothing"]
    if rows:
        told = {key for row in rows for key in row["amounts"]}
        in_order = dict.fromkeys(key for _, pool in _pools(document) for key in pool["amounts"])
        keys = [key for key in in_order if key in told]
        cells = [(row["consumer"], row["host"], *(row["amounts"].get(key, 0) for key in keys)) for row in rows]
        texts = ["Owned:\n" + table(("consumer", "host", *keys), cells)]
    warnings = [(row["consumer"], row["message"]) for row in document["warnings"]]
    if warnings:
        texts.append("Own less than planned:\n" + table(("consumer", "what"), warnings))
    if refused:
        texts.append("Refused:\n" + table(("request", "why"), [(row["request"], refusal(row)) for row in refused]))
    return "\n\n".join(texts)


def changed_pools(document: Document, *, is_full: bool = True) -> Iterator[str]:
    """What a difference of two plans says of every pool; is_full : also where no numbers change."""
    for title, pool in _pools(document):
        was, will = pool["amounts"]
        keys = dict.fromkeys(key for side in (will, was) for key, value in (side or {}).items() if value != "0")
        has = ", ".join(f"{printable(key)} {_changed([was, will], key)}" for key in keys)
        if not pool["consumers"]:
            if is_full:
                yield f"{title}: {has or 'empty'}; no numbers change"
            continue
        parts = [
            (f"{sign}{printable(key)}", name, key)
            for name, sign in (("approximate_share_quota", "~"), ("share_quota", "planned "))
            for key in keys
            if any("->" in _changed(row[name], key) for row in pool["consumers"].values())
        ]
        rows = [
            (
                f"{path} (was {row['was']})" if "was" in row else path,
                _points(row["usage_quota"]),
                *(_arrow([None if each is None else percent(each) for each in row[key]]) for key in _USED),
                *(_changed(row[name], key) for _, name, key in parts),
            )
            for path, row in pool["consumers"].items()
        ]
        head = ("consumer", "quota +/-", "usage", "quota", *(title for title, _, _ in parts))
        yield f"{title}: {has or 'empty'}\n" + table(head, rows)


def _points(values: list[str | None]) -> str:
    """By how much a part of a pool grows: `+8.3%`; `=` where it stays."""
    was, will = (Fraction(each or 0) for each in values)
    return "=" if was == will else f"{'+' if will > was else '-'}{percent(str(abs(will - was)))}"


def _changed(values: list[Document | None], key: str) -> str:
    """A resource of two lists of amounts."""
    return _arrow([None if side is None else short(side.get(key, "0")) for side in values])


def _arrow(values: list[str | None]) -> str:
    was, will = ("none" if each is None else each for each in values)
    return was if was == will else f"{was} -> {will}"


def hands_text(rows: list[Document]) -> str:
    """Parcels that change hands."""
    if not rows:
        return "Change hands: nothing"
    keys = list(dict.fromkeys(key for row in rows for key in row["amounts"]))
    together: dict[tuple[object, ...], list[str]] = {}
    for row in rows:
        ends = row["from"] or "nobody", row["to"] or "nobody"
        together.setdefault((*ends, *(row["amounts"].get(key, 0) for key in keys)), []).append(row["host"])
    cells = [(", ".join(fold(hosts)), *key) for key, hosts in together.items()]
    return "Change hands:\n" + table(("host", "from", "to", *keys), cells)


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

"""State documents in a canonical form, for comparison part by part."""

from __future__ import annotations

from collections import Counter
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

from fairhold.units import parse_duration, parse_instant

__all__ = ["DocumentReader", "MalformedError", "instant", "mapping", "rows", "short", "text", "whole"]


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from fairhold.model.plan import Plan

Canonical = dict[str, dict[Any, Any]]
"""Section → key → number or value, without zeros and default values."""

SECTIONS = (
    *("fairhold_state", "now", "previous_cycle", "resource_groups", "demand", "allocated"),
    *("hosts_down", "hosts_never_seen", "hosts_closed", "spent"),
    *("requests", "allocations", "reclaims", "held", "borrowed", "shortages"),
)
REQUEST_KEYS = {
    *("id", "consumer", "resource_group", "unit", "count", "min_count", "priority", "preemptible", "submitted", "user"),
    *("need", "prefer", "avoid", "place", "time_limit", "waiting_since"),
}
NOTICE_KEYS = {"consumer", "request", "resource_group", "host", "units", "for", "deadline", "reason"}

SHORTAGE_KEYS = {"consumer", "resource_group", "since", "taking"}
LOAN_KEYS = {"borrower", "lender", "resource_group", "units"}

_END = 253_402_300_800_000_000
"""10000-01-01T00:00:00Z."""


class MalformedError(ValueError):
    """A part of a result does not have the agreed form."""


def whole(value: object, least: int = 0) -> int:
    """Read a whole number; a boolean is refused."""
    if type(value) is not int or value < least:
        raise MalformedError(f"{short(value)} is not a whole number from {least} on")
    return value


def instant(value: object) -> int:
    """Microseconds of an instant that can be written again in UTC."""
    micros = parse_instant(value) if isinstance(value, str) else None
    if micros is None or not 0 <= micros < _END:
        raise MalformedError(f"{short(value)} is not an instant")
    return micros


def mapping(value: object) -> dict[str, Any]:
    """Read a JSON object."""
    if not isinstance(value, dict):
        raise MalformedError(f"{short(value)} is not a mapping")
    return value


def rows(value: object, keys: Iterable[str]) -> list[dict[str, Any]]:
    """Read a JSON list of objects that have no keys but `keys`."""
    if not isinstance(value, list):
        raise MalformedError(f"{short(value)} is not a list")
    for row in value:
        if unknown := set(mapping(row)) - set(keys):
            raise MalformedError(f"unknown keys {short(sorted(unknown))} in {short(row)}")
    return value


def text(value: object) -> str:
    """Read a string."""
    if not isinstance(value, str):
        raise MalformedError(f"{short(value)} is not a string")
    return value


class DocumentReader:
    """Reads state documents of one plan."""

    def __init__(self, plan: Plan) -> None:
        slots = [entry for entry in plan.policies if not entry.policy.shares_vectors]
        groups = list(dict.fromkeys(group for entry in slots for group in entry.resource_groups))
        self.only_group = groups[0] if len(groups) == 1 else None
        self.rows = plan.tree.rows
        self.leaf = {path: plan.tree.is_leaf(row) for path, row in self.rows.items()}

    def read(self, value: object, slots: Mapping[str, int]) -> Canonical:
        """Read a document into its canonical form.

        slots : resource group → slots, where the document does not give them

        Raises MalformedError at the first part that does not have the form of SPEC §11.
        """
        document = mapping(value)
        if unknown := set(document) - set(SECTIONS):
            raise MalformedError(f"unknown keys {short(sorted(unknown))} in the state")
        said = {name: whole(mapping(node).get("slots")) for name, node in self.section(document, "resource_groups")}
        requests = self._requests(document.get("requests", []))
        hosts = {key: document.get(key, []) for key in ("hosts_down", "hosts_never_seen", "hosts_closed")}
        for key, names in hosts.items():
            if not isinstance(names, list):
                raise MalformedError(f"`{key}` is not a list")
        return {
            "fairhold_state": {"": whole(document.get("fairhold_state"))},
            "now": {"": instant(document.get("now"))},
            "previous_cycle": {"": instant(document.get("previous_cycle"))},
            "resource_groups": dict(slots) | said,
            **{key: Counter(text(name) for name in names) for key, names in hosts.items()},
            "demand": self._counts(document, "demand"),
            "allocated": self._counts(document, "allocated"),
            "spent": self._counts(document, "spent"),
            "requests": requests,
            "allocations": _summed(
                rows(document.get("allocations", []), {"request", "host", "units", "started"}),
                lambda row: (text(row.get("request")), text(row.get("host", "")), instant(row.get("started"))),
            ),
            "reclaims": _summed(
                rows(document.get("reclaims", []), NOTICE_KEYS), lambda row: self._notice(row, requests)
            ),
            "held": _summed(
                rows(document.get("held", []), {"request", "host", "units"}),
                lambda row: (text(row.get("request")), text(row.get("host", ""))),
            ),
            "shortages": self._shortages(document.get("shortages", [])),
            "borrowed": _summed(rows(document.get("borrowed", []), LOAN_KEYS), self._loan),
        }

    def section(self, document: dict[str, Any], name: str) -> Iterable[tuple[str, Any]]:
        """Return the members of a mapping that is optional."""
        return mapping(document.get(name, {})).items()

    def _counts(self, document: dict[str, Any], name: str) -> dict[tuple[str, str], int]:
        counts = {}
        for path, node in self.section(document, name):
            for group, units in mapping(node).items():
                if whole(units):
                    counts[path, group] = units
        return counts

    def _requests(self, value: object) -> dict[str, tuple[object, ...]]:
        found: dict[str, tuple[object, ...]] = {}
        for row in rows(value, REQUEST_KEYS):
            name = text(row.get("id"))
            if (
                name in found
                or not _is_one_slot(row.get("unit", {"slots": 1}))
                or row.get("preemptible", True) is not True
            ):
                raise MalformedError(f"request {short(row)}")
            submitted = instant(row["submitted"]) if "submitted" in row else 0
            found[name] = (
                text(row.get("consumer")),
                text(row.get("resource_group", self.only_group)),
                whole(row.get("count")),
                whole(row.get("min_count", 0)),
                whole(row.get("priority", 0), least=-(2**53)),
                submitted,
                text(row.get("user", "")),
                parse_duration(text(row.get("time_limit", "0s"))),
                instant(row["waiting_since"]) if "waiting_since" in row else submitted,
                *(tuple(_labels(row.get(key, []))) for key in ("need", "prefer", "avoid")),
                text(row.get("place", "")),
            )
        return found

    def _notice(self, row: dict[str, Any], requests: dict[str, tuple[object, ...]]) -> tuple[object, ...]:
        self.check_taker(row.get("for"), requests)
        name = text(row.get("request", ""))
        consumer, group, *_ = requests.get(name, (None, self.only_group))
        taker = row.get("for")
        return (
            text(row.get("consumer", consumer)),
            text(row.get("resource_group", group)),
            name,
            text(row.get("host", "")),
            instant(row.get("deadline")),
            text(row.get("reason", "quota")),
            requests[taker][0] if taker in requests else taker,
        )

    def _shortages(self, value: object) -> dict[tuple[str, str], tuple[int, bool]]:
        found: dict[tuple[str, str], tuple[int, bool]] = {}
        for row in rows(value, SHORTAGE_KEYS):
            key = text(row.get("consumer")), text(row.get("resource_group", self.only_group))
            is_taking = row.get("taking", False)
            if key in found or not isinstance(is_taking, bool):
                raise MalformedError(f"shortage {short(row)}")
            found[key] = instant(row.get("since")), is_taking
        return found

    def _loan(self, row: dict[str, Any]) -> tuple[object, ...]:
        group = text(row.get("resource_group", self.only_group))
        return text(row.get("borrower")), text(row.get("lender")), group

    def check_taker(self, taker: object, requests: Iterable[str] = ()) -> None:
        """Check that `for` names a leaf, a request or nobody (R-FOR-1)."""
        if taker is None:
            return
        name = text(taker)
        if not self.leaf.get(name, False) and name not in requests:
            raise MalformedError(f"`for: {short(taker)}` names no leaf")


def _labels(value: object) -> list[str]:
    if not isinstance(value, list):
        raise MalformedError(f"labels {short(value)}")
    return [text(each) for each in value]


def _is_one_slot(unit: object) -> bool:
    return isinstance(unit, dict) and unit.keys() == {"slots"} and whole(unit["slots"]) == 1


def _summed(found: list[dict[str, Any]], key: Callable[[dict[str, Any]], tuple[object, ...]]) -> dict[Any, int]:
    sums: Counter[Any] = Counter()
    for row in found:
        sums[key(row)] += whole(row.get("units"), least=1)
    return dict(sums)

"""`check` of a file that is not a plan and says so: a scenario, or tenants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.cli.files import fault_document, print_json, print_text
from fairhold.errors import InputError, count, printable
from fairhold.planio.document import parse_document, read_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def check_other(path: Path, *, as_json: bool) -> bool:
    """Check a file as what it says it is; False: as a plan, or nothing known. Raises InputError with its faults."""
    if not path.is_file():
        return False  # what comes by a pipe has been read
    try:
        document = parse_document(read_text(path), str(path))
    except InputError:
        return False
    top: Any = document.value
    if not isinstance(top, dict) or "fairhold" in top:
        return False
    for key, check in _CHECKS.items():
        if key in top:
            _tell(path, check, as_json=as_json)
            return True
    return False


def _tell(path: Path, check: Callable[[Path], dict[str, Any]], *, as_json: bool) -> None:
    try:
        found = check(path)
    except InputError as error:
        if as_json:
            print_json({"faults": [fault_document(fault) for fault in error.faults]})
        raise
    if as_json:
        words = {key: value for key, value in found.items() if key != "words"}
        print_json(words | {"faults": []})
    else:
        print_text(f"{printable(str(path))}: good; {found['words']}")


def _scenario(path: Path) -> dict[str, Any]:
    from fairhold.lab.scenario import check_scenario  # noqa: PLC0415

    names = check_scenario(path)
    plans = count(len(names), "plan")
    return {"plans": names, "words": f"a scenario with {plans}; its jobs are not read before it is played"}


def _tenants(path: Path) -> dict[str, Any]:
    from fairhold.traces.tenantkeys import read_tenants  # noqa: PLC0415

    tenants = len(read_tenants(path).tenants)
    return {"tenants": tenants, "words": count(tenants, "tenant")}


_CHECKS: dict[str, Callable[[Path], dict[str, Any]]] = {"fairhold_scenario": _scenario, "fairhold_tenants": _tenants}
"""First key of a file → how it is checked."""

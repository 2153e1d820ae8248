"""The page of the REST API names every address with all that it takes and gives, and no other."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.engines.kubernetes.asking import Namespace
from fairhold.engines.kubernetes.governor import Governor
from fairhold.engines.kubernetes.measures import Measures
from fairhold.engines.kubernetes.names import GATE, GOVERNED
from fairhold.engines.kubernetes.pods import pod_of
from fairhold.runtime.live.submitting import Limits
from fairhold.service.metrics import QUEUE
from fairhold.service.settings import RequestLimits
from tests.docs.console import ROOT
from tests.service.support import Bank

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = ROOT / "docs/reference/api.md"
PATHS = re.compile(r"^(?:GET|POST|PUT|PATCH|DELETE) /")
IN_WORDS = frozenset({"Difference"})
"""Documents that belong to other pages."""


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    with Bank(tmp_path_factory.mktemp("api") / "state") as bank:
        return bank.app.openapi()


@cache
def sections() -> dict[str, str]:
    """Text below every heading of the third level; `` ` `` are left away in headings."""
    parts = re.split(r"^### (.*)\n", PAGE.read_text(), flags=re.MULTILINE)
    return {
        heading.strip("`"): re.split(r"^## ", text, flags=re.MULTILINE)[0]
        for heading, text in zip(parts[1::2], parts[2::2], strict=True)
    }


def words(text: str) -> set[str]:
    return set(re.findall(r"`([^`\n]+)`", text))


def reached(text: str) -> str:
    """A text, and those of the documents that it points at."""
    told = sections()
    names = {name.lower(): name for name in told if not PATHS.match(name)}
    found = [names[each] for each in re.findall(r"\]\(#([a-z0-9-]+)\)", text)]
    return text + "".join(told[name] for name in found)


def fields(node: Any, document: dict[str, Any], seen: frozenset[str] = frozenset()) -> Iterator[str]:
    """All names of fields in a schema and in those that it points at."""
    if isinstance(node, list):
        for each in node:
            yield from fields(each, document, seen)
    elif isinstance(node, dict):
        name = str(node.get("$ref", "")).rpartition("/")[2]
        if name and name not in seen | IN_WORDS:
            yield from fields(document["components"]["schemas"][name], document, seen | {name})
        yield from node.get("properties", {})
        yield from fields([value for key, value in node.items() if key != "description"], document, seen)


def test_every_address_is_explained_and_no_other(document: dict[str, Any]) -> None:
    there = {f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods}
    assert {name for name in sections() if PATHS.match(name)} == there


def test_all_that_an_address_takes_and_gives_is_explained(document: dict[str, Any]) -> None:
    missing = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            name = f"{method.upper()} {path}"
            text = sections()[name]
            told = {word.lower() for word in words(reached(text))}
            taken = [each["name"] for each in operation.get("parameters", []) if each["in"] != "path"]
            given = operation["responses"]
            taken += fields(operation.get("requestBody", {}), document)
            asked = [*taken, *fields([each for status, each in given.items() if "X" not in status], document)]
            asked += [header for each in given.values() for header in each.get("headers", {})]
            missing += [
                (name, word) for word in asked if word.lower() not in told and f"`{word.lower()}=" not in text.lower()
            ]
            missing += [
                (name, status) for status in given if status not in {"200", "4XX", "5XX"} and status not in text
            ]
    assert missing == []


def test_every_code_is_one_that_is_explained_elsewhere() -> None:
    pages = "".join((ROOT / f"docs/reference/{name}.md").read_text() for name in ("errors", "service-errors"))
    codes = {word for text in re.findall(r"Codes?:[^|]*?\.\n", PAGE.read_text()) for word in words(text) if "-" in word}
    assert len(codes) > 15
    assert {code for code in codes if f"`{code}`" not in pages} == set()


def test_every_limit_is_told() -> None:
    table = PAGE.read_text().split("| limit |")[1].split("\n\n")[0]
    names = {*RequestLimits.__dataclass_fields__, *Limits._fields, "plans_for_a_time"}
    assert names == {word for line in table.splitlines() for word in words(line.split("|")[1] if "|" in line else "")}
    limits = RequestLimits()
    assert f"{limits.clients:,}, {limits.streams:,}" in table
    assert f"{Limits().tasks:,}" in table


OF_RESOURCES = {
    *("fairhold_resource_total", "fairhold_resource_used"),
    *(f"fairhold_resource_{word}" for word in ("owned", "entitled", "allocated", "borrowed", "lent", "waiting")),
    "fairhold_resource_reclaiming",
}
"""Of a plan that shares resources of hosts: `tests/live/test_vector_views.py` has them."""
OF_BUDGETS = "fairhold_budget_used"
"""Of a plan with budgets: `tests/budgets/test_told.py` has it."""
OF_QUEUES = {f"fairhold_queue_{name}" for name in QUEUE}
"""Of a plan with queues: `tests/live/test_queues.py` has them."""


def govern(bank: Bank) -> None:
    """Let a service have a cluster, with which it has had some traffic."""
    governor, measures = Governor(bank.core.plan, "cluster", bank.core.now), Measures()
    meta = dict.fromkeys(("uid", "name", "namespace", "resourceVersion"), "a")
    governor.see_namespace(Namespace("a", {GOVERNED: "true"}, {}))
    governor.see_pod(pod_of({"metadata": meta, "spec": {"schedulingGates": [{"name": GATE}]}}))
    measures.wrote("grant", "done", 0.01)
    measures.listed("pods")
    measures.watch_ended("pods", "time")
    bank.hub.governor, bank.hub.measures = governor, measures


def test_every_metric_is_told(tmp_path_factory: pytest.TempPathFactory) -> None:
    with Bank(tmp_path_factory.mktemp("metrics") / "state") as bank:
        bank.submit()
        bank.hub.wait_started(1)
        govern(bank)
        text = bank.client.get("/v1/metrics").text
    made = {
        re.sub(r"_(bucket|count|sum)$", "", name)
        for name in (line.split("{")[0].split()[0] for line in text.splitlines() if line[0] != "#")
        if not name.endswith("_created")
    }
    for page in (PAGE, ROOT / "docs/how-to/metrics.md"):
        table = "".join(line for line in page.read_text().splitlines() if line.startswith("| "))
        told = {word for word in words(table) if word.startswith("fairhold_")}
        assert made | {"fairhold_cycle_seconds", OF_BUDGETS, *OF_RESOURCES, *OF_QUEUES} == told, page.name

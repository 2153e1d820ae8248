"""The OpenAPI document and what is really answered are one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from jsonschema import Draft202012Validator
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.service.support import PLAN, Bank

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = 16
"""Requests for each operation, of which most are wrong in some way."""
CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bank]:
    """A service with something of everything."""
    with Bank(tmp_path_factory.mktemp("contract") / "state") as bank:
        fill(bank)
        yield bank


def fill(bank: Bank) -> None:
    """Job 1 is over, 2 runs and is reclaimed, 3 waits, 4 is held, 5 is blocked, 6 has failed."""
    bank.submit(name="over", labels={"book": "fx"})
    bank.hub.wait_started(1)
    bank.hub.end(1)
    bank.get("/jobs/1?wait=5")
    bank.submit(count=6)
    bank.hub.wait_started(5)
    bank.submit(consumer="/Trading/Risk", count=2)
    bank.submit(hold=True)
    bank.submit(after=[{"job": "4", "on": "any"}])
    bank.submit(consumer="/Trading/FX", priority=10)
    bank.post("/jobs/6/cancel")
    headers = {"If-Match": '"1"'}
    bank._ask("PUT", "/plan", 200, json={"text": PLAN + "# two\n", "comment": "two"}, headers=headers)


def aim(case: Any, count: int) -> None:
    """Let a request name what is there: else nearly all would end at a name."""
    there = {"job": str(count % 7), "task": 0, "version": 1, "number": 1, "group": "compute", "host": "-"}
    for name in case.path_parameters or {}:
        case.path_parameters[name] = there[name]
    if isinstance(case.body, dict) and "consumer" in case.body:
        case.body["consumer"] = "/Research"
        case.body.pop("resource_group", None)
    if isinstance(case.body, dict) and "text" in case.body and count % 4 == 1:
        case.body["text"] = PLAN


def test_whatever_is_asked_the_answer_is_as_promised(busy: Bank) -> None:
    headers = busy.head | {"Host": "localhost"}
    schema = schemathesis.openapi.from_asgi("/v1/openapi.json", busy.app, headers=headers)
    count = 0
    for found in schema.exclude(path="/v1/stop").get_all_operations():
        operation: Any = found.ok()  # type: ignore[union-attr]  # an error would end the test
        modes = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]
        strategies = [operation.as_strategy(generation_mode=mode) for mode in modes]

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=strategies[0] | strategies[1])
        def ask(case: Any) -> None:
            nonlocal count
            count += 1
            if count % 2:
                aim(case, count)
            if case.query and "wait" in case.query:
                case.query["wait"] = 0
            case.call_and_validate(headers=headers, checks=CHECKS)

        ask()
    assert count > 200


GETS = (
    ("/jobs", "/jobs"),
    ("/jobs?all=1", "/jobs"),
    *((f"/jobs/{job}", "/jobs/{job}") for job in range(1, 7)),
    *((f"/jobs/{job}/tasks", "/jobs/{job}/tasks") for job in range(1, 7)),
    *((f"/jobs/{job}/explanation", "/jobs/{job}/explanation") for job in range(1, 7)),
    ("/consumers", "/consumers"),
    ("/consumers/explanation?consumer=/Trading/Risk", "/consumers/explanation"),
    ("/plan", "/plan"),
    ("/plan/versions", "/plan/versions"),
    ("/plan/versions/1", "/plan/versions/{version}"),
    ("/allocations", "/allocations"),
    ("/cycles", "/cycles"),
    ("/cycles/1", "/cycles/{number}"),
    ("/hosts", "/hosts"),
    ("/usage", "/usage"),
    ("/usage?by=consumer,user,job,kind", "/usage"),
    ("/events", "/events"),
    ("/health", "/health"),
)


@pytest.mark.parametrize(("path", "template"), GETS, ids=[path for path, _ in GETS])
def test_good_answers_have_the_promised_form(busy: Bank, path: str, template: str) -> None:
    document = busy.app.openapi()
    content = document["paths"][f"/v1{template}"]["get"]["responses"]["200"]["content"]
    promised = content["application/json"]["schema"] | {"components": document["components"]}
    validator = Draft202012Validator(promised)
    found = busy.get(path)
    assert [error.message for error in validator.iter_errors(found)] == []


def test_the_document_says_how_to_get_in_and_what_goes_wrong(busy: Bank) -> None:
    document = busy.app.openapi()
    assert document["security"] == [{"token": []}]
    assert "HTTPValidationError" not in document["components"]["schemas"]
    names = [operation["operationId"] for path in document["paths"].values() for operation in path.values()]
    assert len(names) == len(set(names))
    for path in document["paths"].values():
        for operation in path.values():
            assert "4XX" in operation["responses"]
            assert operation["description"]
    page = busy.client.get("/v1/docs")
    assert "/v1/jobs/{job}" in page.text
    assert "//" not in page.text.replace("https://fairhold.dev", "")


def test_metrics_name_stages_leaves_and_requests(busy: Bank) -> None:
    text = busy.client.get("/v1/metrics").text
    assert 'fairhold_stage_seconds_total{stage="commit"}' in text
    assert 'fairhold_units_running{consumer="/Research",resource_group="compute"}' in text
    assert 'fairhold_units_reclaiming{consumer="/Research",resource_group="compute"}' in text
    assert 'fairhold_http_request_seconds_count{method="GET",path="/jobs/{job}",status="200"}' in text
    assert "fairhold_agents_connected 1.0" in text
    size = next(line for line in text.splitlines() if line.startswith("fairhold_store_bytes"))
    assert float(size.split()[1]) > 1_000
    busy.client.get("/v1/jobs/secret-name")
    assert "secret-name" not in busy.client.get("/v1/metrics").text

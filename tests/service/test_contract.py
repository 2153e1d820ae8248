"""The OpenAPI document and what is really answered are one."""

from __future__ import annotations

from collections import Counter
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

from fairhold.engines.agents.authority import Authority
from fairhold.engines.kubernetes.asking import Namespace
from fairhold.engines.kubernetes.governor import Governor
from fairhold.engines.kubernetes.measures import Measures
from fairhold.engines.kubernetes.names import GATE, GOVERNED
from fairhold.engines.kubernetes.pods import pod_of
from tests.examples import FEW
from tests.service.people import access_text, put_access
from tests.service.support import PLAN, Bank

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)


class NeverStopping:
    """Takes the order to stop, and goes on."""

    how: str | None = None

    async def ask(self, how: str) -> None:
        assert how in {"leave", "drain", "kill"}


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bank]:
    """A service with something of everything."""
    with Bank(tmp_path_factory.mktemp("contract") / "state", stopping=NeverStopping()) as bank:
        fill(bank)
        bank.hub.governor, bank.hub.measures = governor(bank), Measures()
        bank.hub.authority = Authority(bank.place, bank.core.now)
        yield bank


def governor(bank: Bank) -> Governor:
    """One that has seen a pod."""
    found = Governor(bank.core.plan, "cluster", bank.core.now)
    meta = {"uid": "u", "name": "waits", "namespace": "risk", "resourceVersion": "1"}
    found.see_namespace(Namespace("risk", {GOVERNED: "true"}, {}))
    found.see_pod(pod_of({"metadata": meta, "spec": {"schedulingGates": [{"name": GATE}]}}))
    return found


def fill(bank: Bank) -> None:
    """Job 1 is over, 2 runs and is reclaimed, 3 waits, 4 is held, 5 is blocked, 6 has failed."""
    bank.submit(name="over", labels={"book": "fx"})
    bank.hub.wait_started(1)
    bank.hub.end(1)
    bank.get("/jobs/1?wait=5")
    (bank.place / "jobs/1").mkdir(parents=True)
    (bank.place / "jobs/1/0.1.out").write_bytes(b"over\n")
    bank.submit(count=6)
    bank.hub.wait_started(5)
    bank.submit(consumer="/Trading/Risk", count=2)
    bank.submit(hold=True)
    bank.submit(after=[{"job": "4", "on": "any"}])
    bank.submit(consumer="/Trading/FX", priority=10)
    bank.post("/jobs/6/cancel")
    left = bank.place / "jobs/1/0.dir"
    left.mkdir(parents=True)
    (left / "step").write_text("12")
    headers = {"If-Match": '"1"'}
    put_access(bank, f"{access_text()}notifications: {{webhooks: {{hosts: ['https://hooks.example.com']}}}}\n")
    bank.post("/tokens", {"user": "ben", "name": "laptop"}, 201)
    bank._ask("PUT", "/plan", 200, json={"text": PLAN + "# two\n", "comment": "two"}, headers=headers)


QUERIES = {"consumer": "/Research", "resource_group": "compute", "by": "consumer,user", "host": "-", "attempt": 1}
MOST_DRAWS = 20
UNWANTED = ("from", "to", "cursor", "label", "state", "user", "before", "after", "limit", "offset", "wait", "seen")


def aim(case: Any, bank: Bank, count: int) -> None:
    """Let a request name what is there: else nearly all would end at a name."""
    job = {"output": "1", "files": "1", "file": "1", "cancel": "6"}.get(
        case.path.rpartition("/")[2], str(1 + count % 5)
    )
    there = {"job": job, "task": 0, "version": 1, "number": 1, "token": 1}
    there |= {"group": "compute", "host": "-", "namespace": "risk", "pod": "waits"}
    for name in case.path_parameters or {}:
        case.path_parameters[name] = there[name]
    for name in list(case.query or {}):
        if name in UNWANTED or name not in case.operation.query:
            del case.query[name]
    if "path" in {parameter.name for parameter in case.operation.query}:
        case.query["path"] = "" if case.path.endswith("/files") else "step"
    for name in QUERIES.keys() & {parameter.name for parameter in case.operation.query}:
        case.query[name] = QUERIES[name]
    if str((case.query or {}).get("draws", "")).isdigit():  # many are right, and take longer than the client waits
        case.query["draws"] = min(int(case.query["draws"]), MOST_DRAWS)
    case.headers.pop("Last-Event-ID", None)
    if isinstance(case.body, dict):
        aim_body(case, bank, count)


def aim_body(case: Any, bank: Bank, count: int) -> None:
    body = case.body
    if "argv" in body and count % 4 == 0:  # only luck makes a job of random terms a right one
        body.clear()
        body |= {"consumer": "", "argv": ["true"]}
    for name in ("was", "for", "to", "at", "until", "after", "labels", "resource_group"):
        body.pop(name, None)
    if case.path == "/v1/me/notifications":
        body["webhook"] = "https://hooks.example.com/1"
    of_access = case.path.startswith("/v1/access")
    good = {"consumer": "/Research", "text": access_text() if of_access else PLAN, "user": "ben"}
    body |= {name: value for name, value in good.items() if name in body or case.path == "/v1/tokens"}
    if case.path == "/v1/tokens":
        body.pop("text"), body.pop("consumer")
    if "if-match" in {each.name.lower() for each in case.operation.headers}:
        version = bank.core.people.version if of_access else bank.core.version
        case.headers["If-Match"] = f'"{version - count % 4 // 3}"'


def statuses_of(operation: Any, bank: Bank) -> Counter[int]:
    """Ask what may be asked of an operation, right and wrong; how often which status came."""
    headers = bank.head | {"Host": "localhost"}
    right, wrong = (operation.as_strategy(generation_mode=mode) for mode in GenerationMode)
    statuses: Counter[int] = Counter()

    @settings(
        FEW,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=right | wrong, aimed=right)
    def ask(case: Any, aimed: Any) -> None:
        aim(aimed, bank, statuses.total())
        for each in (case, aimed):
            if each.query and "wait" in each.query:
                each.query["wait"] = 0
            statuses[each.call_and_validate(headers=headers, checks=CHECKS).status_code] += 1

    ask()
    return statuses


def test_whatever_is_asked_the_answer_is_as_promised(busy: Bank) -> None:
    schema = schemathesis.openapi.from_asgi("/v1/openapi.json", busy.app, headers=busy.head | {"Host": "localhost"})
    operations: list[Any] = [found.ok() for found in schema.get_all_operations()]  # type: ignore[union-attr]
    seen = {each.label: statuses_of(each, busy) for each in operations}
    assert len(seen) == sum(len(path) for path in busy.app.openapi()["paths"].values())
    wrong = {label for label, statuses in seen.items() if min(statuses) >= 300}
    assert wrong == {"POST /v1/hosts/{host}/enrol"}, "each was also right; this plan has no hosts that could enrol"
    assert {label for label, statuses in seen.items() if max(statuses) >= 500} == set()


GETS = (
    ("/jobs", "/jobs"),
    ("/jobs?all=1", "/jobs"),
    ("/me", "/me"),
    ("/tokens", "/tokens"),
    ("/access", "/access"),
    ("/access/versions", "/access/versions"),
    ("/access/versions/1", "/access/versions/{version}"),
    ("/audit", "/audit"),
    ("/audit/check", "/audit/check"),
    *((f"/jobs/{job}", "/jobs/{job}") for job in range(1, 7)),
    *((f"/jobs/{job}/tasks", "/jobs/{job}/tasks") for job in range(1, 7)),
    *((f"/jobs/{job}/explanation", "/jobs/{job}/explanation") for job in range(1, 7)),
    ("/pods", "/pods"),
    ("/pods/risk/waits", "/pods/{namespace}/{pod}"),
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
    ("/usage?resource=slots", "/usage"),
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
    assert "//" not in page.text


def test_metrics_name_stages_leaves_and_requests(busy: Bank) -> None:
    text = busy.client.get("/v1/metrics").text
    assert 'fairhold_stage_seconds_total{stage="commit"}' in text
    for stage in ("snapshot", "divide_by_ownership", "grant_idle_slots", "reclaim", "note", "apply"):
        assert f'fairhold_cycle_stage_seconds_total{{stage="{stage}"}}' in text
    assert 'fairhold_units_allocated{consumer="/Research",resource_group="compute"}' in text
    assert 'fairhold_units_reclaiming{consumer="/Research",resource_group="compute"}' in text
    assert 'fairhold_http_request_seconds_count{method="GET",path="/jobs/{job}",status="200"}' in text
    assert "fairhold_agents_connected 1.0" in text
    size = next(line for line in text.splitlines() if line.startswith("fairhold_store_bytes"))
    assert float(size.split()[1]) > 1_000
    busy.client.get("/v1/jobs/secret-name")
    assert "secret-name" not in busy.client.get("/v1/metrics").text

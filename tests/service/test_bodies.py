"""What bodies may say: no key twice, numbers within one limit, and consumers that there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.service.support import Bank

JSON = {"Content-Type": "application/json"}
FILLED = {"job": "1", "host": "-", "group": "compute", "version": "1", "number": "1"}


def addresses(bank: Bank) -> list[tuple[str, str]]:
    """Every address that takes a body, with its method."""
    paths: dict[str, Any] = bank.app.openapi()["paths"]
    return [
        (method.upper(), path.removeprefix("/v1").format(**FILLED))
        for path, operations in paths.items()
        for method, operation in operations.items()
        if "requestBody" in operation
    ]


def test_a_key_that_stands_twice_is_refused_wherever_there_is_a_body(bank: Bank) -> None:
    found = addresses(bank)
    assert len(found) >= 12
    for method, path in found:
        body = b'{"reason": "a", "x\\u0007": {"b": 1, "a": 1, "b": 2}}'
        fault = bank._ask(method, path, 422, content=body, headers=JSON | {"If-Match": '"1"'})["faults"][0]
        assert fault["code"] == "duplicate-key", path
        assert fault["what"] == "the key `b` appears twice in one mapping of the body"


def test_a_body_that_is_no_json_is_still_told_with_its_place(bank: Bank) -> None:
    answer = bank._ask("POST", "/jobs", 400, content=b'{"a": 1,}', headers=JSON)
    assert (answer["code"], answer["faults"][0]["what"]) == ("json-syntax", "the body is not JSON, at character 8")


@pytest.mark.parametrize(
    "terms",
    [
        {f"unknown {number}": 1 for number in range(100_000)},
        {"argv": [1] * 100_000},
        {"environment": {f"v{number}": 1 for number in range(100_000)}},
    ],
    ids=["keys", "words", "variables"],
)
def test_how_many_values_a_body_may_have_is_a_limit_that_is_looked_at_before_they_are(
    bank: Bank, terms: dict[str, Any]
) -> None:
    answer = bank.submit(413, **terms)
    assert answer["code"] == "too-large"
    assert answer["detail"].startswith("the limit `values` is 100000, and there are 100")


def test_a_long_text_is_one_value_however_many_commas_it_has(bank: Bank) -> None:
    note = {"text": '# , " , ,' * 20_000 + "\nfairhold: 1"}
    assert bank.post("/plan/check", note)["faults"][0]["code"] == "missing-key"


def test_how_many_tasks_a_job_may_have_is_one_limit(bank: Bank) -> None:
    for count in (10_000_001, 2**41, 10**20):
        assert "the limit `tasks` of one job is 10000000" in bank.submit(413, count=count)["detail"]
    assert bank.submit(count=10_000_000, hold=True)["tasks"]["tasks"] == 10_000_000


@pytest.mark.parametrize(("name", "most"), [("memory", 2**50), ("priority", 10**9)])
def test_the_largest_numbers_are_those_of_job_files(bank: Bank, name: str, most: int) -> None:
    assert bank.submit(**{name: most}, hold=True)[name] == most
    assert bank.submit(422, **{name: most + 1})["code"] == "out-of-range"


@pytest.mark.parametrize(
    ("terms", "status", "code"),
    [
        ({"units": 5}, 422, "never-fits"),
        ({"consumer": "/Trading"}, 422, "not-a-leaf"),
        ({"count": 10_000_001}, 413, "too-large"),
        ({"after": [{"job": "9"}]}, 422, "unknown-job"),
        ({"argv": []}, 422, "out-of-range"),
        ({"resource_group": "gpu"}, 422, "unknown-resource-group"),
    ],
)
def test_a_check_says_what_a_submit_would_and_submits_nothing(
    bank: Bank, terms: dict[str, Any], status: int, code: str
) -> None:
    body = {"consumer": "/Research", "argv": ["true"], "count": 3}
    checked = bank.post("/jobs/check", body | terms, status)
    assert checked["code"] == code
    assert checked["faults"] == bank.post("/jobs", body | terms, status)["faults"]
    assert bank.post("/jobs/check", body) == {
        "resource_group": "compute",
        "tasks": 3,
        "units": 1,
        "unit": None,
    }
    assert bank.get("/jobs?all=1")["jobs"] == []


def test_a_check_with_a_key_that_was_used_is_one_of_that_job(bank: Bank) -> None:
    body, head = {"consumer": "/Research", "argv": ["true"], "hold": True}, {"Idempotency-Key": "k"}
    bank.post("/jobs", body, 201, headers=head)
    bank.post("/jobs/check", body | {"after": [{"job": "9"}]}, headers=head)
    bank.post("/jobs/check", body | {"after": [{"job": "9"}]}, 422)


@pytest.mark.parametrize(
    ("path", "mend"),
    [
        ("Research", "did you mean `/Research`?"),
        ("fx", "did you mean `/Trading/FX`?"),
        ("/Reserch", "did you mean `/Research`?"),
        ("/Trading/Risc", "did you mean `/Trading/Risk`?"),
        ("/Trading", "name a leaf below it, as `/Trading/Risk`, `/Trading/FX`"),
        ("/Zzz", "name a leaf"),
    ],
)
def test_a_refused_consumer_comes_with_the_one_that_was_meant(bank: Bank, path: str, mend: str) -> None:
    job = bank.submit(hold=True)["job"]
    for refused in (
        bank.submit(422, consumer=path),
        bank.post("/jobs/check", {"consumer": path, "argv": ["true"]}, 422),
        bank._ask("PATCH", f"/jobs/{job}", 422, json={"consumer": path}),
    ):
        assert (refused["code"], refused["faults"][0]["mend"]) == ("not-a-leaf", mend)


def test_a_question_about_a_consumer_that_is_not_there_names_the_one_that_was_meant(bank: Bank) -> None:
    for address in ("/consumers/explanation?consumer=Research", "/allocations?consumer=Research"):
        assert bank.get(address, 404)["faults"][0]["mend"] == "did you mean `/Research`?"

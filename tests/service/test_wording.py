"""What is wrong with a request is said in our own words, with its place and a mend."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.planio.codes import CODES
from tests.service.support import PLAN

if TYPE_CHECKING:
    from tests.service.support import Bank

JSON = {"Content-Type": "application/json"}
LATEST = "9999-12-31T23:59:59-12:00"
"""It is of the year 10000 in UTC, which no calendar has."""


@pytest.mark.parametrize(
    ("terms", "code", "place", "what"),
    [
        ({"argv": []}, "out-of-range", "argv", "it is empty"),
        ({"argv": [""]}, "name", "argv", "is the program"),
        ({"labels": {"a b": "x"}}, "name", "labels", "the name of a label"),
        ({"user": "a/b"}, "name", "user", "the name of a user"),
        ({"after": [{"job": "x"}]}, "name", "after", "a job is named by its number"),
        ({"after": [{"job": "1", "on": "good"}]}, "unknown-word", "after", "expected `ok`, `fail` or `any`"),
        ({"count": 0}, "out-of-range", "count", "the number is below 1"),
        ({"count": "3"}, "not-whole", "count", "expected a whole number"),
        ({"hold": "yes"}, "wrong-type", "hold", "expected true or false"),
        ({"colour": 1}, "unknown-key", "colour", "unknown key"),
        ({"consumer": None}, "not-a-string", "consumer", "expected a string"),
        ({"backoff": "5"}, "duration", "backoff", "expected a duration"),
        ({"backoff": "367d"}, "duration", "backoff", "0 to 366 days"),
        ({"name": "a\tb"}, "not-text", "name", "printable characters"),
        ({"argv": ["a\0b"]}, "not-text", "argv", "a NUL character"),
        ({"directory": "srv"}, "name", "directory", "an absolute path"),
        ({"environment": {"A=B": "x"}}, "name", "environment", "the name of a variable"),
        ({"stdin": 7}, "not-a-string", "stdin", "base64"),
        ({"stdin": "?"}, "base64", "stdin", "not base64"),
        ({"signal": "KILL"}, "unknown-word", "signal", "can be caught"),
        ({"units": 2**60}, "out-of-range", "units", "the number is above"),
        ({"need": ["a b"]}, "name", "need", "a label of a host"),
        ({"unit": {"gpu": True}}, "not-a-number", "unit.gpu", "expected an amount"),
        ({"unit": {"gpu": [1]}}, "not-a-number", "unit.gpu", "expected an amount"),
        ({"unit": {"gpu": "1" * 101}}, "not-a-number", "unit.gpu", "too long for an amount"),
    ],
)
def test_a_fault_of_a_body(bank: Bank, terms: dict[str, Any], code: str, place: str, what: str) -> None:
    fault = bank.submit(422, **terms)["faults"][0]
    assert (fault["code"], what in fault["what"], fault["place"].startswith(place)) == (code, True, True), fault
    assert fault["mend"]


@pytest.mark.parametrize(
    ("written", "code"), [("null", "not-a-number"), ("NaN", "bad-number"), ("1e999", "bad-number")]
)
def test_an_amount_that_is_none_is_told_once_with_its_place(bank: Bank, written: str, code: str) -> None:
    body = f'{{"consumer": "/Research", "argv": ["true"], "unit": {{"gpu": {written}}}}}'
    faults = bank.client.post("/v1/jobs", content=body, headers=JSON).json()["faults"]
    assert [(fault["code"], fault["place"], fault["file"]) for fault in faults] == [(code, "unit.gpu", "")]


@pytest.mark.parametrize(
    ("method", "path", "body", "code"),
    [
        ("POST", "/plan/diff", {"text": "", "next": 0}, "duration"),
        ("POST", "/hosts/-/close", {"reason": "x", "at": "today"}, "instant"),
        ("POST", "/hosts/-/close", {"reason": "x", "at": "1969-01-01T00:00:00Z"}, "out-of-range"),
        ("POST", "/hosts/-/close", {"reason": "x", "until": "2001-01-01T00:00:00Z"}, "out-of-range"),
        ("POST", "/groups/compute/pause", {"grants": False}, "out-of-range"),
        ("POST", "/plan/check", {"text": "\ud800"}, "not-text"),
        ("PUT", "/plan", {"text": ""}, "if-match-missing"),
        ("POST", "/stop", {"how": "leave"}, "not-supported-yet"),
        ("GET", "/usage?from=1", None, "instant"),
        ("GET", "/usage?by=colour", None, "unknown-word"),
        ("GET", "/usage?resource=colour", None, "unknown-resource"),
        ("GET", "/jobs?cursor=x", None, "bad-cursor"),
        ("GET", "/jobs?label=x", None, "name"),
        ("GET", "/jobs?limit=0", None, "out-of-range"),
        ("GET", "/jobs/9", None, "unknown-job"),
        ("GET", "/cycles/99", None, "unknown-cycle"),
        ("GET", "/events?after=-1", None, "out-of-range"),
    ],
)
def test_every_refusal_says_how_to_mend_it(bank: Bank, method: str, path: str, body: Any, code: str) -> None:
    found = bank.client.request(method, f"/v1{path}", content=json.dumps(body), headers=JSON).json()
    assert (found["code"], found["faults"][0]["code"]) == (code, code), found
    assert found["faults"][0]["mend"]
    assert found["detail"].endswith(found["faults"][0]["mend"])


def test_titles_fit_files_and_requests() -> None:
    of_files = {"cannot-read", "file-too-large", "not-utf-8"}
    assert [code for code, text in CODES.items() if "file" in text.split() and code not in of_files] == []


@pytest.mark.parametrize(
    ("content", "headers", "code", "what"),
    [
        ("", JSON, "missing-key", "the body is missing"),
        ('{"consumer": "/Research", "argv": ["true"]}', {"Content-Type": "text/plain"}, "wrong-type", "`text/plain`"),
        ("{", JSON, "json-syntax", "the body is not JSON, at character 1"),
        ("[]", JSON, "wrong-type", "expected a mapping"),
    ],
)
def test_a_body_that_is_none(bank: Bank, content: str, headers: dict[str, str], code: str, what: str) -> None:
    status = 400 if code == "json-syntax" else 422
    fault = bank._ask("POST", "/jobs", status, content=content, headers=headers)["faults"][0]
    assert (fault["code"], what in fault["what"], bool(fault["mend"])) == (code, True, True), fault


def test_addresses_and_methods_that_are_not_there(bank: Bank) -> None:
    assert bank.get("/nothing", 404)["faults"][0]["what"] == "there is nothing at this address"
    fault = bank._ask("DELETE", "/jobs", 405)["faults"][0]
    assert (fault["what"], "`Allow`" in fault["mend"]) == ("this address does not support this method", True)


@pytest.mark.parametrize(
    ("path", "mend"),
    [("/jobs?lable=a:b", "did you mean `label`?"), ("/plan?all=1", "leave it out"), ("/usage?group=x", "known are ")],
)
def test_an_unknown_key_of_a_query_is_refused(bank: Bank, path: str, mend: str) -> None:
    found = bank.get(path, 422)
    assert (found["code"], mend in found["detail"]) == ("unknown-key", True), found


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/jobs?label=book", 422, "name"),
        ("/jobs?label=:fx", 422, "name"),
        ("/allocations?consumer=/Nowhere", 404, "unknown-consumer"),
        ("/allocations?host=nowhere", 404, "unknown-host"),
        ("/usage?from=0001-01-01T00:00:00Z", 422, "out-of-range"),
        (f"/usage?from={LATEST}&to={LATEST}", 422, "out-of-range"),
        (f"/events/snapshot?until={LATEST}", 422, "out-of-range"),
        ("/events/snapshot?until=", 422, "instant"),
    ],
)
def test_what_names_nothing_is_a_fault_and_no_empty_list(bank: Bank, path: str, status: int, code: str) -> None:
    assert bank.get(path, status)["code"] == code


def test_what_is_there_is_found(bank: Bank) -> None:
    bank.submit()
    bank.hub.wait_started(1)
    for query in ("consumer=/Research", "consumer=/", "host=-", ""):
        assert len(bank.get(f"/allocations?{query}")["allocations"]) == 1, query
    assert bank.get("/allocations?consumer=/Trading/")["allocations"] == []


def test_a_job_that_is_refused_has_no_number(bank: Bank) -> None:
    found = bank.submit(422, resource_group="nope")
    assert found["faults"][0]["what"] == "no policy shares the resource group `nope`"


def test_a_consumer_with_another_path_stands_once_in_a_difference(bank: Bank) -> None:
    text = PLAN.replace("Research: {}", "Science: {}").replace("/Trading: {owned: 2}", "/Trading: {owned: 3}")
    bank.submit(hold=True)
    found = bank.post("/plan/diff", {"text": text, "was": {"/Science": "/Research"}})
    rows = found["resource_groups"]["compute"]["consumers"]
    assert "/Research" not in rows
    assert rows["/Science"]["was"] == "/Research"
    assert rows["/Science"]["quota"][0] == rows["/Science"]["quota"][1]
    assert "was" not in rows["/Trading"]


def test_a_drain_is_named_in_the_explanation(bank: Bank) -> None:
    job = bank.submit()["job"]
    bank.hub.wait_started(1)
    bank.post("/hosts/-/close", {"reason": "new disks", "drain": True})
    (row,) = bank.get(f"/jobs/{job}/explanation")["reclaims"]
    assert (row["cycle"], row["rule"], row["reason"], row["why"]) == (None, None, "host", "new disks")

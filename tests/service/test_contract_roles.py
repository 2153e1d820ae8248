"""Whoever asks whatever: no address fails, and nobody is answered what his role may not have.

Requests are made from the OpenAPI document, right ones and wrong ones, and each is sent by everybody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode

from fairhold.engines.kubernetes.measures import Measures
from tests.examples import FEW
from tests.service.people import Staff, put_access
from tests.service.support import Bank
from tests.service.test_contract import CHECKS, NeverStopping, aim, governor
from tests.service.test_roles import DOCUMENT, EVERYBODY, OF_THE_CLUSTER, ONLY_WHOLE, PEOPLE, TABLE, A, P
from tests.service.test_veil import NAMES, filled
from tests.service.test_veil import PLAN as SECRETIVE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

STRANGER, FORGER = "a stranger", "a forger"
EXAMPLES = settings(FEW, max_examples=max(2, FEW.max_examples // 6))


@pytest.fixture(scope="module", params=["hidden", "sums"])
def staff(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Staff]:
    place = tmp_path_factory.mktemp("roles")
    with Bank(place / "state", plan=SECRETIVE, stopping=NeverStopping()) as bank:
        text = DOCUMENT.replace("others: sums", f"others: {request.param}")
        put_access(bank, text)
        filled(bank)
        bank.hub.governor, bank.hub.measures = governor(bank), Measures()
        yield Staff(bank, text)


def heads_of(staff: Staff) -> Mapping[str, dict[str, str]]:
    """What everybody shows to be known."""
    tokens = {who: token for who, token in staff.tokens.items() if who in PEOPLE}
    forged = tokens["administrator"][:-4] + "AAAA"
    heads = {who: {"Authorization": f"Bearer {token}"} for who, token in {**tokens, FORGER: forged}.items()}
    return {who: {**head, "Host": "localhost"} for who, head in {**heads, STRANGER: {}}.items()}


def may(who: str, address: str) -> bool:
    """Whether somebody may use an address at all, by the table of roles."""
    role, is_below = who.removesuffix("_below"), who.endswith("_below")
    if role not in TABLE[address]:
        # An own job is cancelled, changed and read by who may submit; the table is about those of others.
        return role == "submitter" and "/jobs/{job}" in address
    edits = role in {P, A} and "/plan" in address
    return not is_below or not (address in OF_THE_CLUSTER or (address in ONLY_WHOLE and not edits))


def reads_names(who: str, address: str) -> bool:
    """Whether names of others may stand in an answer to somebody."""
    if address == "GET /v1/plan/schema":
        return True  # examples of paths in the format, the same for every cluster
    if not who.endswith("_below"):
        return who in EVERYBODY
    return who.removesuffix("_below") in {P, A} and "/plan" in address  # the plan is one document


def aimed_at(case: Any, bank: Bank, count: int) -> Any:
    """The same, for what is there."""
    aim(case, bank, count)
    return case


def ask_everybody(operation: Any, staff: Staff) -> list[str]:
    """Send what may be asked of an operation, in the name of everybody; what was answered and should not have been."""
    right, wrong = (operation.as_strategy(generation_mode=mode) for mode in GenerationMode)
    heads, count = heads_of(staff), 0
    wrongs: list[str] = []

    @settings(EXAMPLES, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(case=right | wrong, aimed=right)
    def ask(case: Any, aimed: Any) -> None:
        nonlocal count
        count += 1
        for each in (case, aimed_at(aimed, staff.bank, count)):
            if each.query and "wait" in each.query:
                each.query["wait"] = 0
            if "token" in (each.path_parameters or {}):
                each.path_parameters["token"] = 999  # not that of who asks: he has more to ask
            for who, head in heads.items():
                wrongs.extend(wrong_of(operation.label, who, each.call_and_validate(headers=head, checks=CHECKS)))

    ask()
    return wrongs


def wrong_of(address: str, who: str, answer: Any) -> Iterator[str]:
    """What is wrong with an answer to somebody."""
    if who in {STRANGER, FORGER}:
        if answer.status_code not in {400, 401, 403, 431}:  # too long a head is not read to its end
            yield f"{who} of {address}: {answer.status_code}"
    elif answer.status_code < 400 and not may(who, address):
        yield f"{who} may not {address}, and was answered {answer.status_code}"
    asked = f"{answer.request.url} {answer.request.body!r}"
    found = {*NAMES.findall(answer.text)} - {*NAMES.findall(asked)}  # what one says oneself is no news
    if found and not reads_names(who, address):
        yield f"{who} reads {found} in the answer {answer.status_code} to {address}"


def test_whoever_asks_whatever_nothing_fails_and_nobody_is_answered_more_than_his_role(staff: Staff) -> None:
    schema = schemathesis.openapi.from_asgi(
        "/v1/openapi.json", staff.bank.app, headers=staff.bank.head | {"Host": "localhost"}
    )
    operations: list[Any] = [found.ok() for found in schema.get_all_operations()]  # type: ignore[union-attr]
    wrongs = [wrong for each in operations for wrong in ask_everybody(each, staff)]
    assert wrongs == []
    assert len(operations) > 50


def test_a_wrong_answer_would_be_found_out() -> None:
    class Request:
        url, body = "/v1/jobs", b"{}"

    class Answer:
        request, status_code = Request, 200
        text = '{"path": "/Secret/Merger"}'

    assert len([*wrong_of("POST /v1/stop", "viewer_below", Answer())]) == 2
    assert len([*wrong_of("GET /v1/me", STRANGER, Answer())]) == 2
    assert [*wrong_of("GET /v1/jobs", "viewer", Answer())] == []

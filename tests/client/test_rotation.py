"""Of several addresses the one that leads is asked; what nobody may do at present is asked again."""

from __future__ import annotations

import pytest

from fairhold.client.errors import NobodyLeads, ServiceError, ServiceMissing
from fairhold.client.exchange import Pause, Request, Response, ask, request
from fairhold.client.finding import find
from fairhold.client.rotation import LEADER, Rotation, Tries
from fairhold.errors import UsageError

GOOD = Response(200, {}, b'{"state": "ok"}')
STANDBY = Response(503, {LEADER: "http://two:1"}, b'{"code": "standby", "detail": "two leads"}')
NOBODY = Response(503, {LEADER: ""}, b'{"code": "standby", "detail": "nobody leads"}')
MISSING = ServiceMissing("the service does not answer")


def rotation(text: str = "http://one:1,http://two:1") -> Rotation:
    return Rotation(find(text, "token", {}))


def test_addresses_are_those_of_one_service() -> None:
    target = find("http://one:1,https://two:2", "token", {"FAIRHOLD_CA": "/ca"})
    assert [(each.url, each.token, each.certificates) for each in target.each] == [
        ("http://one:1", "token", "/ca"),
        ("https://two:2", "token", "/ca"),
    ]
    with pytest.raises(UsageError):
        find("http://one:1,", "token", {})


@pytest.mark.parametrize("first", [STANDBY, NOBODY, MISSING])
def test_who_does_not_lead_is_left_for_the_next(first: Response | ServiceMissing) -> None:
    shared = rotation()
    asked = Tries(shared)
    assert asked.judge(first) is None
    assert asked.at == 1
    assert asked.judge(GOOD) is GOOD
    asked = Tries(shared)
    assert (asked.at, asked.judge(GOOD), shared.at) == (1, GOOD, 1)  # and stays where it was answered


@pytest.mark.parametrize("first", [STANDBY, MISSING])
def test_requests_at_the_same_time_each_ask_all_and_find_the_one_that_leads(first: Response | ServiceMissing) -> None:
    shared = rotation()
    one, two, three = Tries(shared), Tries(shared), Tries(shared)
    assert (one.judge(first), two.judge(first)) == (None, None)  # neither has used up the tries of the other
    assert (one.at, two.at, shared.at) == (1, 1, 1)
    three.broke()  # what is known already moves nobody back
    assert (one.judge(GOOD), two.judge(GOOD), shared.at) == (GOOD, GOOD, 1)


def test_where_none_leads_nothing_was_done() -> None:
    shared = rotation()
    asked = Tries(shared)
    assert asked.judge(MISSING) is None
    with pytest.raises(NobodyLeads):
        asked.judge(STANDBY)
    asked = Tries(shared)
    assert asked.judge(MISSING) is None
    with pytest.raises(ServiceMissing) as caught:
        asked.judge(MISSING)
    assert not isinstance(caught.value, NobodyLeads)


def test_a_single_address_says_who_leads_and_waits_where_nobody_does() -> None:
    shared = rotation("http://one:1")
    assert Tries(shared).judge(STANDBY) is STANDBY
    with pytest.raises(NobodyLeads):
        Tries(shared).judge(NOBODY)


def answers(*outcomes: Response | ServiceError) -> tuple[str, int]:
    """What a request comes to that may not be sent twice, and how often it was sent."""
    steps, waiting = ask(request("POST", "stop")), list(outcomes)
    step, sent = next(steps), 0
    try:
        while True:
            if isinstance(step, Pause):
                step = steps.send(None)
                continue
            assert isinstance(step, Request)
            sent += 1
            outcome = waiting.pop(0)
            step = steps.throw(outcome) if isinstance(outcome, ServiceError) else steps.send(outcome)
    except StopIteration as end:
        return str(end.value["state"]), sent
    except ServiceError as error:
        return error.code, sent


def test_a_request_that_nobody_took_is_sent_again_whatever_it_is() -> None:
    nobody = NobodyLeads("no service leads at present")
    assert answers(nobody, nobody, GOOD) == ("ok", 3)
    assert answers(MISSING) == ("no-service", 1)
    assert answers(*[nobody] * 40) == ("no-service", 15)

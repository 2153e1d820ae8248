"""Whatever a file holds: a result or an InputError with a place, never anything else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fairhold.errors import InputError
from fairhold.planio.codes import CODES
from fairhold.planio.document import parse_document, read_text
from fairhold.planio.jobs import parse_jobs
from fairhold.planio.plan import parse_plan
from fairhold.planio.state import parse_state, state_document
from tests.planio.support import HOSTS, SMALL, VECTORS
from tests.planio.test_read_jobs import JOBS
from tests.planio.test_read_state import FULL
from tests.planio.test_vector_states import STATE

if TYPE_CHECKING:
    from fairhold.model.job import Job
    from fairhold.model.plan import Plan
    from fairhold.model.state import State

HOST_PLAN, VECTOR_PLAN = (parse_plan(text, "f")[0] for text in (HOSTS, VECTORS))
TEXTS = (SMALL, HOSTS, FULL, JOBS, VECTORS, STATE)
VALUES: dict[str, Any] = {text: parse_document(text, "f").value for text in TEXTS}
ODD = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(st.characters(codec="utf-8"), max_size=8),
        st.sampled_from(
            [
                *(
                    "/",
                    "/A",
                    "//",
                    "none",
                    "1e400",
                    "9" * 50,
                    "0s",
                    "g[1-3]",
                    "]",
                    "gpu",
                    "r1",
                    "/Trading",
                    "40%",
                    "1e-400",
                ),
                *("1.5 GiB", "0.3 cpu", "-1", "101%", "remaining", "own", "a\0b", "g[1-2]\0", "\u202e", "\uff11"),
            ]
        ),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def read(text: str) -> Plan | State | tuple[Job, ...] | None:
    """The first reader's result; all of them are tried."""
    results = [attempt(reader, text) for reader in (plan_of, state_of, vector_state_of, jobs_of)]
    return next((result for result in results if result is not None), None)


def plan_of(text: str) -> Plan:
    return parse_plan(text, "f")[0]


def state_of(text: str, plan: Plan = HOST_PLAN) -> State:
    state = parse_state(text, plan, "f")
    assert parse_state(json.dumps(state_document(plan, state)), plan, "f") == state
    return state


def vector_state_of(text: str) -> State:
    return state_of(text, VECTOR_PLAN)


def jobs_of(text: str) -> tuple[Job, ...]:
    return parse_jobs(text, HOST_PLAN, "f")


def attempt(reader: Any, text: Any, name: str = "f") -> Any:
    refused: InputError
    try:
        return reader(text)
    except InputError as error:
        refused = error
    assert refused.faults
    assert all(fault.code in CODES and fault.file == name for fault in refused.faults)
    assert str(refused).encode()
    return None


@given(st.text())
def test_any_text(text: str) -> None:
    read(text)


@given(st.sampled_from(TEXTS), st.integers(0, 2000), st.booleans())
def test_a_truncated_file(text: str, end: int, as_json: bool) -> None:  # noqa: FBT001 - drawn by Hypothesis
    whole = json.dumps(VALUES[text]) if as_json else text
    read(whole[: end % len(whole)])


@given(st.sampled_from(TEXTS), st.integers(0, 2000), st.text(max_size=3), st.integers(0, 3))
def test_a_file_with_a_changed_piece(text: str, at: int, piece: str, cut: int) -> None:
    at %= len(text)
    read(text[:at] + piece + text[at + cut :])


@settings(max_examples=300)
@given(st.sampled_from(TEXTS), st.integers(0, 200), ODD, st.booleans())
def test_a_file_with_a_value_of_another_kind(text: str, at: int, odd: Any, as_key: bool) -> None:  # noqa: FBT001 - drawn
    value = json.loads(json.dumps(VALUES[text]))
    places = list(containers(value))
    container, key = places[at % len(places)]
    if as_key and isinstance(container, dict):
        container[odd if isinstance(odd, str) else "odd"] = container.pop(key)
    else:
        container[key] = odd
    read(json.dumps(value))


def containers(value: Any) -> Any:
    """Every container with every key or position in it."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(pairs):
        yield value, key
        yield from containers(inner)


@given(st.binary())
def test_any_bytes(tmp_path_factory: Any, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz"
    path.write_bytes(data)
    text = attempt(read_text, path, str(path))
    if text is not None:
        assert text.encode() == data
        read(text)

"""Whatever stands in a section or in a file of tenants, it is read or refused; nothing else happens."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairhold.errors import InputError
from fairhold.traces.columnkeys import COLUMN_KEYS, FIELD_KEYS
from fairhold.traces.rulekeys import KEYS as RULE_KEYS
from fairhold.traces.source import COMMON_KEYS, KINDS, OWN_KEYS, SCALE_KEYS, TRACE_KEYS
from fairhold.traces.tenantkeys import KEYS, KIND_KEYS, SERVICE_KEYS, TENANT_KEYS, parse_tenants
from tests.examples import FEWER
from tests.traces.support import workload_of

if TYPE_CHECKING:
    from pathlib import Path

WORDS = [
    *(*COMMON_KEYS, *TRACE_KEYS, *SCALE_KEYS, *COLUMN_KEYS, *FIELD_KEYS, *RULE_KEYS, *KEYS, *KIND_KEYS, *SERVICE_KEYS),
    *(*TENANT_KEYS, *(key for keys in OWN_KEYS.values() for key in keys), "quantiles", "shape", "share", "within"),
]
ATOMS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        [*WORDS, "", "/", "/A", "a", "x.csv", "1h", "2026-01-05T09:00:00Z", "{a}", "\\1", "(", "1/3", "all"]
    ),
)
ANY = st.recursive(
    ATOMS,
    lambda below: st.one_of(
        st.lists(below, max_size=4), st.dictionaries(st.sampled_from([*WORDS, "/", "/A", "gpu"]), below, max_size=4)
    ),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("odd")
    (place / "x.csv").write_text("a,submit,duration\n1,2,3\n4,5,6\n")
    return place


@FEWER
@given(
    kind=st.sampled_from(KINDS),
    section=st.dictionaries(st.sampled_from([*TRACE_KEYS, *COMMON_KEYS, "tasks", "separator", "fields"]), ANY),
    columns=st.dictionaries(st.sampled_from(COLUMN_KEYS), ANY, max_size=3),
    rules=st.lists(st.dictionaries(st.sampled_from(RULE_KEYS), ANY, max_size=3), max_size=3),
)
def test_any_section(
    kind: str, section: dict[str, Any], columns: dict[str, Any], rules: list[Any], folder: Path
) -> None:
    basis = {"columns": {"submit": "a", "duration": "duration"} | columns, "consumers": rules}
    document = (basis if kind != "tenants" else {}) | section | {"kind": kind, "file": "x.csv"}
    try:
        workload_of(json.dumps(document), folder)
    except InputError as error:
        found = error.faults
    else:
        return
    assert found


@FEWER
@given(
    top=st.dictionaries(st.sampled_from(KEYS), ANY, max_size=2),
    tenant=st.dictionaries(st.sampled_from(TENANT_KEYS), ANY, max_size=4),
    kind=st.dictionaries(st.sampled_from(KIND_KEYS), ANY, max_size=4),
)
def test_any_tenants(top: dict[str, Any], tenant: dict[str, Any], kind: dict[str, Any]) -> None:
    document = {
        "fairhold_tenants": 1,
        "begin": "2026-01-05T09:00:00Z",
        "tenants": {"/A": {"jobs_per_day": 1, "jobs": [{"duration": "1h"} | kind]} | tenant},
    } | top
    try:
        parse_tenants(json.dumps(document), "tenants.json")
    except InputError as error:
        found = error.faults
    else:
        return
    assert found

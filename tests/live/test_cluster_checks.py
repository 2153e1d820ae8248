"""What is looked at before a service governs a cluster."""

from __future__ import annotations

import logging
import time
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest

from fairhold.engines.kubernetes.access import Access
from fairhold.engines.kubernetes.api import Api, ApiError
from fairhold.errors import InputError
from fairhold.runtime.live.cluster_checks import OLDEST, check_cluster


class Server:
    """An API server of a version, which refuses some verbs on some resources, and has a clock of its own."""

    def __init__(
        self, minor: str = str(OLDEST), ahead: float = 0.0, refused: frozenset[tuple[str, str]] = frozenset()
    ) -> None:
        self.access = SimpleNamespace(url="https://server")
        self.minor, self.ahead, self.refused = minor, ahead, refused
        self.asked: list[tuple[str, str, str]] = []

    def request(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        if path == "/version":
            return {"major": "1", "minor": self.minor, "gitVersion": f"v1.{self.minor}.0"}
        assert method == "POST"
        assert body is not None
        said = body["spec"]["resourceAttributes"]
        kind = "/".join(filter(None, (said["resource"], said["subresource"])))
        self.asked.append((said["namespace"], said["verb"], kind))
        return {"status": {"allowed": (said["verb"], kind) not in self.refused}}

    def clock(self) -> float:
        return time.time() + self.ahead


def check(server: Server, lease: str = "home", plan_object: str = "") -> None:
    check_cluster(cast("Api", server), lease, plan_object)


@pytest.mark.parametrize("minor", ["30", str(OLDEST - 1), f"{OLDEST - 1}+", "", "x"])
def test_an_old_cluster_is_refused(minor: str) -> None:
    with pytest.raises(InputError, match=rf"1\.{OLDEST} is the oldest that is supported"):
        check(Server(minor))


@pytest.mark.parametrize("minor", [str(OLDEST), f"{OLDEST}+", "37"])
def test_a_cluster_with_all_that_is_needed_is_taken(minor: str, caplog: pytest.LogCaptureFixture) -> None:
    check(Server(minor))
    assert not caplog.records


def test_a_cluster_that_is_newer_than_what_was_tried_is_told(caplog: pytest.LogCaptureFixture) -> None:
    check(Server("99"))
    assert "newer than what this was tested with" in caplog.text


def test_rights_that_are_missing_are_named_all_of_them() -> None:
    refused = frozenset({("watch", "nodes"), ("patch", "pods"), ("delete", "pods"), ("update", "leases")})
    with pytest.raises(InputError) as caught:
        check(Server(refused=refused))
    (fault,) = caught.value.faults
    assert fault.code == "kubernetes-rights"
    assert fault.what.endswith("may not: patch, delete pods; watch nodes; update leases in home")
    assert "--lease-namespace" in fault.mend


def test_rights_that_are_not_needed_are_not_asked_for() -> None:
    refused = frozenset({("update", "leases"), ("patch", "plans/status"), ("create", "consumers")})
    check(Server(refused=refused), lease="")
    with pytest.raises(InputError, match=r"may not: patch plans/status of fairhold\.io"):
        check(Server(refused=refused), lease="", plan_object="plan")


@pytest.mark.parametrize(("ahead", "said"), [(60.0, "60 s behind"), (-60.0, "60 s ahead of"), (3.0, ""), (-3.0, "")])
def test_clocks_that_differ_by_more_than_some_seconds_are_told(
    ahead: float, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        check(Server(ahead=ahead))
    assert bool(caplog.records) is bool(said)
    assert said in caplog.text


@pytest.mark.parametrize("date", ["Mon, 05 Jan 2026 09:00:00 GMT", None, "yesterday"])
def test_the_clock_of_a_server_is_that_of_its_answers(date: str | None) -> None:
    api = Api(Access("https://server", verify=True))
    headers = {} if date is None else {"Date": date}
    api._transport = httpx.MockTransport(lambda _: httpx.Response(200, headers=headers))
    known = 1_767_603_600.5
    assert api.clock() == known if date and "GMT" in date else abs(api.clock() - time.time()) < 60
    api.close()


def test_a_server_that_does_not_answer_has_no_clock() -> None:
    def refuse(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("nobody")

    api = Api(Access("https://server", verify=True))
    api._transport = httpx.MockTransport(refuse)
    with pytest.raises(ApiError, match="does not answer: nobody"):
        api.clock()
    api.close()

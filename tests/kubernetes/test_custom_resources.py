"""A plan as an object and the objects of consumers, on a real control plane."""

from __future__ import annotations

import re
import signal
import time
from contextlib import ExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from fairhold.engines.kubernetes.api import ApiError
from fairhold.engines.kubernetes.custom_resources import CONSUMERS, MANAGED, PLANS, custom_resources
from tests.docs.console import ROOT
from tests.kubernetes.control_plane import SERVICE
from tests.kubernetes.estate import Estate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.kubernetes.control_plane import ControlPlane

RBAC = "/apis/rbac.authorization.k8s.io/v1"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MERGE = "application/merge-patch+json"
Document = dict[str, Any]


def rights() -> Iterator[Document]:
    """All rights to the kinds of Kubernetes, and to the new ones those of the manual and no others."""
    rules = [{"apiGroups": ["", "apps", "batch"], "resources": ["*"], "verbs": ["*"]}]
    text = (ROOT / "docs/how-to/kubernetes-plan.md").read_text()
    for resource, verbs in re.findall(r"^\| `((?:plans|consumers)\S*)` \| ([a-z, ]+) \|$", text, re.MULTILINE):
        rules.append({"apiGroups": ["fairhold.io"], "resources": [resource], "verbs": verbs.split(", ")})
    assert len(rules) == 5
    meta = {"metadata": {"name": "fairhold-objects"}}
    yield {"kind": "ClusterRole", **meta, "rules": rules}
    group = {"apiGroup": "rbac.authorization.k8s.io"}
    subjects = [{"kind": "User", "name": SERVICE, **group}]
    role = {"kind": "ClusterRole", "name": "fairhold-objects", **group}
    yield {"kind": "ClusterRoleBinding", **meta, "roleRef": role, "subjects": subjects}


class Objects:
    """An estate whose plan is an object named `estate`; the service is not started yet, and has only its rights."""

    def __init__(self, estate: Estate) -> None:
        self.estate, self.api = estate, estate.api
        self.spec: Document = yaml.safe_load(estate.plan)
        for document in rights():
            with suppress(ApiError):  # they are there from another test
                self.api.request("POST", f"{RBAC}/{document['kind'].lower()}s", document)
        administrator, service = estate.cluster.kubeconfig(), estate.cluster.kubeconfig(SERVICE)
        words = estate.house.words
        estate.house.words = tuple(str(service) if word == str(administrator) else word for word in words)
        assert str(service) in estate.house.words

    def define(self) -> None:
        """Add both kinds to the cluster."""
        for definition in custom_resources():
            self.api.request("POST", DEFINITIONS, definition)
        for path in (PLANS, CONSUMERS):
            self.estate.until(partial(self.is_there, path))

    def undefine(self) -> None:
        """Take both away, with all their objects, and wait until they are gone."""
        for definition in custom_resources():
            with suppress(ApiError):
                self.api.request("DELETE", f"{DEFINITIONS}/{definition['metadata']['name']}")
        for path in (PLANS, CONSUMERS):
            self.estate.until(partial(self.is_gone, path))

    def is_there(self, path: str) -> bool | None:
        """Whether objects of a kind can be had; None while that changes."""
        try:
            self.api.request("GET", path)
        except ApiError as error:
            if error.status not in {404, 429, 500, 503}:  # as while it begins or ends
                raise
            return False if error.status == 404 else None
        return True

    def is_gone(self, path: str) -> bool:
        return self.is_there(path) is False

    def apply(self, **changes: Any) -> None:
        """Apply the plan, with other values of some keys, as a person does."""
        self.spec |= changes
        words = {"apiVersion": "fairhold.io/v1alpha1", "kind": "Plan", "metadata": {"name": "estate"}}
        document = words | {"spec": self.spec}
        said = ("apply", "--server-side", "--field-manager", "ann", "--force-conflicts", "-f", "-")
        self.estate.cluster.kubectl(*said, stdin=yaml.safe_dump(document))

    def plan(self) -> Document:
        return self.api.request("GET", f"{PLANS}/estate")

    def until_observed(self) -> Document:
        """Wait until the service has said what became of the latest generation; the status."""

        def observed() -> Document | None:
            plan = self.plan()
            status: Document = plan.get("status") or {}
            return status if status.get("observedGeneration") == plan["metadata"]["generation"] else None

        found: Document = self.estate.until(observed)
        return found

    def consumers(self) -> dict[str, Document]:
        """Name → status."""
        return {each["metadata"]["name"]: each.get("status") or {} for each in self.api.list(CONSUMERS)[0]}

    def until_shown(self, name: str, **wanted: str) -> None:
        """Wait until a consumer shows these texts."""
        self.estate.until(
            lambda: wanted.items() <= (self.consumers().get(name) or {}).get("shown", {}).items(), patience=20
        )


@pytest.fixture
def objects(cluster: ControlPlane, tmp_path: Path) -> Iterator[Objects]:
    with ExitStack() as stack:
        estate = Estate(cluster, tmp_path)
        stack.callback(estate.close)
        made = Objects(estate)
        stack.callback(made.undefine)
        yield made


def condition_of(status: Document) -> tuple[str, str, str]:
    (condition,) = status["conditions"]
    return condition["status"], condition["reason"], condition["message"]


def test_a_plan_object_is_put_in_force_and_changed_and_a_faulty_one_changes_nothing(objects: Objects) -> None:
    objects.define()
    house = objects.estate.house
    house.has_plan_file = False
    objects.apply()
    house.serve("--plan-object", "estate")
    status = objects.until_observed()
    assert (status["version"], condition_of(status)[:2], status["faults"]) == (1, ("True", "InForce"), [])
    first = house.client.plan()
    assert (first.author, first.comment) == ("ann", "read from Plan estate generation 1")

    objects.apply(default_rank=3)
    status = objects.until_observed()
    assert (status["version"], condition_of(status)[:2]) == (2, ("True", "InForce"))
    second = house.client.plan()
    assert (second.author, second.comment) == ("ann", "Plan estate generation 2")
    assert second.at is not None
    assert status["inForceSince"] == second.at.strftime("%Y-%m-%dT%H:%M:%SZ")

    objects.apply(default_rank="high", cluster=7)
    status = objects.until_observed()
    assert (status["version"], condition_of(status)[0], status["faultCount"]) == (2, "False", 2)
    assert {(each["place"], each["code"]) for each in status["faults"]} == {
        ("default_rank", "not-whole"),
        ("cluster", "not-a-string"),
    }
    assert all(each["what"] for each in status["faults"])
    assert house.client.plan().version == 2
    table = objects.estate.cluster.kubectl("get", "plans")
    assert table.split()[:9] == ["NAME", "VERSION", "ACCEPTED", "FAULTS", "AGE", "estate", "2", "False", "2"]

    objects.api.request("DELETE", f"{PLANS}/estate")
    objects.estate.until(lambda: "the Plan estate was deleted" in house.said)
    assert house.client.plan().version == 2


def test_a_service_without_a_plan_waits_for_an_object_that_is_one(objects: Objects) -> None:
    house = objects.estate.house
    house.has_plan_file = False
    house.launch("--plan-object", "estate")
    objects.estate.until(lambda: "waiting for the Plan estate: the cluster has no kind Plan" in house.said)
    objects.define()
    objects.estate.until(lambda: "waiting for the Plan estate: there is no such object yet" in house.said)
    objects.apply(default_rank="high")
    status = objects.until_observed()
    assert "version" not in status
    assert condition_of(status)[:2] == ("False", "Faulty")
    assert [each["place"] for each in status["faults"]] == ["default_rank"]
    objects.estate.until(lambda: "generation 1 is faulty; waiting for another" in house.said)
    objects.apply(default_rank=1)
    house.await_up()
    assert (objects.until_observed()["version"], house.said.count("waiting for")) == (1, 3)


def test_a_restart_puts_no_unchanged_generation_in_force_but_one_that_changed_meanwhile(objects: Objects) -> None:
    objects.define()
    objects.apply()
    house = objects.estate.house
    house.has_plan_file = False
    house.serve("--plan-object", "estate")
    assert objects.until_observed()["version"] == 1
    house.again(signal.SIGTERM, "--plan-object", "estate")
    house.fairhold("plan", "apply", "--yes", str(house.plan))
    assert condition_of(objects.until_observed())[1] == "InForce"  # the file says the same
    house.plan.write_text(yaml.safe_dump(objects.spec | {"default_rank": 5}))
    house.fairhold("plan", "apply", "--yes", str(house.plan))
    objects.estate.until(lambda: condition_of(objects.until_observed())[1] == "Replaced")
    house.again(signal.SIGKILL, "--plan-object", "estate")
    time.sleep(2)
    assert house.client.plan().version == objects.until_observed()["version"] == 3
    house.kill()
    objects.apply(default_rank=6)
    house.serve("--plan-object", "estate")
    status = objects.until_observed()
    assert (status["version"], condition_of(status)[1]) == (4, "InForce")
    assert house.client.plan().comment == "Plan estate generation 2"


def test_a_plan_that_does_not_fit_the_work_is_refused_and_the_one_before_stays(objects: Objects) -> None:
    objects.define()
    estate = objects.estate
    estate.house.serve("--plan-object", "estate")
    estate.job(estate.risk, "work", 2)
    estate.until_states(estate.risk, running=2)
    consumers = {"trading": objects.spec["consumers"]["trading"], "science": {}}
    rules = [{"namespace": estate.trading, "consumer": "/trading"}]
    entry = objects.spec["policies"][0]
    shares = {"/trading": entry["consumers"]["/trading"], "/science": {"deserved": {"gpu": 1}}}
    policies = [entry | {"consumers": shares}]
    objects.apply(consumers=consumers, policies=policies, kubernetes={"pods": rules})
    status = objects.until_observed()
    assert (status["version"], condition_of(status)[:2]) == (1, ("False", "Refused"))
    assert [each["code"] for each in status["faults"]] == ["consumer-in-use"]


def test_consumers_show_what_they_have_and_go_with_the_plan(objects: Objects) -> None:
    objects.define()
    estate = objects.estate
    mine = {"apiVersion": "fairhold.io/v1alpha1", "kind": "Consumer", "metadata": {"name": "mine"}}
    objects.api.request("POST", CONSUMERS, mine)
    estate.house.serve("--plan-object", "estate")
    objects.until_shown("risk", allocated="0", borrowed="0", waiting="0")
    estate.job(estate.risk, "borrows", 6)
    estate.until_states(estate.risk, running=6)
    objects.until_shown("risk", allocated="gpu 6, cpu 0.06", borrowed="gpu 2", waiting="0")
    objects.until_shown("trading", allocated="0", owned="gpu 4", lent="gpu 2")
    status = objects.consumers()["risk"]
    assert (status["path"], status["allocated"], status["borrowed"]) == ("/risk", {"gpu": 6, "cpu": 0.06}, {"gpu": 2})
    table = estate.cluster.kubectl("get", "consumers").splitlines()
    assert table[0].split() == ["NAME", "PATH", "OWNED", "ALLOCATED", "QUOTA", "BORROWED", "LENT", "WAITING"]
    assert [line.split()[0] for line in table[1:]] == ["mine", "risk", "trading"]

    estate.house.again(signal.SIGTERM, "--plan-object", "estate")
    for _ in range(40):  # nothing is told of nodes that it has not heard of yet
        assert objects.consumers()["risk"]["owned"] == {"gpu": 4, "cpu": 64}
        time.sleep(0.1)

    objects.api.request("DELETE", f"{CONSUMERS}/risk")
    estate.job(estate.trading, "owner", 4)
    objects.until_shown("trading", allocated="gpu 4, cpu 0.04", lent="0")
    objects.until_shown("risk", allocated="gpu 4, cpu 0.04", borrowed="0", waiting="gpu 2, cpu 0.02")

    names = objects.spec["consumers"] | {"Data Science": {}}
    entry = objects.spec["policies"][0]
    more = {"/Data Science": {"deserved": {"gpu": 0}}}
    objects.apply(consumers=names, policies=[entry | {"consumers": entry["consumers"] | more}])
    objects.until_shown("data-science", owned="0")
    objects.apply(consumers={key: names[key] for key in ("risk", "trading")}, policies=[entry])
    estate.until(lambda: sorted(objects.consumers()) == ["mine", "risk", "trading"])
    (kept,) = [each for each in objects.api.list(CONSUMERS)[0] if each["metadata"]["name"] == "mine"]
    assert "status" not in kept
    assert MANAGED not in kept["metadata"].get("labels", {})


def test_without_the_kinds_the_service_runs_and_says_so_once(objects: Objects) -> None:
    estate = objects.estate
    estate.house.serve("--plan-object", "estate")
    estate.job(estate.risk, "work", 2)
    estate.until_states(estate.risk, running=2)
    estate.until(lambda: "no kind Plan" in estate.house.said and "no kind Consumer" in estate.house.said)
    time.sleep(3)
    assert [estate.house.said.count(f"the cluster has no kind {kind}") for kind in ("Plan", "Consumer")] == [1, 1]
    objects.define()
    objects.apply(default_rank=3)
    assert condition_of(objects.until_observed())[1] == "InForce"

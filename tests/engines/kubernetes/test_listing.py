"""Kinds of objects are found in the versions that a cluster serves."""

from __future__ import annotations

from typing import Any, cast

import pytest

from fairhold.engines.kubernetes.access import Access
from fairhold.engines.kubernetes.api import Api, ApiError
from fairhold.engines.kubernetes.listing import list_kind, list_kinds
from fairhold.errors import InputError

VERSIONS = {"ClusterQueue": ("v1beta1", "v1beta2"), "Cohort": ("v1beta1", "v1beta2")}
RESOURCES = [
    {"name": "clusterqueues", "kind": "ClusterQueue"},
    {"name": "clusterqueues/status", "kind": "ClusterQueue"},
]


class Served:
    """An API server that serves a group in some versions."""

    access = Access("https://here", verify=True)

    def __init__(self, *versions: str, status: int = 0) -> None:
        self.versions, self.status = versions, status
        self.listed: list[str] = []

    def request(self, _: str, path: str) -> Any:
        if self.status or not self.versions:
            raise ApiError(self.status or 404, "No", "no")
        if path == "/apis/kueue":
            preferred = {"version": self.versions[-1]}
            return {"versions": [{"version": each} for each in self.versions], "preferredVersion": preferred}
        return {"resources": RESOURCES}

    def list(self, path: str) -> Any:
        self.listed.append(path)
        return [{"metadata": {"name": "a"}}], "1"


def listed(server: Served) -> list[dict[str, Any]]:
    return list_kinds(cast("Api", server), "kueue", VERSIONS, "Kueue")


def test_the_preferred_version_is_read_where_it_is_known_and_missing_kinds_are_left_out() -> None:
    for versions, used in ((("v1beta1", "v1beta2"), "v1beta2"), (("v1beta1", "v2"), "v1beta1")):
        server = Served(*versions)
        assert listed(server) == [{"apiVersion": f"kueue/{used}", "kind": "ClusterQueue", "metadata": {"name": "a"}}]
        assert server.listed == [f"/apis/kueue/{used}/clusterqueues"]


@pytest.mark.parametrize(
    ("server", "code", "said"),
    [
        (Served(), "kubernetes-no-kind", "has no Kueue objects"),
        (Served("v9"), "kubernetes-no-kind", "serves kueue as v9"),
        (Served("v1beta1", status=403), "kubernetes-rights", "refuses"),
        (Served("v1beta1", status=500), "kubernetes-access", "cannot be used"),
    ],
)
def test_what_is_missing_is_named(server: Served, code: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        listed(server)
    assert caught.value.faults[0].code == code


def test_a_kind_of_the_core_has_no_group_in_its_path() -> None:
    server = Served("v1")
    assert list_kind(cast("Api", server), "v1", "Node", "nodes")[0]["apiVersion"] == "v1"
    assert server.listed == ["/api/v1/nodes"]

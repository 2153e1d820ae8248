"""The way to the service in a cluster, with a kubectl that says what it is told to."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, cast

import pytest

from fairhold.engines.kubernetes.access import Access
from fairhold.engines.kubernetes.api import Api, ApiError
from fairhold.engines.kubernetes.tunnel import Way, fault_of, tunnel, viewer_token
from fairhold.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

FORBIDDEN = 'Error from server (Forbidden): services "fairhold" is forbidden'


class Told:
    """An API server that answers one thing."""

    access = Access("https://here", verify=True)

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def request(self, method: str, path: str) -> Any:
        assert (method, path) == ("GET", "/api/v1/namespaces/fair/secrets/fairhold-viewer")
        if isinstance(self.answer, ApiError):
            raise self.answer
        return self.answer


def token_of(answer: Any) -> str:
    return viewer_token(cast("Api", Told(answer)), "fair")


def test_the_token_is_that_of_the_secret() -> None:
    assert token_of({"data": {"token": base64.b64encode(b"very secret").decode()}}) == "very secret"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (ApiError(403, "Forbidden", "no"), "kubernetes-rights"),
        (ApiError(401, "Unauthorized", "no"), "kubernetes-rights"),
        (ApiError(404, "NotFound", "no"), "kubernetes-no-service"),
        (ApiError(0, "Unreachable", "no"), "kubernetes-access"),
        ({}, "kubernetes-no-service"),
        ({"data": {"token": "?"}}, "kubernetes-no-service"),
    ],
)
def test_without_a_token_it_is_said_why(answer: Any, code: str) -> None:
    with pytest.raises(InputError) as caught:
        token_of(answer)
    assert caught.value.faults[0].code == code


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ([FORBIDDEN], "kubernetes-rights"),
        (["error: You must be logged in to the server (Unauthorized)"], "kubernetes-rights"),
        (['Error from server (NotFound): services "fairhold" not found'], "kubernetes-no-service"),
        (["error: timed out waiting for the condition"], "kubernetes-no-service"),
        (["error: unable to forward port because pod is not running. Current status=Pending"], "kubernetes-no-service"),
        (["Unable to connect to the server: dial tcp"], "kubernetes-access"),
        ([], "kubernetes-access"),
    ],
)
def test_what_kubectl_says_has_a_code(said: list[str], code: str) -> None:
    assert fault_of(said, "fair").code == code


def kubectl(place: Path, script: str) -> str:
    program = place / "kubectl"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(program)


def test_a_tunnel_lasts_as_long_as_it_is_needed(tmp_path: Path) -> None:
    script = f'echo "$@" > {tmp_path}/words; trap "echo ended > {tmp_path}/end; exit" TERM; '
    script += 'echo "Forwarding from 127.0.0.1:4711 -> 7878"; while :; do sleep 0.01; done'
    with tunnel(Way(tmp_path / "config", "there"), "fair", kubectl(tmp_path, script)) as port:
        assert port == 4711
        assert not (tmp_path / "end").exists()
    assert (tmp_path / "end").exists()
    words = (tmp_path / "words").read_text()
    assert words.startswith("port-forward service/fairhold :7878 --namespace fair --address 127.0.0.1 ")
    assert words.endswith(f"--kubeconfig {tmp_path}/config --context there\n")


def test_a_tunnel_that_is_refused_and_a_kubectl_that_is_not_there(tmp_path: Path) -> None:
    refusing = kubectl(tmp_path, f"echo '{FORBIDDEN}' >&2; exit 1")
    for program, code in ((refusing, "kubernetes-rights"), (str(tmp_path / "none"), "kubectl-missing")):
        with pytest.raises(InputError) as caught, tunnel(Way(), "fair", program):
            pass
        assert caught.value.faults[0].code == code

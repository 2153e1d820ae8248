"""Names that nothing can have, keys that cannot be sent, a standard input that is closed: each is told in a line."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.cli.live.test_live_commands import ME, ROOT, fairhold

if TYPE_CHECKING:
    from tests.client.fake import Fake


@pytest.mark.parametrize("name", ["1/tasks", "../../health", "", "/", ".", ".."])
@pytest.mark.parametrize("command", ["show", "logs", "cancel", "hosts drain", "pause"])
def test_a_name_that_would_be_another_address_is_one_of_nothing(fake: Fake, command: str, name: str) -> None:
    if command == "logs" and "." in name:
        pytest.skip("what is behind the point is to be a task")
    fake.add({"consumer": "/Research", "argv": ["true"]})
    asked = len(fake.asked)
    said = fairhold(*command.split(), name, exits=1 if command == "logs" else 2).stderr
    what = {"hosts drain": "host", "pause": "resource group"}.get(command, "job")
    assert f"{what} `{name}` [unknown-{what.replace(' ', '-')}]" in said
    assert len(fake.asked) == asked


@pytest.mark.parametrize("key", ["a b", "a\nb", "ключ", "x" * 201])
def test_a_key_that_cannot_be_sent_is_refused_before(fake: Fake, key: str) -> None:
    said = fairhold("submit", "/Research", "--key", key, "--", "true", exits=2).stderr
    assert said.startswith("key: a key is 1 to 200 printable ASCII characters without spaces [name]")
    assert not fake.jobs


def closed(*words: str) -> subprocess.CompletedProcess[str]:
    """A command whose caller has closed its standard input."""
    command = ["sh", "-c", 'exec "$@" <&-', "sh", *ME, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def test_a_standard_input_that_is_closed_is_named(fake: Fake) -> None:
    done = closed("submit", "/Research", "--stdin", "-", "--", "cat")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("-: standard input is closed [cannot-read]\n")
    assert not fake.jobs


def test_a_socket_without_a_path_is_no_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRHOLD_SERVICE", "unix:")
    assert fairhold("jobs", exits=2).stderr.startswith("`unix:` is not a service address; write ")

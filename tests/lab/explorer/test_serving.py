"""The page's server: who gets in, what is refused, and that the page needs nothing but what it answers."""

from __future__ import annotations

import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from fairhold.cli.serving_explorer import in_words, serve_explorer
from fairhold.errors import UsageError
from fairhold.lab.explorer.fields import content_document
from fairhold.lab.explorer.page import page
from tests.cli.test_commands import ROOT, fairhold
from tests.lab.explorer.scenes import SCENES

if TYPE_CHECKING:
    from collections.abc import Iterator

uvicorn = pytest.importorskip("uvicorn", reason="the page needs the extra `service`")
from fairhold.lab.explorer.serving import LARGEST, Gate, application  # noqa: E402

TOKEN = "secret"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as door:
        name = f"127.0.0.1:{door.getsockname()[1]}"
        app = Gate(application(SCENES["hybrid"].explorer(), "<Plan>", in_words, TOKEN), frozenset({name}))
        server = uvicorn.Server(uvicorn.Config(app, lifespan="off", ws="none", log_config=None))
        thread = threading.Thread(target=server.run, args=([door],))
        thread.start()
        yield f"http://{name}"
        server.should_exit = True
        thread.join()


def ask(url: str, what: str, body: object = None, **headers: str) -> httpx.Response:
    return httpx.post(f"{url}/{TOKEN}/{what}", json=body, headers=headers, trust_env=False, timeout=60)


def code_of(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["faults"][0]["code"]


def test_changes_are_explored_and_explained(url: str) -> None:
    changes = ["/Research:demand=20"]
    found = ask(url, "explore", {"changes": changes}).json()
    explored = SCENES["hybrid"].explorer().explore(changes)
    assert found == {"differences": explored.differences, "warnings": [], "findings": []}
    told = ask(url, "why", {"changes": changes, "consumer": "/Research"}).json()
    assert "quota 50, holds 85, wants 90" in told["before"]
    assert "quota 20, holds 85, wants 20" in told["after"]
    assert (
        ask(url, "plan", {"changes": ["/Trading:limit=70"]}).json()["policies"][0]["consumers"]["/Trading"]["limit"]
        == 70
    )


def test_a_fault_stands_where_it_belongs(url: str) -> None:
    answer = ask(url, "explore", {"changes": ["/Trading:owned=50"]})
    (fault,) = answer.json()["faults"]
    assert (answer.status_code, fault["code"], fault["change"]) == (422, "children-own-more", "/Trading:owned=50")
    assert fault["place"] == ["policies", 0, "consumers", "/Trading", "owned"]
    assert code_of(ask(url, "why", {"consumer": "/Nobody"})) == (422, "unknown-consumer")


def test_only_its_own_page_with_the_token_gets_in(url: str) -> None:
    name = url.removeprefix("http://")
    for path in ("", "other/", f"{TOKEN}x/", f"{TOKEN}/nothing"):
        assert code_of(httpx.get(f"{url}/{path}", trust_env=False)) == (404, "no-such-page")
    assert code_of(ask(url, "explore", {}, Host="evil.example")) == (403, "foreign-host")
    assert code_of(ask(url, "explore", {}, Host="")) == (403, "foreign-host")
    assert code_of(ask(url, "explore", {}, Origin="http://evil.example")) == (403, "foreign-origin")
    assert code_of(ask(url, "explore", {}, Origin="null")) == (403, "foreign-origin")
    found = ask(url, "explore", {}, Origin=f"http://{name}")
    assert (found.status_code, found.headers["cache-control"]) == (200, "no-store")
    assert found.headers["referrer-policy"] == "no-referrer"


def test_what_cannot_be_read_is_said(url: str) -> None:
    post = f"{url}/{TOKEN}/explore"
    kind = {"Content-Type": "application/json"}
    assert code_of(httpx.post(post, content=b"{", headers=kind, trust_env=False)) == (400, "json-syntax")
    bodies: list[Any] = [{"changes": "all"}, {"more": 1}, [], {"changes": [7]}]
    for body in bodies:
        assert code_of(ask(url, "explore", body)) == (400, "bad-request")
    assert code_of(ask(url, "explore", {"changes": ["/A:b=1"] * 2000})) == (422, "change")
    assert code_of(httpx.post(post, content=b" " * (LARGEST + 1), headers=kind, trust_env=False)) == (413, "too-large")
    pieces = (b" " * 65536 for _ in range(LARGEST // 65536 + 1))
    assert code_of(httpx.post(post, content=pieces, headers=kind, trust_env=False)) == (413, "too-large")


def test_many_at_once_get_each_their_own_answer(url: str) -> None:
    def wanted(units: int) -> int:
        rows = ask(url, "explore", {"changes": [f"/Research:demand={units}"]}).json()["differences"]
        return next(int(row["after"]) for row in rows if row["key"] == "demand" and row["consumer"] == "/Research")

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(wanted, range(10, 26))) == list(range(10, 26))


class Reader(HTMLParser):
    """Ids, and whatever a page would load."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loads += [str(value) for name, value in attrs if name in {"src", "href", "action"}]
        self.ids |= {str(value) for name, value in attrs if name == "id"}


def test_the_page_stands_alone_and_has_what_its_script_asks_for(url: str) -> None:
    answer = httpx.get(f"{url}/{TOKEN}/", trust_env=False)
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.text == page("<Plan>")
    assert "&lt;Plan&gt;" in answer.text
    reader = Reader()
    reader.feed(answer.text)
    script = (files("fairhold.lab.explorer") / "page.js").read_text()
    assert reader.loads == []
    assert set(re.findall(r'\bat\("(\w+)"\)', script)) <= reader.ids
    assert set(re.findall(r'ask\("(\w+)"', script)) == {"content", "explore", "why", "plan"}


@pytest.mark.parametrize("name", SCENES)
def test_what_the_page_shows_is_what_the_plan_says(name: str) -> None:
    explorer = SCENES[name].explorer()
    content = json.loads(json.dumps(content_document(explorer, "T")))
    assert [each["path"] for each in content["consumers"]] == list(explorer.plan.tree.paths[1:])
    assert all("after" in row and "before" not in row for row in content["numbers"])
    for each in content["consumers"]:
        for key, value in each["demand"].items():
            if value:
                assert explorer.explore([f"{each['path']}:{key}={json.dumps(value)}"]).differences == []
        for entry, stated in enumerate(each["stated"]):
            for key, value in stated.items():
                change = f"policies[{entry}]{each['path']}:{key}={json.dumps(value)}"
                assert explorer.explore([change]).differences == [], change


def test_the_script_shows_edits_undoes_and_explains(url: str) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no Node.js to run the page's script")
    script = (files("fairhold.lab.explorer") / "page.js").read_text()
    drive = (Path(__file__).parent / "drive.js").read_text()
    run = subprocess.run(
        [node, "-e", drive],
        input=json.dumps({"base": f"{url}/{TOKEN}/", "script": script}),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert run.returncode == 0, run.stderr
    found: dict[str, Any] = json.loads(run.stdout)
    assert found["rows"] == ["Trading", "Research"]
    assert found["opened"] == ["Trading", "Risk", "FX", "Research"]
    assert found["filtered"] == ["Trading", "FX"]
    assert found["research"] == ["50", "20"]
    assert found["line"] == "--set '/Research:demand=20'"
    assert "quota 20, holds 85, wants 20" in found["after"]
    assert "quota 50, holds 85, wants 90" in found["before"]
    assert [text for text in found["faults"] if "own 60 in total" in text], found["faults"]
    assert found["invalid"] == ["/Trading:owned"]
    assert found["undone"] == ["50", "50"]
    risk = "/Trading/Risk"
    assert found["walk"] == [
        *("/Trading", "/Research", "/Trading", "/Trading", risk, "/Trading/FX", "/Trading", "/Research", "/Trading")
    ]
    assert found["column"] == [f"{risk}:owned", "/Trading:owned"]
    assert found["typed"] == ["/Trading:owned", "5", 1, True], "who types stays where he is when numbers are drawn anew"
    assert found["refused"] == "50", "what was refused can be mended"


def test_it_ends_by_ctrl_c_with_a_word_and_says_where_it_is() -> None:
    command = [sys.executable, "-m", "fairhold", "explore", "examples/tutorial/plan.yaml"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert httpx.get(address, trust_env=False, timeout=60).status_code == 200
        process.send_signal(signal.SIGINT)
        assert process.stdout.read().endswith("ended; nothing was written\n")
        assert process.wait() == 0


def test_a_port_that_is_taken_is_a_clear_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = str(door.getsockname()[1])
        done = fairhold("explore", "examples/tutorial/plan.yaml", "--port", port, exits=1)
    assert "cannot-listen" in done.stderr
    assert "--port" in done.stderr


def test_without_the_extra_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(UsageError, match=r"pip install 'fairhold\[service\]'"):
        serve_explorer(SCENES["hybrid"].explorer(), [], 0)

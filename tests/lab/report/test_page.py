"""The page and the pictures."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest

from fairhold.errors import UsageError
from fairhold.lab.report import plots, report_page, save_plots
from fairhold.lab.report.data import in_rows, resources_of
from tests.lab.report.documents import lends, many, splits

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages without Vega: to put it together takes two seconds."""
    pytest.importorskip("altair", reason="the report needs the extra `sim`")
    monkeypatch.setattr("fairhold.lab.report.page._bundle", lambda: "")


def content_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="content">(.*?)</script>', page, re.DOTALL)
    assert found
    document: dict[str, Any] = json.loads(found[1])
    return document


class Reader(HTMLParser):
    """Tags with what they load, and all text."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loads += [str(value) for name, value in attrs if name in {"src", "href", "action", "data"}]
        if tag not in {"meta", "input", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_stands_alone_and_is_small() -> None:
    pytest.importorskip("altair", reason="the report needs the extra `sim`")
    page = report_page({"now": many()}, "Many")
    assert len(page.encode()) < 2_000_000
    assert page.count("</script>") == 3
    assert "default-src 'none'" in page
    assert "vegaEmbed" in page
    reader = Reader()
    reader.feed(page)
    assert (reader.loads, reader.open) == ([], [])


@pytest.mark.usefixtures("short")
def test_the_same_summaries_give_the_same_bytes() -> None:
    documents = {"now": lends(), "split": splits()}
    again = {name: json.loads(json.dumps(document, sort_keys=True)) for name, document in documents.items()}
    assert report_page(documents, "T") == report_page(again, "T")


@pytest.mark.usefixtures("short")
def test_names_are_text_whatever_is_in_them() -> None:
    text = json.dumps(lends()).replace("/A", "/</script><b>&amp;'")
    page = report_page({'<i>"x"': json.loads(text)}, "<u>")
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    assert not re.search("<[biu]>&|<i>|<u>", page)
    assert "/</script><b>&amp;'" in reader.text


@pytest.mark.usefixtures("short")
def test_every_plot_has_a_place_and_all_data_that_it_needs() -> None:
    page = report_page({"now": many(), "other": many()}, "Many")
    (resource,) = content_of(page)["resources"]
    assert len(resource["charts"]) == 12
    for chart in resource["charts"]:
        assert f'id="{chart["id"]}"' in page
        assert set(chart["needs"]) <= resource["views"][0].keys()
    assert page.count("<option ") == len(resource["views"]) > 1
    assert page.index("fare") < page.index("What differs") < page.index("Consumers that differ")
    assert page.index("Consumers that differ") < page.index("<h3>Consumers</h3>") < page.index("Allocation over time")


DRAWN = """
const content = JSON.parse(require("fs").readFileSync(0, "utf8")), drawn = {};
let change = null;
const select = {dataset: {resource: "0"}, value: "1", addEventListener: (_, call) => { change = call; }};
globalThis.document = {
  getElementById: id => id === "content" ? {textContent: JSON.stringify(content)} : {id},
  querySelectorAll: () => [select],
};
globalThis.vegaEmbed = (element, spec) => { drawn[element.id] = spec.datasets; return {catch: () => 0}; };
%s
const first = {...drawn};
change();
console.log(JSON.stringify([first, drawn]));
"""


@pytest.mark.usefixtures("short")
def test_the_script_gives_the_plots_the_rows_that_pictures_have() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no Node.js to run the page's script")
    documents = {"now": lends(), "split": splits()}
    content = content_of(report_page(documents, "T"))
    script = DRAWN % (files("fairhold.lab.report") / "page.js").read_text()
    run = subprocess.run([node, "-e", script], input=json.dumps(content), capture_output=True, text=True, check=True)
    (resource,) = resources_of(documents)
    for drawn, (view, points) in zip(json.loads(run.stdout), resource.views, strict=True):
        expected = in_rows(resource.data(view, points))
        found = {name: rows for datasets in drawn.values() for name, rows in datasets.items()}
        assert found.keys() == expected.keys()
        assert json.loads(json.dumps(found)) == json.loads(json.dumps(expected))


def test_every_plot_is_drawn_for_several_plans(tmp_path: Path) -> None:
    pytest.importorskip("altair", reason="the report needs the extra `sim`")
    documents = {"now": lends(), "split": splits()}
    files = save_plots(tmp_path, documents, ("svg",))
    assert {path.stem for path in files} == set(plots(documents)) >= {"compute-slots-lending", "compute-slots-waits"}
    assert sorted(tmp_path.iterdir()) == sorted(files)
    for path in files:
        assert path.read_text().count("<path") > 2, path.name


def test_plots_are_saved_as_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("altair", reason="the report needs the extra `sim`")
    charts = plots({"now": lends()})
    name = "compute-slots-allocation"
    monkeypatch.setattr("fairhold.lab.report.saving.plots", lambda _: {name: charts[name]})
    assert save_plots(tmp_path, {"now": lends()}) == [tmp_path / f"{name}.svg", tmp_path / f"{name}.png"]
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_without_the_extra_it_is_said_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("page", "saving", "charts", "frame"):
        monkeypatch.delitem(sys.modules, f"fairhold.lab.report.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "altair", None)
    for ask in (
        lambda: report_page({"now": lends()}, ""),
        lambda: plots({"now": lends()}),
        lambda: save_plots(tmp_path, {"now": lends()}),
    ):
        with pytest.raises(UsageError, match=r"pip install 'fairhold\[sim\]'"):
            ask()

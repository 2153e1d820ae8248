"""Relative links of all pages lead somewhere, headings included; no page names a place of one machine."""

import re
from functools import cache
from pathlib import Path

import pytest

from tests.docs.console import PAGES, ROOT, name_of

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
ALL = sorted({*PAGES, ROOT / "docs/requirements.md"})


@cache
def anchors(page: Path) -> frozenset[str]:
    """Names of the headings of a page, as they are made by common Markdown viewers."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text()), flags=re.MULTILINE)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings)
    return frozenset(re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain)


@pytest.mark.parametrize("page", ALL, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for link in LINK.findall(FENCE.sub("", page.read_text())):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", ALL, ids=name_of)
def test_pages_name_no_place_of_one_machine(page: Path) -> None:
    assert not re.search(r"(?<![\w.])/(?:work|home|root|tmp|usr)/", page.read_text())


def test_every_page_of_the_documentation_is_linked_from_another() -> None:
    linked = {
        (page.parent / link.partition("#")[0]).resolve()
        for page in ALL
        for link in LINK.findall(page.read_text())
        if "://" not in link
    }
    assert [name_of(page) for page in ALL if page.resolve() not in linked and page.name != "README.md"] == []

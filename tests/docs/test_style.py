"""Pages can be read at one go, and whatever looks like a command that is run is run."""

import re
from pathlib import Path

import pytest

from tests.docs.console import PAGES, ROOT, name_of
from tests.docs.test_links import FENCE

LONGEST = 30
"""Words of a sentence."""
FOR_NEWCOMERS = [
    page for page in PAGES if page.parent.name in {"how-to", "adr"} or page.name.startswith(("README", "tutorial"))
]


def sentences_of(text: str) -> list[str]:
    """The sentences of a page, without tables, code and the targets of links."""
    for pattern, by in ((FENCE, ""), (r"(?s)<!--.*?-->", ""), (r"(?m)^\|.*$", ""), (r"\]\([^)]*\)", "]")):
        text = re.sub(pattern, by, text)
    paragraphs = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", text)
    return [sentence for part in paragraphs for sentence in re.split(r"(?<=[.:;!?])\s+", " ".join(part.split()))]


@pytest.mark.parametrize("page", FOR_NEWCOMERS, ids=name_of)
def test_sentences_are_short(page: Path) -> None:
    assert [said for said in sentences_of(page.read_text()) if len(said.split()) > LONGEST] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_of_commands_begin_their_line(page: Path) -> None:
    assert not re.search(r"^[ \t]+```console", page.read_text(), re.MULTILINE)


def test_sentences_are_found_in_paragraphs_and_lists() -> None:
    text = "# A\n\nOne two.\nThree\nfour.\n\n- five [six](x y)\n- seven\n\n| no |\n\n```sh\nno\n```\n"
    assert [said for said in sentences_of(text) if said] == [
        "# A", "One two.", "Three four.", "- five [six]", "- seven"
    ]  # fmt: skip


def test_the_pages_of_the_repository_are_looked_at() -> None:
    assert ROOT / "docs/tutorial-service.md" in FOR_NEWCOMERS

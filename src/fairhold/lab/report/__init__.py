"""The report of a simulation, whether a plan is good and for whom it is not: a page that needs no network; pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairhold.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fairhold.sim.summary import Document

_NEEDS = "the report needs more than the base: pip install 'fairhold[sim]'"
_EXTRA = ("altair", "vl_convert", "narwhals", "jsonschema")


def report_page(documents: Mapping[str, Document], title: str) -> str:
    """An HTML page of one plan, or of several on the same workload beside each other; needs no network.

    documents : name of the plan → summary of its run

    The same summaries give the same bytes. Raises UsageError without the extra `sim`.
    """
    try:
        from fairhold.lab.report.page import page  # noqa: PLC0415 - an extra, and slow to import
    except ModuleNotFoundError as error:
        raise _told(error) from error
    return page(documents, title)


def usage_page(answer: Document, over_time: Document, told: tuple[Any, Any, str, int]) -> str:
    """An HTML page of what a service says was used; see `usage_page.page`. Raises UsageError as `report_page`."""
    try:
        from fairhold.lab.report.usage_page import page as found  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise _told(error) from error
    return found(answer, over_time, told)


def plots(documents: Mapping[str, Document]) -> Mapping[str, Any]:
    """Name → plot as an Altair chart that stands by itself, of the first level. Raises UsageError as `report_page`."""
    try:
        from fairhold.lab.report.saving import plots as found  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise _told(error) from error
    return found(documents)


def save_plots(folder: Path, documents: Mapping[str, Document], forms: tuple[str, ...] = ("svg", "png")) -> list[Path]:
    """Write every plot as a file for each form; returns the files. Raises UsageError as `report_page`."""
    try:
        from fairhold.lab.report.saving import save  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise _told(error) from error
    return save(folder, documents, forms)


def _told(error: ModuleNotFoundError) -> Exception:
    return UsageError(_NEEDS) if error.name in _EXTRA else error

"""How the package gets into a Python environment without a network, and random plans that use it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from tests.properties.strategies import Case, cases

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

PACKAGE = Path(__file__).parents[2] / "examples/policies/lottery"
PROJECT: dict[str, Any] = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]


def installed(site: Path) -> str:
    """What `PYTHONPATH` has to be, once the package is as if it were installed in a folder."""
    of_package = site / f"fairhold_lottery-{PROJECT['version']}.dist-info"
    of_package.mkdir(parents=True)
    (of_package / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {PROJECT['name']}\nVersion: {PROJECT['version']}\n"
    )
    points = [
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in named.items())
        for group, named in PROJECT["entry-points"].items()
    ]
    (of_package / "entry_points.txt").write_text("\n".join(points))
    return f"{site}:{PACKAGE}"


@st.composite
def lotteries(draw: DrawFn, *, requested: bool | None = None, gangs: bool = True) -> Case:
    """A plan of the lottery with a state."""
    case = draw(cases(requested=requested, gangs=gangs))
    (entry,) = case.plan_document["policies"]
    for key in ("distribute_evenly", "disable_reclaim_own"):
        del entry["settings"][key]
    entry["settings"]["seed"] = draw(st.integers(0, 5))
    entry["policy"] = "lottery"
    for stated in entry["consumers"].values():
        stated.pop("reserved", None)
        if draw(st.booleans()):
            stated["tickets"] = draw(st.sampled_from([1, 0, 2, 3, 40]))
    return case

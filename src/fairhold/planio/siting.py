"""Labels of hosts, and what requests and jobs say of hosts: `need`, `prefer`, `avoid`, `place`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairhold.model.siting import MOST_LABELS, PLACES, Siting, is_label
from fairhold.planio.report import listed, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairhold.errors import Place
    from fairhold.planio.report import Report
    from fairhold.planio.values import Value

SITING_KEYS = ("need", "prefer", "avoid", "place")
MEND = "write `name` or `name=value`, each up to 63 letters, digits, `.`, `_`, `-` and `/`"


def read_siting(report: Report, node: Mapping[str, Value], place: Place) -> Siting:
    """What a request or job says of hosts."""
    need, prefer, avoid = (
        tuple(_labels(report, node[key], (*place, key))) if key in node else () for key in SITING_KEYS[:3]
    )
    for label in need:
        if label in avoid:
            what = f"`{shown(label)}` is both needed and avoided"
            report.fault("label", what, "leave it out of one of them", (*place, "avoid"))
    word = ""
    if "place" in node:
        here = (*place, "place")
        word = report.text(node["place"], here, what=f"one of {listed(PLACES)}")
        if isinstance(node["place"], str) and word not in PLACES:
            mend = report.suggest(word, PLACES, f"write one of {listed(PLACES)}")
            report.fault("unknown-word", f"`{shown(word)}` is not a value of `place`", mend, here)
    return Siting(need, prefer, avoid, word)


def read_host_labels(report: Report, value: Value, place: Place) -> tuple[tuple[str, str], ...]:
    """Labels of a host, a mapping of names to values or a list of `name` and `name=value`, in order of the names."""
    given: list[tuple[str, Place]] = []
    if isinstance(value, dict):
        for name, stated in value.items():
            word = report.text(stated, (*place, name), what="the value of a label")
            given.append((f"{name}={word}" if isinstance(stated, str) else name, (*place, name)))
    else:
        for at, item in enumerate(report.sequence(value, place, what="labels")):
            text = report.text(item, (*place, at), what="a label")
            given.extend([(text, (*place, at))] if isinstance(item, str) else [])
    labels: dict[str, str] = {}
    for text, here in given:
        name, _, word = text.partition("=")
        if not is_label(text):
            report.fault("label", f"`{shown(text)}` is not a label", MEND, here)
        elif name in labels:
            report.fault("label", f"the label `{shown(name)}` is given twice", "write it once", here)
        labels[name] = word
    if len(labels) > MOST_LABELS:
        report.fault("label", f"a host has {len(labels)} labels", f"give it {MOST_LABELS} at most", place)
    return tuple(sorted(labels.items()))


def _labels(report: Report, value: Value, place: Place) -> list[str]:
    """Read one label or a list of them, each once."""
    items = [value] if isinstance(value, str) else report.sequence(value, place, what="labels")
    found: list[str] = []
    for at, item in enumerate(items):
        here = place if isinstance(value, str) else (*place, at)
        text = report.text(item, here, what="a label")
        if isinstance(item, str) and not is_label(text):
            report.fault("label", f"`{shown(text)}` is not a label", MEND, here)
        elif text not in found:
            found.append(text)
    if len(found) > MOST_LABELS:
        report.fault("label", f"there are {len(found)} labels", f"name {MOST_LABELS} at most", place)
    return found

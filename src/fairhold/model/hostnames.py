"""Names of hosts folded into ranges, as plans write them: `g[01-20]`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

_NUMBERED = re.compile(r"([^\[\]]*?)([0-9]{1,9})([^0-9\[\]]*)", re.DOTALL)


class _Stem(NamedTuple):
    """What stands before a number and after it, and to how many digits it is padded, 0 = to none."""

    before: str
    after: str
    width: int


def fold(names: Iterable[str]) -> list[str]:
    """Names, those that differ in their last number alone as one with ranges, each where the first of them stands.

    `g01`, `g02`, `g04` become `g[01-02,04]`, from which a plan makes the same names again. A name that stands alone
    stays as it is.
    """
    return [text for text, _ in fold_counted(names)]


def fold_counted(names: Iterable[str]) -> list[tuple[str, int]]:
    """The same, each with how many names it stands for."""
    found: dict[_Stem | str, list[int]] = {}
    for name in dict.fromkeys(names):
        match = _NUMBERED.fullmatch(name)
        if match is None:
            found[name] = []
            continue
        before, digits, after = match.groups()
        padded = _Stem(before, after, len(digits))
        is_padded = padded in found or (len(digits) > 1 and digits.startswith("0"))
        found.setdefault(padded if is_padded else padded._replace(width=0), []).append(int(digits))
    return [
        (stem, 1) if isinstance(stem, str) else (_written(stem, sorted(numbers)), len(numbers))
        for stem, numbers in found.items()
    ]


def _written(stem: _Stem, numbers: list[int]) -> str:
    spans: list[tuple[int, int]] = []
    for each in numbers:
        if spans and each == spans[-1][1] + 1:
            spans[-1] = spans[-1][0], each
        else:
            spans.append((each, each))
    ends = [[f"{end:0{stem.width}d}" for end in dict.fromkeys(span)] for span in spans]
    inside = ",".join(map("-".join, ends))
    return f"{stem.before}{inside if len(numbers) == 1 else f'[{inside}]'}{stem.after}"

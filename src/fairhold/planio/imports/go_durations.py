"""Durations of Go, as Kubernetes writes them: `1h30m`."""

from __future__ import annotations

import re
from fractions import Fraction

_GO = re.compile(r"0|(?:[0-9]{1,15}(?:\.[0-9]{1,15})?(?:ns|us|µs|μs|ms|s|m|h)){1,8}")
_GO_PART = re.compile(r"([0-9]+)(?:\.([0-9]+))?(ns|us|µs|μs|ms|s|m|h)")
_NANOS = {"ns": 1, "us": 1000, "µs": 1000, "μs": 1000, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}


def parse_go_duration(text: str) -> Fraction | None:
    """Microseconds of a duration as Go writes it, from 0 on; None where it is none."""
    if not _GO.fullmatch(text):
        return None
    nanos = Fraction(0)
    for whole, fraction, unit in _GO_PART.findall(text):
        nanos += Fraction(int(whole + fraction), 10 ** len(fraction)) * _NANOS[unit]
    return nanos / 1000

"""The machine that figures were measured on, and two of its limits."""

from __future__ import annotations

import os
import platform
import tempfile
import time
from pathlib import Path
from statistics import median


def describe() -> dict[str, object]:
    """Processor, cores, Python, memory bandwidth of a triad, and what a durable write costs."""
    model = "unknown"
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = lines[0].split(":", 1)[1].strip() if lines else model
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2),
        "triad_gb_s": _triad(),
        "fdatasync_ms": _fdatasync(),
    }


def _triad() -> float | None:
    """GB/s of a = b + 3·c over three arrays of 80 MB."""
    try:
        import numpy as np  # noqa: PLC0415  # comes with the extra `fast`
    except ImportError:
        return None
    b, c = np.ones(10_000_000), np.ones(10_000_000)
    a = np.empty_like(b)
    times = []
    for _ in range(7):
        started = time.perf_counter()
        np.multiply(c, 3.0, out=a)
        np.add(a, b, out=a)
        times.append(time.perf_counter() - started)
    return round(5 * b.nbytes / median(times) / 1e9, 1)


def _fdatasync() -> float:
    """Milliseconds of a 4 KB append that is on disk."""
    with tempfile.NamedTemporaryFile(dir=".") as file:
        times = []
        for _ in range(20):
            started = time.perf_counter()
            os.write(file.fileno(), b"x" * 4096)
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - started)
    return round(median(times) * 1e3, 3)

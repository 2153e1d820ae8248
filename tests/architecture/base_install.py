"""Install the package without extras into a fresh environment and run its commands there.

`python -m tests.architecture.base_install` prints the size and the time, and fails where the install is larger than
60 MB or a command needs an extra. The time depends on the machine and on what it has downloaded before: it only warns.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
LARGEST_MB = 60
LONGEST_S = 15
PLAN, STATE = ROOT / "examples/tutorial/plan.yaml", ROOT / "examples/tutorial/state.yaml"
NOT_OURS = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "wheel")


def main() -> None:
    """Measure, try, say."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = Path(folder) / "bin/python"
        started = time.perf_counter()
        subprocess.run([python, "-m", "pip", "install", "--quiet", ROOT], check=True)
        seconds = time.perf_counter() - started
        site = next(Path(folder).glob("lib/python*/site-packages"))
        size = sum(
            path.stat().st_size
            for path in site.rglob("*")
            if path.is_file() and not path.relative_to(site).parts[0].startswith(NOT_OURS)
        )
        command, result = Path(folder) / "bin/fairhold", Path(folder) / "result.json"
        with result.open("w") as file:
            subprocess.run([command, "cycle", PLAN, STATE, "--json"], check=True, stdout=file)
        for args in (
            ["--version"],
            ["check", PLAN],
            ["quota", PLAN, STATE],
            ["cycle", PLAN, STATE],
            ["explain", PLAN, STATE, "/Trading/Risk"],
            ["verify", PLAN, STATE, result],
            ["diff", PLAN, PLAN.with_name("newplan.yaml"), STATE],
            ["windows", ROOT / "examples/windows/plan.yaml", ROOT / "examples/windows/state.yaml"],
            ["plan", "draw", ROOT / "examples/multidimensional/plan.yaml"],
            ["workload", "show", ROOT / "examples/workloads/jobs.yaml"],
            ["schema", "plan"],
            ["run", PLAN.with_name("laptop.yaml"), PLAN.with_name("jobs.yaml"), "--output", Path(folder) / "out"],
        ):
            subprocess.run([command, *map(str, args)], check=True, stdout=subprocess.DEVNULL)
    sys.stdout.write(f"base install: {size / 1e6:.1f} MB in {seconds:.1f} s; its commands need no extra\n")
    if seconds > LONGEST_S:
        sys.stderr.write(f"warning: the base install took {seconds:.1f} s, more than {LONGEST_S} s\n")
    if size > LARGEST_MB * 1e6:
        raise SystemExit(f"the base install is larger than {LARGEST_MB} MB")


if __name__ == "__main__":
    main()

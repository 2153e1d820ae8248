"""The command tree of `fairhold`."""

from __future__ import annotations

import os
import sys

from fairhold import __version__
from fairhold.errors import FairholdError, UsageError


def main() -> None:
    """Run the command; exit 0 done, 1 an input is at fault, 2 wrong usage, 3 the service is at fault."""
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"fairhold {__version__}\n")
        return
    from fairhold.cli.commands import app  # noqa: PLC0415  # --version does not wait for the rest

    try:
        mode = os.environ.get("FAIRHOLD_JIT", "auto")
        if mode not in ("auto", "on", "off"):
            raise UsageError(f"FAIRHOLD_JIT is `{mode}`; set it to auto, on or off")
        app()
    except FairholdError as error:
        sys.stderr.write(f"{error} [{error.code}]\n" if isinstance(error, UsageError) else f"{error}\n")
        raise SystemExit(error.exit_code) from None
    except BrokenPipeError:
        # Whoever read our output has seen enough; the interpreter must not complain when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None

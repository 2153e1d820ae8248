"""The command `fairhold`: calls what is asked for, and says every error in one style."""

from __future__ import annotations

import errno
import os
import re
import sys
from typing import TYPE_CHECKING

from fairhold import __version__
from fairhold.errors import FairholdError, Fault, UsageError, printable
from fairhold.runtime.outlet import OutputError, open_streams, silence, tell

if TYPE_CHECKING:
    from collections.abc import Callable

    import click
    import typer

_FAILED = 3
_CLOSED_PIPE = 128 + 13
"""As if SIGPIPE had ended it, so that no result that was cut off counts as a good one."""
_INTERRUPTED = 128 + 2
_COMPLETING = "_FAIRHOLD_COMPLETE"
"""The variable by which a shell asks how a line may go on."""
_QUOTED = re.compile(r"'([^']*)'")
_NUMBERS = {
    "is not a valid integer range": "is not a whole number",
    "is not a valid integer": "is not a whole number",
    "is not a valid float range": "is not a number",
    "is not a valid float": "is not a number",
}
"""What Click says of numbers → the words of all faults."""
_NO_VARIABLE = " (env var: 'None')"
"""What Typer says of options that no variable sets."""


def main() -> None:
    """Run `fairhold`, and exit as `_run` says."""
    _run(_commands)


def kubectl() -> None:
    """Run the plugin `kubectl fairhold`, and exit as `_run` says."""
    _run(_plugin)


def _commands() -> typer.Typer:
    from fairhold.cli.commands import app  # noqa: PLC0415 - --version does not wait for the rest

    return app


def _plugin() -> typer.Typer:
    from fairhold.cli.kubectl import plugin  # noqa: PLC0415 - likewise

    return plugin


def _run(app: Callable[[], typer.Typer]) -> None:
    """Run what is called for and exit: 0 done, 1 an input is at fault, 2 wrong usage, 3 the machine's side failed.

    128 + N: ended by signal N; a reader of standard output that goes away counts as SIGPIPE.
    """
    try:
        open_streams()
        status = _call(app)
        sys.stdout.flush()
    except OutputError as error:
        silence(sys.stdout)
        status = _CLOSED_PIPE if error.is_closed else _FAILED
        if not error.is_closed:
            tell(str(Fault("cannot-write", f"cannot write it: {error.why}", file="standard output")))
    except KeyboardInterrupt:  # also one that comes while the rest is read
        status = _INTERRUPTED
    raise SystemExit(status)


def _call(app: Callable[[], typer.Typer]) -> int:
    """Call the command; returns the exit status. Raises OutputError."""
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"fairhold {__version__}\n")
        return 0
    import click  # noqa: PLC0415 - --version does not wait for the rest

    if _COMPLETING in os.environ:
        _complete_plainly()
    try:
        mode = os.environ.get("FAIRHOLD_JIT", "auto")
        if mode not in ("auto", "on", "off"):
            raise UsageError(f"FAIRHOLD_JIT is `{mode}`; set it to auto, on or off")
        status = app()(standalone_mode=False)
    except SystemExit as end:
        status = end.code
    except FairholdError as error:
        tell(f"{error} [{error.code}]" if isinstance(error, UsageError) else str(error))
        status = error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        status = error.exit_code
    except click.ClickException as error:
        tell(str(_usage(error)))
        status = error.exit_code
    except click.Abort:
        status = _INTERRUPTED
    except OutputError:
        raise
    except OSError as error:  # of a directory or file of the machine that is in nobody's hands but the user's
        tell(str(_unusable(error)))
        status = _FAILED
    except UnicodeEncodeError as error:
        tell(
            str(Fault("not-text", f"`{printable(str(error.object))}` is not Unicode text", "use names that are UTF-8"))
        )
        status = UsageError.exit_code
    return status if isinstance(status, int) else 0


def _complete_plainly() -> None:
    """Let help be told to a shell as it is: to look for markup, of which there is none, Typer imports all of Rich."""
    from typer import _completion_classes  # noqa: PLC0415 - --version does not wait for it

    _completion_classes._sanitize_help_text = lambda text: text  # noqa: SLF001 - there is no other way to say so


def _unusable(error: OSError) -> Fault:
    """A file that cannot be used; without a name it is the directory that we are in."""
    why = error.strerror or str(error)
    if error.errno in {errno.EMFILE, errno.ENFILE}:
        return Fault("cannot-use", f"no more files can be opened: {why}", "allow more, as with `ulimit -n 4096`")
    if error.filename is None:
        return Fault("cannot-use", f"{why}: perhaps the working directory was removed", "change into another one")
    return Fault("cannot-use", f"it cannot be used: {why}", "name another one", file=os.fsdecode(error.filename))


def _usage(error: click.ClickException) -> Fault:
    """What Click says of a wrong call, in the words of all faults."""
    message = error.format_message().replace(_NO_VARIABLE, "").rstrip(".")
    what = _QUOTED.sub(r"`\1`", message[:1].lower() + message[1:])
    for theirs, ours in _NUMBERS.items():
        what = what.replace(theirs, ours)
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "fairhold"
    return Fault(UsageError.code, what, f"`{command} --help` shows its usage")

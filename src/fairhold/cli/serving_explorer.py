"""`explore` without changes: its page, served on this machine until Ctrl-C."""

from __future__ import annotations

import secrets
import socket
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from fairhold.cli.explaining import explanations_in_words
from fairhold.cli.files import print_text
from fairhold.errors import Fault, InputError, UsageError, printable
from fairhold.runtime.outlet import warn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairhold.lab.explorer import Explored, Explorer

HOST = "127.0.0.1"
_NEEDS = "the page needs more than the base: pip install 'fairhold[service]'; `--set` needs nothing"
_EXTRA = ("fastapi", "pydantic", "pydantic_core", "starlette", "uvicorn", "anyio", "h11")


def serve_explorer(explorer: Explorer, inputs: Sequence[Path], port: int) -> None:
    """Serve until Ctrl-C.

    inputs : the files, for the title
    port   : 0 = any free one

    Raises UsageError without the extra `service`, InputError where the port is taken.
    """
    try:
        import uvicorn  # noqa: PLC0415 - an extra

        from fairhold.lab.explorer.serving import Gate, application  # noqa: PLC0415 - likewise
    except ModuleNotFoundError as error:
        if error.name and error.name.partition(".")[0] in _EXTRA:
            raise UsageError(_NEEDS) from None
        raise
    for warning in explorer.warnings:
        warn(str(warning))
    with _listening(port) as door:
        port, token = door.getsockname()[1], secrets.token_urlsafe(24)
        title = "Explore " + ", ".join(printable(path.name) for path in inputs)
        app = Gate(application(explorer, title, in_words, token), frozenset({f"{HOST}:{port}", f"localhost:{port}"}))
        print_text(f"http://{HOST}:{port}/{token}/\nCtrl-C ends it; the page opens only at this address")
        sys.stdout.flush()
        server = uvicorn.Server(uvicorn.Config(app, lifespan="off", ws="none", log_config=None, access_log=False))
        with suppress(KeyboardInterrupt):
            server.run([door])
    print_text("ended; nothing was written")


def in_words(explorer: Explorer, path: str, explored: Explored | None) -> str:
    """Why a consumer's numbers are what they are."""
    return explanations_in_words(explorer.why(path, explored)) or f"{path} takes no part in any resource group"


def _listening(port: int) -> socket.socket:
    door = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind((HOST, port))
        door.listen()
    except OSError as error:
        door.close()
        what = f"cannot listen at {HOST}:{port}: {error.strerror or error}"
        raise InputError([Fault("cannot-listen", what, "choose another with --port, or leave --port out")]) from error
    return door

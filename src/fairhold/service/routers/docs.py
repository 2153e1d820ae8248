"""The addresses of the service as a page for people; it loads nothing from elsewhere."""

from html import escape

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from fairhold.service.allowing import allows

router = APIRouter(include_in_schema=False)
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>body{{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}}
code{{background:#8882;padding:0 .3em}}td{{padding:.2em .8em .2em 0;vertical-align:top}}</style></head>
<body><h1>{title} {version}</h1><p>{about}</p>
<p>The whole contract: <a href="openapi.json">openapi.json</a>.</p><table>{rows}</table></body></html>
"""


@router.get("/docs", response_class=HTMLResponse, openapi_extra=allows())
async def docs(request: Request) -> HTMLResponse:
    """Every address with a line about it."""
    document = request.app.openapi()
    rows = "".join(
        f"<tr><td>{method.upper()}</td><td><code>{escape(path)}</code></td><td>{_line(operation)}</td></tr>"
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    )
    about = document["info"]
    return HTMLResponse(
        _PAGE.format(title=about["title"], version=about["version"], about=escape(about["description"]), rows=rows)
    )


def _line(operation: dict[str, str]) -> str:
    return escape(operation.get("description", "").partition("\n")[0])

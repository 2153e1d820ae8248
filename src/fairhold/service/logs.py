"""Log lines as JSON, one object a line, on standard error."""

from __future__ import annotations

import json
import logging
import sys

from fairhold.units import format_instant

_EXTRA = ("status", "seconds")


class JsonLines(logging.Formatter):
    """Instant, level, logger, text, and the traceback where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        line = {
            "at": format_instant(int(record.created * 1_000_000)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "text": record.getMessage(),
        }
        line |= {name: getattr(record, name) for name in _EXTRA if hasattr(record, name)}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def configure(level: str = "INFO") -> None:
    """Let everything that is logged come out as JSON lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in ("uvicorn", "asyncio", "httpx", "httpcore"):  # addresses that are asked may be secrets
        logging.getLogger(name).setLevel("WARNING")
    logging.captureWarnings(capture=True)

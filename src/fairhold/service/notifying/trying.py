"""How a try to send a message fails."""

from __future__ import annotations


class NotSentError(Exception):
    """A message could not be sent; final: it makes no sense to try again. Its words go into the log."""

    def __init__(self, why: str, *, is_final: bool = False) -> None:
        super().__init__(why)
        self.is_final = is_final

"""Why a store cannot do what was asked."""

from __future__ import annotations

from typing import Self

from fairhold.errors import FairholdError


class StoreError(FairholdError):
    """The store cannot do what was asked; nothing of it was applied.

    code : stable name of what is wrong, such as `store-failed`; what : the message without it
    """

    def __init__(self, message: str, code: str = "store-failed") -> None:
        self.code, self.what = code, message
        super().__init__(f"{message} [{code}]")


class StoreWaits(StoreError):  # noqa: N818 - a word for an ordinary thing
    """Nothing can be written at present; the next transaction may succeed.

    is_kept : what somebody asked for was decided and is kept in memory, to be written down when that is possible; it is
              lost where the service ends before. Else it was refused
    """

    CODE = "store-failed"

    def __init__(self, message: str, *, is_kept: bool = False) -> None:
        self.is_kept = is_kept
        super().__init__(message, self.CODE)

    def kept(self) -> Self:
        """The same, for who asked for something that was decided and is kept in memory."""
        return type(self)(self.what, is_kept=True)


class StoreFull(StoreWaits):
    """There is no room for a transaction: nothing of it was applied."""

    CODE = "store-full"


class StoreGone(StoreWaits):
    """The store is not to be had. Where a transaction was being written, the next one says what became of it."""

    CODE = "store-gone"

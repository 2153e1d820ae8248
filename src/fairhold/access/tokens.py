"""The text of a token: whose cluster it is of, which one it is, and its secret."""

from __future__ import annotations

import hashlib
import re
from hmac import compare_digest
from typing import NamedTuple

PREFIX = "fht"
_FORM = re.compile(r"fht_([0-9a-f]{8})_([0-9]{1,12})_([A-Za-z0-9_-]{43})")
SECRET_BYTES = 32


class Token(NamedTuple):
    """A token in its parts.

    cluster : mark of the cluster that made it
    number  : which one of that cluster
    secret  : known to its owner alone; of 256 random bits, so that one plain hash of it tells nothing
    """

    cluster: str
    number: int
    secret: str

    def text(self) -> str:
        """As its owner is given it."""
        return f"{PREFIX}_{self.cluster}_{self.number}_{self.secret}"

    def digest(self) -> str:
        """What is kept of it."""
        return hashlib.sha256(self.text().encode()).hexdigest()

    def is_of(self, digest: str) -> bool:
        """Whether it is the token of which this was kept; takes as long whatever the answer is."""
        return compare_digest(self.digest(), digest)


def is_of_people(text: str) -> bool:
    """Whether a text means to be a token of a person, and not the single one of a service."""
    return text.startswith(f"{PREFIX}_")


def parse_token(text: str) -> Token | None:
    """The parts of a token; None where the text is none."""
    match = _FORM.fullmatch(text)
    return Token(match[1], int(match[2]), match[3]) if match else None

"""What is wrong with the rows of a trace: counted by kind, the first few shown with their lines."""

from __future__ import annotations

from dataclasses import dataclass, field

from fairhold.errors import Fault, InputError
from fairhold.planio.report import shown

SHOWN = 3
"""How many rows of one kind are shown."""

MISSING, NUMBER, INSTANT, DURATION = "trace-missing", "trace-number", "trace-instant", "trace-duration"
NEGATIVE, ABSURD, FLAG, FIELDS = "trace-negative", "trace-absurd", "trace-flag", "trace-fields"
ORDER, TWICE, CONSUMER, GANG = "trace-order", "trace-twice", "trace-consumer", "trace-gang"
HEADER, CUT_SHORT, SYNTAX, EXTRA = "trace-header", "trace-cut-short", "trace-syntax", "extra-missing"
PATTERN = "trace-pattern"

CODES = {
    MISSING: "a value that a job needs is empty",
    NUMBER: "a value is not a number",
    INSTANT: "a value is not an instant",
    DURATION: "a value is not a duration",
    NEGATIVE: "a number is below 0",
    ABSURD: "a number is not plausible",
    FLAG: "a value is neither true nor false",
    FIELDS: "a row has more or fewer values than there are columns",
    ORDER: "a job was submitted before the one above it, where the format promises order",
    TWICE: "two jobs have the same name",
    CONSUMER: "no rule matches",
    GANG: "more tasks must start together than there are",
    HEADER: "needed columns are missing, or a column appears twice",
    CUT_SHORT: "a compressed file is incomplete or damaged",
    SYNTAX: "a row cannot be read",
    PATTERN: "a regular expression cannot be read",
    EXTRA: "a kind of file needs packages that are not installed",
}
"""Code → what it says; `docs/reference/workload.md` explains each."""
_KEPT = frozenset((ORDER,))
"""Those whose rows are used all the same."""


@dataclass
class Kind:
    """Rows at fault in one way.

    first : (row, value) of the first few
    """

    what: str
    count: int = 0
    first: list[tuple[int, str]] = field(default_factory=list)


class Findings:
    """Everything that was found in the rows of a file.

    name   : the file, as faults show it
    word   : what its rows are called: line, row or item
    rows   : how many there were
    disordered : rows whose job was submitted before the one above; first_disordered: the lines of the first few
    passed : why rows are not jobs, which is no fault → how many
    is_fatal : whether nothing is used where rows are at fault; else they are left out, and faults say so
    """

    def __init__(self, name: str, word: str = "line") -> None:
        self.name = name
        self.word = word
        self.rows = 0
        self.disordered = 0
        self.first_disordered: list[int] = []
        self.passed: dict[str, int] = {}
        self.is_fatal = True
        self.kinds: dict[tuple[str, str], Kind] = {}

    def add(self, code: str, what: str, line: int, value: str = "") -> None:
        """Count one row.

        what : what is wrong, the same for all rows of the kind, as "`duration` is negative"
        """
        kind = self.kinds.setdefault((code, what), Kind(what))
        kind.count += 1
        if len(kind.first) < SHOWN:
            kind.first.append((line, value))

    def put_in_order(self, line: int) -> None:
        """Count a row whose job was submitted before the one above."""
        self.disordered += 1
        if len(self.first_disordered) < SHOWN:
            self.first_disordered.append(line)

    def passed_over(self, why: str, count: int) -> None:
        """Count rows that are not jobs."""
        if count:
            self.passed[why] = self.passed.get(why, 0) + count

    def faults(self) -> tuple[Fault, ...]:
        """One fault for every kind, by the line of the first row."""
        found = [self._fault(code, kind) for (code, _), kind in self.kinds.items()]
        return tuple(sorted(found, key=lambda fault: (fault.line, fault.code, fault.what)))

    def _fault(self, code: str, kind: Kind) -> Fault:
        rows = ", ".join(f"{line} (`{shown(value)}`)" if value else str(line) for line, value in kind.first)
        word = self.word if kind.count == 1 else f"{self.word}s"
        more = ", …" if kind.count > len(kind.first) else ""
        what = f"{kind.what} in {kind.count:,} {word}: {rows}{more}"
        mend = (
            "write `faults: skip` to leave them out, or correct them"
            if self.is_fatal
            else "left out; correct them to use them"
        )
        if code in _KEPT:
            mend = "write `faults: skip` to have them sorted, or correct them" if self.is_fatal else "sorted"
        elif code == CONSUMER:
            mend = "add a rule under `consumers:`, or `- {else: /PATH}` for all that is left"
            mend = mend if self.is_fatal else f"left out; {mend}"
        return Fault(code, what, mend, file=self.name, line=kind.first[0][0] if self.word == "line" else 0)

    def settle(self, *, is_fatal: bool) -> None:
        """Raise InputError where something was found and nothing may be left out."""
        self.is_fatal = is_fatal
        if is_fatal and self.kinds:
            raise InputError(self.faults())


def refuse(code: str, name: str, what: str, mend: str, line: int = 0) -> InputError:
    """The error of a file that cannot be used at all."""
    return InputError([Fault(code, what, mend, file=name, line=line)])

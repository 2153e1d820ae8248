"""Findings of the check."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One place where a result breaks a rule.

    rule     : id of the rule, like `R-QUOTA-2`
    where    : resource group and path, or the row of the result
    said     : what the result says
    expected : what the rule gives
    text     : one sentence
    """

    rule: str
    where: str
    said: object
    expected: object
    text: str

    def __str__(self) -> str:
        return f"{self.rule} {self.where}: {self.text} (said {self.said}, expected {self.expected})"

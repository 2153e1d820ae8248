"""The rules, one family a file: pure functions on a snapshot and the draft of its decision.

Each fills columns of the draft that later rules read, and nothing else. Rule ids are those of `docs/rules.md`.
"""

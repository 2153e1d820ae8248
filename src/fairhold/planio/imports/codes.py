"""What a fault or a note of an import can be called; `docs/reference/import.md` explains each."""

from __future__ import annotations

FAULTS = {
    "import-no-object": "a value is not a Kubernetes object",
    "import-kind": "an object has a version or a kind that is not known",
    "import-other-system": "an object belongs to another system",
    "import-nothing": "there is nothing to make a plan of",
    "import-twice": "something stands twice that can be there once",
    "import-no-parent": "a parent is not in the files",
    "import-loop": "an object is its own ancestor",
    "import-too-deep": "a tree has too many levels",
    "import-same-path": "two objects would be the same consumer",
    "import-quantity": "a quantity of Kubernetes cannot be read",
}
"""Code of a fault → what it says; nothing is written."""
NOTES = {
    "not-carried": "a field has no place in the plan",
    "carried-otherwise": "a field is in the plan, in another way than it stood",
    "left-out": "a field is left out, and the other system has a default that is not that of a plan",
    "rounded": "an amount is rounded down",
    "capacity-assumed": "the files do not say what the cluster has",
}
"""Code of a note → what it says; the plan is written all the same."""

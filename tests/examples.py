"""How many examples the dear random tests look at."""

from hypothesis import settings

FEWER = settings(max_examples=max(10, settings().max_examples // 3))
"""A third of what the others do."""
FEW = settings(max_examples=max(12, settings().max_examples // 20), derandomize=settings().max_examples <= 100)
"""For those that ask a whole service; always the same but in a storm."""

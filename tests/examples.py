"""How many examples the dear random tests look at."""

from hypothesis import settings

FEWER = settings(max_examples=max(10, settings().max_examples // 3))
"""A third of what the others do."""

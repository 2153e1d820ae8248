"""Cycles of `multidimensional`: books from a plan and a state, both sweeps, and what they decided as a document."""

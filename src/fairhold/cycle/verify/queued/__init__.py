"""A second computation of `fair_share`, by path and in fractions; it shares nothing with the first (ADR 0006)."""

"""The simulator: drives the same transitions and the same cycle with a simulated clock."""

"""Puts simulations together: a scenario becomes scenes, runs become results, results are compared."""

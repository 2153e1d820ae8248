"""Puts simulations together: a scenario becomes experiments, runs become results, results are compared."""

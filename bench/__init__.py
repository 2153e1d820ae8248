"""Benchmarks: medians and ratios of one run, kept in `bench/results/` with the machine beside them."""

"""The rules of `multidimensional`: parcels and pools, the two sweeps, reclaim, and who owns which hosts (SPEC §6)."""

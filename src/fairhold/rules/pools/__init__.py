"""The rules of `multidimensional`: parcels and pools, the two sweeps, reclaim, ownership of hosts (SPEC §6)."""

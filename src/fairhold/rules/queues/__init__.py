"""The rules of `fair_share`: deserved quota, surplus by priority and weight, serving order, reclaim (SPEC §7)."""

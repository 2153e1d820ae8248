"""The policy `fair_share`: queues deserve amounts, and the rest is divided fairly."""

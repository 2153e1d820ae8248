"""One cycle of policy entries whose consumers are queues: `fair_share` (SPEC §7)."""

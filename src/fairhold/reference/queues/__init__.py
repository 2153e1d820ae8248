"""A cycle of queues (`fair_share`): who is entitled to what, who is served, who takes from whom."""

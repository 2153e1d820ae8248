"""Why queues have their fair shares, and why a request of one waits: told when asked for, as data (`fair_share`)."""

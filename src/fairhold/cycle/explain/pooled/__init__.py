"""Why pools are used as they are, who owns what, and why a request for vectors waits: told when asked for, as data."""

"""What `explain` says would help: each such statement is checked against the files themselves."""

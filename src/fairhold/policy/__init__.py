"""What an administrator chooses: each policy is a short tuple of rules."""

"""The policy `hybrid`: owned and shared slots together."""

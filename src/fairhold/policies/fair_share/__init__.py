"""Queues deserve amounts, and what is left is divided fairly."""

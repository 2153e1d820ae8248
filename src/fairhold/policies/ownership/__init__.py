"""Everybody owns exactly."""

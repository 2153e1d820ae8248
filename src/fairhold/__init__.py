"""Fairhold shares a cluster between the parts of an organisation by a plan."""

__version__ = "0.1.0"

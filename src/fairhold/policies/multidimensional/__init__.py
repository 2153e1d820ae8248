"""Hosts and parts of them are owned and shared in pools."""

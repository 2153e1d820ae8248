"""The policy `share_ratio`: all slots are shared by ratio."""

"""The policies that an administrator can choose, one folder each, and their registry."""

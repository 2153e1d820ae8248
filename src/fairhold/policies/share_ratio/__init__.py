"""All is shared by ratio."""

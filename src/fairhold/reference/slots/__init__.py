"""The cycle of slots: what is granted, taken back and withdrawn."""

"""The scheduler without I/O: events in, instructions out; it reads no clock and uses no processes or files."""

"""The machine without I/O: an event comes in, instructions go out; no clock, no process, no file."""

"""The machine with its I/O: a real clock, the loop, what people and files are told of a run."""

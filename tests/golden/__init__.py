"""Digests of whole logs of all policies: who rebuilds something sees at once whether any decision is another.

`python -m tests.golden` makes the digests anew. `python -m tests.golden FOLDER` writes the whole logs there, to compare
two versions line by line. `make bench` tells how fast each story is.
"""

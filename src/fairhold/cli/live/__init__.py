"""The command line of the live service: words for people over its HTTP interface.

`*_commands` declare commands and their arguments; the modules that they call do the work, and are imported then.
"""

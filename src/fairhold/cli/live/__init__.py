"""The command line of the live service: words for people over its HTTP interface.

`*_commands` declare commands and their arguments; what they do stands in the modules that they call, imported then.
"""

"""The command line: words for people. A module is imported when its command is called, so that commands start fast."""

"""`python -m fairhold` is the command `fairhold`."""

from fairhold.cli.main import main

main()

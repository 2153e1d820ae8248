"""Starts the agent, as a module or as a file of its own (`python -I -S …/fairhold/agent/__main__.py`)."""

import os
import sys

if not __package__:
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))  # noqa: PTH100, PTH120

from fairhold.agent.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

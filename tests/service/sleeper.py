"""A process that never answers, for tests."""

import time

if __name__ == "__main__":
    time.sleep(600)

"""One cycle, and what is known about it: the run, its truths, its explanation, its independent check."""

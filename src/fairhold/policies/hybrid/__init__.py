"""What is owned, and what is shared beside it."""

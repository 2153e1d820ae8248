"""The books: who wants, holds and is about to give back what; plain transitions; one cycle's frozen snapshot."""

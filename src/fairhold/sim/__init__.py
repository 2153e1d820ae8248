"""The second driver of the same transitions and the same cycle: an invented clock over columns of demand."""

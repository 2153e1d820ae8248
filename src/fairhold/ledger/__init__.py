"""The books: demand, allocations and reclaim notices of consumers; their transitions; one cycle's frozen snapshot."""

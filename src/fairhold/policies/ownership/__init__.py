"""The policy `ownership`: each consumer owns an exact number of slots."""

"""Which points are asked."""

"""Values and helpers that all parts share."""

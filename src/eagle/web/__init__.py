"""The page: explanations in a browser."""

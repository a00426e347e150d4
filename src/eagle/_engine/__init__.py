"""Plan, query, fit: methods are checked, plans are made and shared, and rows are asked."""

"""Plan, query, fit: a method is composed and checked, plans are made and shared, rows are asked."""

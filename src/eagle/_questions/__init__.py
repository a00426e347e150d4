"""What is asked of many results: statements about a table, and their totals."""

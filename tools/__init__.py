"""What builds the documentation. It is not installed."""

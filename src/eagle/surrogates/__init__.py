"""What is fitted to the answers."""

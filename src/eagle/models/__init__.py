"""Anything that predicts, as a function that is asked tables and gives numbers."""

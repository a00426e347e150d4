"""Benches: `python -m evaluation bench NAME` runs one."""

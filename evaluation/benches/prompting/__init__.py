"""The parts of `python -m evaluation bench prompts`."""

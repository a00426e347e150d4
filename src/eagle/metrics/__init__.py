"""Figures about explanations: pure functions, each beside what chance would give."""

"""The paper's evaluation: problems, experiments, their records, reports, and benches.

It is run from a clone of the project, `python -m evaluation`, and is no part of the library.
"""

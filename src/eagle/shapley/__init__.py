"""Shapley values of every row of a table, with intervals, from one shared set of answers."""

"""Data sets with black boxes trained on them, ready to be explained.

problem = evaluation.problems.PROBLEMS["compas"]()
explanation = problem.explainer().explain(problem.instance(0))
"""

from evaluation.problems.problem import Problem
from evaluation.problems.registry import PROBLEMS

__all__ = ["PROBLEMS", "Problem"]

"""Data sets with black boxes trained on them, ready to be explained.

problem = eagle.bench.PROBLEMS["compas"]()
explanation = problem.explainer().explain(problem.instance(0))
"""

from eagle.bench.problem import Problem
from eagle.bench.problems import PROBLEMS

__all__ = ["PROBLEMS", "Problem"]

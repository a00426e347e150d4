"""Figures about explanations: pure functions of arrays, so that records are enough.

`stability`, `entropy` and `ranking` ask whether runs agree with one another, `truth` whether they
agree with what they converge to, `faith` whether the model does what they say, and `sampling` what
the points could teach. No array knows whether its scores have signs: what counts signs must only be
given scores that do.
"""

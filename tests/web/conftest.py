"""What tests of the page need."""

from __future__ import annotations

from importlib.util import find_spec

# `make test` has no server, and leaves out all tests here. This file's cases are made of what the
# server reads, so it cannot even be collected there; all others fail where a server should be.
collect_ignore = [] if find_spec("starlette") else ["test_fuzz.py"]

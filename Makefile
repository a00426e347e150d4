# Two commands on a fresh machine: `make demo` and `make test`. Each sets up what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DOCS := .venv-docs
JOBS ?= 2

.PHONY: demo page test test-all fuzz bench results docs docs-serve licences clean

demo: $(VENV)/.demo
	@$(BIN)/eagle demo

# The page, on the demo's model: it prints the link, and opens it.
page: $(VENV)/.page
	@$(BIN)/eagle serve --open

test: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n 2

# What the one above leaves out: slow tests, torch, boosters, real servers, Ray, a browser, other
# processor kernels, oldest versions, other Pythons.
test-all: $(VENV)/.dev
	$(BIN)/python tests/everywhere.py

# Ten times as many hostile cases as the tests have: of calls, and of damaged files.
fuzz: $(VENV)/.dev
	EAGLE_FUZZ=20000 $(BIN)/python -m pytest -n 2 tests/law/test_fuzz.py tests/law/test_damaged.py

bench: $(VENV)/.dev
	@$(BIN)/python -m pip install --quiet --editable '.[bench]'
	$(BIN)/python -m evaluation bench speed
	$(BIN)/python -m evaluation bench methods

# The paper's tables and figures: the trials that have no record yet, then docs/results. Data sets are
# read from the folder EAGLE_DATA; a sentence says which file is missing.
results: $(VENV)/.dev
	@$(BIN)/python -m pip install --quiet --editable '.[bench]'
	$(BIN)/python -m evaluation run --profile quick --jobs $(JOBS)
	$(BIN)/python -m evaluation report --profile quick

# docs/licences.md, from what is installed.
licences: $(VENV)/.dev
	@$(BIN)/python tools/licences.py

# The documentation in build/site; its code is run, and a warning or a lost link is an error.
docs: $(DOCS)/.docs
	$(DOCS)/bin/python -m tools.site build

docs-serve: $(DOCS)/.docs
	$(DOCS)/bin/python -m tools.site serve

$(DOCS)/.docs: pyproject.toml
	@echo "Setting up $(DOCS): once, and it takes a minute or two"
	@$(PYTHON) -m venv $(DOCS)
	@$(DOCS)/bin/python -m pip install --quiet --upgrade pip
	@$(DOCS)/bin/python -m pip install --quiet --editable '.[docs]'
	@touch $@

$(BIN)/python:
	@echo "Setting up $(VENV): once, and it takes a minute or two"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	@echo "Installing eagle-xai with what its command needs"
	@$(BIN)/python -m pip install --quiet --editable '.[cli]'
	@touch $@

$(VENV)/.page: pyproject.toml | $(BIN)/python
	@echo "Installing eagle-xai with what its page needs"
	@$(BIN)/python -m pip install --quiet --editable '.[cli,web]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	@echo "Installing eagle-xai with what its tests need"
	@$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@ $(VENV)/.demo

clean:
	rm -rf $(VENV) .venv-oldest .venv-native .venv-servers .venv-ray .venv-web .venv-language $(DOCS)
	rm -rf .venv-3.*
	rm -rf build dist
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

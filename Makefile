PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export OMP_NUM_THREADS ?= 1
export SCIPY_ARRAY_API = 1

# The suite, with a plugin that remembers what has passed (tests/remaining.py).
SUITE := PYTHONPATH=tests $(BIN)/python -m pytest -p remaining -m "not stress" -n 2

.PHONY: demo test remaining lint bench stress docs oldest dist clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# A stamp per extra: installed again when pyproject.toml changes.
$(VENV)/.installed-%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[$*]'
	touch $@

demo: $(VENV)/.installed-plot
	$(BIN)/fourierwalk demo

# With COVERAGE=1 nearly twice as slow, and .pytest_cache/coverage then holds the lines of the core that ran.
test: lint
	$(SUITE) $(if $(COVERAGE),--cov --cov-report= --cov-fail-under=0)

# What the last run could not, once more is installed, and the share of the core's lines that both have run.
remaining: $(VENV)/.installed-test
	$(SUITE) --remaining --cov --cov-append

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.installed-test
	env -u OMP_NUM_THREADS $(BIN)/fourierwalk bench

stress: $(VENV)/.installed-test
	$(BIN)/python -m pytest -m stress

# All examples run, some minutes; GALLERY is a regular expression of those to run instead. The pages work from the folder docs/_build.
docs: $(VENV)/.installed-docs
	FOURIERWALK_GALLERY='$(GALLERY)' $(BIN)/python -m sphinx -W -b html docs docs/_build
	$(BIN)/python docs/links.py docs/_build
	PYTHONPATH=tests $(BIN)/python docs/widths.py docs/_build

# The suite on the oldest versions that pyproject.toml allows. Warnings are no errors there: old and new packages meet.
oldest:
	$(PYTHON) -m venv .venv-oldest
	$(PYTHON) tests/oldest.py > .venv-oldest/constraints.txt
	.venv-oldest/bin/python -m pip install --quiet --constraint .venv-oldest/constraints.txt --editable '.[test]'
	PYTHONPATH=tests .venv-oldest/bin/python -m pytest -m "not stress" -n 2 -W default

# Source archive and wheel, then the wheel alone in an empty environment (docs/releasing.md).
dist: $(BIN)/python
	rm -rf dist .venv-dist
	$(BIN)/python -m pip install --quiet build
	$(BIN)/python -m build
	$(PYTHON) -m venv .venv-dist
	.venv-dist/bin/python -m pip install --quiet "$$(ls dist/*.whl)[plot]"
	cd .venv-dist && bin/fourierwalk doctor && bin/fourierwalk demo

clean:
	rm -rf $(VENV) .venv-oldest .venv-dist dist demo docs/_build docs/generated docs/auto_examples .pytest_cache

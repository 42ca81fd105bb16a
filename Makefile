PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export OMP_NUM_THREADS ?= 1
export SCIPY_ARRAY_API = 1

# The suite, with a plugin that remembers what has passed (tests/remaining.py).
SUITE := PYTHONPATH=tests $(BIN)/python -m pytest -p remaining -m "not stress" -n 2

.PHONY: demo test remaining lint bench stress docs clean

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

docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -W -b html docs docs/_build

clean:
	rm -rf $(VENV) demo docs/_build .pytest_cache

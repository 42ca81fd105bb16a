PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export OMP_NUM_THREADS ?= 1
export SCIPY_ARRAY_API = 1

.PHONY: demo test lint bench stress docs clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# A stamp per extra: installed again when pyproject.toml changes.
$(VENV)/.installed-%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[$*]'
	touch $@

demo: $(VENV)/.installed-plot
	$(BIN)/fourierwalk demo

test: lint
	$(BIN)/python -m pytest -m "not stress" -n 2

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
	rm -rf $(VENV) demo docs/_build

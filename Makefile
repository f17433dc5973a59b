# Two commands do everything: `make demo` and `make test`. Both set up .venv on their own.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo test check bench clean

help:
	@echo "make demo   set up, then use the example tool as a person and as an agent"
	@echo "make test   set up, then ruff, mypy --strict and all tests"
	@echo "make check  ruff and mypy only"
	@echo "make bench  what enabling murli costs at start-up, in instructions"
	@echo "make clean  remove what the other targets made"

$(VENV)/pyvenv.cfg:
	$(PYTHON) -m venv $(VENV)

# Stamps, so that the second time is quick.
$(VENV)/.ready: $(VENV)/pyvenv.cfg pyproject.toml examples/riffle/pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e . -e examples/riffle
	@touch $@

$(VENV)/.ready-to-test: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: $(VENV)/.ready
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/riffle/demo.sh

check: $(VENV)/.ready-to-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: check
	$(BIN)/python -m pytest -q -n 2

bench: $(VENV)/.ready-to-test
	$(BIN)/python -m benchmarks.startup

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis dist

# Two commands do everything: `make demo` and `make test`. Both set up .venv on their own.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo test check house docs dist test-real test-matrix bench soak fuzz clean

help:
	@echo "make demo         set up, then use the example tools as a person and as an agent"
	@echo "make test         set up, then ruff, mypy --strict and all tests"
	@echo "make check        ruff and mypy only"
	@echo "make house        who imports whom, and how large things are"
	@echo "make docs         the documentation site, in site/"
	@echo "make dist         wheel and sdist, built twice, and the wheel tested in a clean environment"
	@echo "make test-real    what is slow; tools nobody here wrote, from the package index (half an hour)"
	@echo "make test-matrix  the adapters on every supported interpreter and framework"
	@echo "make bench        what murli costs, also written to docs/performance.md; an hour"
	@echo "make soak         twenty minutes of calls that go wrong: signals, full disks, hostile words"
	@echo "make fuzz         five minutes of inputs nobody would think of; needs atheris"
	@echo "make clean        remove what the other targets made"

$(VENV)/pyvenv.cfg:
	$(PYTHON) -m venv $(VENV)

# Stamps, so that the second time is quick.
$(VENV)/.ready: $(VENV)/pyvenv.cfg pyproject.toml examples/riffle/pyproject.toml examples/office/requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e . -e examples/riffle \
	  -r examples/office/requirements.txt
	@touch $@

# Dependency groups need a newer pip than some versions of Python bring.
$(VENV)/.ready-for-groups: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@touch $@

$(VENV)/.ready-to-test: $(VENV)/.ready-for-groups
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev
	@touch $@

demo: $(VENV)/.ready
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/riffle/demo.sh
	@echo; echo 'Ten questions to an office tool (examples/office), by a caller who has never seen it:'
	@$(BIN)/python examples/office/questions.py --short

check: $(VENV)/.ready-to-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

house: $(VENV)/.ready-to-test
	$(BIN)/python tests/house.py

# What was compiled once need not be compiled by every worker again, whatever the environment says.
test: check
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -q -n 3 --dist worksteal

$(VENV)/.ready-to-document: $(VENV)/.ready-for-groups
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group docs
	@touch $@

$(VENV)/.ready-to-build: $(VENV)/.ready-for-groups
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dist
	@touch $@

dist: $(VENV)/.ready-to-build
	$(BIN)/python -m scripts.dist

docs: $(VENV)/.ready-to-document
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	@echo "open site/index.html"

test-real: $(VENV)/.ready-to-test
	failed=0; $(BIN)/python -m pytest -q -n 2 -m slow tests examples/riffle/tests || failed=1; \
	MURLI_EXAMPLES=10 $(BIN)/python -m pytest -q -n 2 -m properties tests || failed=1; \
	$(BIN)/python -m pytest -q -n 2 tests_real || failed=1; exit $$failed

test-matrix: $(VENV)/.ready-to-test
	$(BIN)/python -m tests_real.matrix

bench: $(VENV)/.ready-to-test
	mkdir -p .cache/bench; failed=0; for each in work startup growth describe client redaction check mcp; do \
	  $(BIN)/python -m benchmarks.$$each --json .cache/bench/$$each.json || failed=1; done; \
	$(BIN)/python -m benchmarks.report .cache/bench; exit $$failed

soak: $(VENV)/.ready-to-test
	$(BIN)/python -m soak

$(VENV)/.ready-to-fuzz: $(VENV)/.ready-to-test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group fuzz
	@touch $@

fuzz: $(VENV)/.ready-to-fuzz
	$(BIN)/python -m fuzz

clean:
	rm -rf $(VENV) .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis dist site

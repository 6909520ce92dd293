# `make demo` and `make test` need nothing but Python 3.11 and make: they set up .venv themselves.
# What was installed is remembered in stamp files, so the second run starts at once.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

DEMO_READY := $(VENV)/.ready-demo
DEV_READY  := $(VENV)/.ready-dev
INPUTS     := pyproject.toml constraints.txt

# Arguments for pytest, e.g. make test PYTEST="-k sampling"; for the benchmarks: BENCH=negatives.
PYTEST ?=
BENCH  ?=

# Two test processes share the machine. Both thread pools get the same size, because numba and torch
# may share one OpenMP runtime and then the last to set its size wins; idle threads sleep, not spin.
TEST_ENV := OMP_NUM_THREADS=2 NUMBA_NUM_THREADS=2 OMP_WAIT_POLICY=PASSIVE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test lint format bench docs constraints system-packages clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(DEMO_READY)  ## set up what it takes and run the demonstration
	$(BIN)/dhne demo

test: system-packages lint  ## set up everything and run all checks: style, types, layers, tests
	$(TEST_ENV) $(BIN)/python -m pytest -n 2 --dist loadfile $(PYTEST)

lint: $(DEV_READY)  ## style, types and import layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy --strict src
	$(BIN)/lint-imports --no-logo

format: $(DEV_READY)  ## format the code and mend what can be mended
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

bench: $(DEV_READY)  ## run the benchmarks (BENCH=NAME for some)
	$(BIN)/python -m benchmarks $(BENCH)

docs: $(DEV_READY)  ## build the documentation into docs/_build/html
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

constraints: $(DEV_READY)  ## write the installed versions to constraints.txt
	.ci/constraints $(BIN)/python > $(VENV)/constraints.txt
	mv $(VENV)/constraints.txt constraints.txt

clean:  ## remove the environment, caches and everything built
	rm -rf $(VENV) build dist docs/_build .mypy_cache .pytest_cache .ruff_cache .hypothesis \
	    .import_linter_cache .benchmarks
	find src tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# --- set-up ---------------------------------------------------------------------------------------

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "dhne needs Python 3.11 or later; name one with: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || .ci/system-packages python3-venv
	@echo "Creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)

# What the demonstration needs, and the commands that it proposes: pictures and the explorer.
$(DEMO_READY): $(INPUTS) | $(BIN)/pip
	@echo "Installing dhne into $(VENV) (a few minutes the first time)"
	@$(PIP) -e '.[plots,explorer]'
	@touch $@

# What the checks need: every extra, because each one is tested.
$(DEV_READY): $(INPUTS) | $(BIN)/pip
	@echo "Installing dhne with all extras into $(VENV) (some minutes the first time)"
	@$(PIP) -e '.[all,docs,dev]'
	@touch $@ $(DEMO_READY)

# Not Python packages: the browser that the explorer's tests drive, and the WordNet database files.
system-packages:
	@.ci/system-packages chromium wordnet-base

# The two commands of the README (`make demo`, `make test`) do all their set-up themselves.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: help demo test check lint types architecture format bench drill lock clean

help:
	@echo "make demo    diagnose the embedded recordings"
	@echo "make test    linters, types, architecture and every test this machine can run"
	@echo "make check   linters, types and architecture alone"
	@echo "make bench   the measured ratios, written to results/"
	@echo "make drill   every drain scenario and the grid on a lab of its own, in both proxy modes (root); results/drain/"
	@echo "make lock    write the lock files anew (needs uv)"

$(VENV)/.created:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "svcpath needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.run: requirements/run.lock pyproject.toml $(VENV)/.created
	$(PIP) install --require-hashes -r requirements/run.lock
	$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements/dev.lock pyproject.toml $(VENV)/.created
	$(PIP) install --require-hashes -r requirements/dev.lock
	$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/.run

demo: $(VENV)/.run
	$(BIN)/svcpath demo

lint: $(VENV)/.dev
	$(BIN)/ruff check src tests
	$(BIN)/ruff format --check src tests

types: $(VENV)/.dev
	$(BIN)/mypy

architecture: $(VENV)/.dev
	$(BIN)/lint-imports --no-cache

check: lint types architecture

format: $(VENV)/.dev
	$(BIN)/ruff format src tests
	$(BIN)/ruff check --fix src tests

test: check
	$(BIN)/python -m pytest $(PYTEST_ARGS)

bench: $(VENV)/.dev
	$(BIN)/python -m tests.bench

drill: $(VENV)/.dev
	@mkdir -p results/drain
	for mode in iptables nftables; do \
	  $(BIN)/svcpath lab up --lab drill --proxy-mode $$mode && \
	  $(BIN)/svcpath drain run --scenario all --lab drill --results results/drain/scenarios-$$mode.json; \
	  $(BIN)/svcpath drain run --scenario grid --lab drill --results results/drain/grid-$$mode.json; \
	  $(BIN)/svcpath lab down --lab drill; \
	done

lock:
	sh requirements/lock.sh

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis

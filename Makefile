# The two commands of the README (`make demo`, `make test`) do all their set-up themselves.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: readme help demo test check lint types architecture format bench parity lock clean lab lab-down score recordings drain drain-load wheel

help:
	@echo "make demo    diagnose the embedded recordings"
	@echo "make test    linters, types, architecture and every test this machine can run"
	@echo "make check   linters, types and architecture alone"
	@echo "make bench   the measured ratios, written to results/"
	@echo "make parity  verdicts of an older commit and of this one over every case, recording and bundle (BEFORE=COMMIT)"
	@echo "make drain   every drain scenario and the grid on a lab of its own, in both proxy modes (root); results/drain/"
	@echo "make drain-load  the recorder at 1,000 new connections a second while 20 Pods are replaced (root); results/drain/"
	@echo "make lab     a Kubernetes in network namespaces to practise on (root), built where missing"
	@echo "make score   faults made on purpose in both proxy modes, and how often diagnose is right (root); results/score.json"
	@echo "make recordings  the same faults as recordings for tests (root); tests/data/lab"
	@echo "make wheel   build svcpath's wheel and the lab's, install each in a new environment: size, imports, start time; results/wheel.json"
	@echo "make lock    write the lock files again (needs uv)"

$(VENV)/.created:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "svcpath needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.run: requirements/run.lock pyproject.toml lab/pyproject.toml $(VENV)/.created
	$(PIP) install --require-hashes -r requirements/run.lock
	$(PIP) install --no-deps --no-build-isolation -e . -e lab
	@touch $@

$(VENV)/.dev: requirements/dev.lock pyproject.toml lab/pyproject.toml $(VENV)/.created
	$(PIP) install --require-hashes -r requirements/dev.lock
	$(PIP) install --no-deps --no-build-isolation -e . -e lab
	@touch $@ $(VENV)/.run

# Byte code beside the sources, also where PYTHONDONTWRITEBYTECODE is set: without it every start of svcpath compiles them all.
$(VENV)/.compiled: $(VENV)/.created $(shell find src lab/src -name '*.py')
	$(BIN)/python -m compileall -q src lab/src
	@touch $@

# Playwright's client and axe for the tests in a browser; the browser is Debian's (tests/apt-packages.txt).
$(VENV)/.browser: requirements/browser.lock $(VENV)/.dev
	$(PIP) install --require-hashes -r requirements/browser.lock
	@touch $@

demo: $(VENV)/.run $(VENV)/.compiled
	$(BIN)/svcpath demo

lint: $(VENV)/.dev
	$(BIN)/ruff check src lab tests
	$(BIN)/ruff format --check src lab tests

types: $(VENV)/.dev
	$(BIN)/mypy

architecture: $(VENV)/.dev
	$(BIN)/lint-imports --no-cache

check: lint types architecture

format: $(VENV)/.dev
	$(BIN)/ruff format src lab tests
	$(BIN)/ruff check --fix src lab tests

# The tests in a browser run where Debian's Chromium is; elsewhere they say that it is missing.
test: check $(VENV)/.compiled $(if $(shell command -v chromium),$(VENV)/.browser)
	$(BIN)/python -m pytest $(PYTEST_ARGS)

bench: $(VENV)/.dev $(VENV)/.compiled
	$(BIN)/python -m tests.bench

# What two commits say of every case, input, recording and bundle; BEFORE names the older one.
BEFORE ?= 61429cb
parity: $(VENV)/.dev
	$(BIN)/python -m tests.parity $(BEFORE) --allow tests/parity/expected.yaml

drain: $(VENV)/.dev $(VENV)/.compiled
	@mkdir -p results/drain
	code=0; for mode in iptables nftables; do \
	  $(BIN)/svcpath lab up --lab drain --proxy-mode $$mode || { $(BIN)/svcpath lab down --lab drain; exit 1; }; \
	  $(BIN)/svcpath drain run --scenario all --lab drain -o terminal -o json=results/drain/scenarios-$$mode.json || code=$$?; \
	  $(BIN)/svcpath drain run --scenario grid --lab drain -o terminal -o json=results/drain/grid-$$mode.json || code=$$?; \
	  $(BIN)/svcpath lab down --lab drain; \
	done; exit $$code

drain-load: $(VENV)/.dev
	@mkdir -p results/drain
	$(BIN)/svcpath lab up --lab drain
	$(BIN)/svcpath drain run --scenario load --lab drain -o terminal -o json=results/drain/load.json; \
	  code=$$?; $(BIN)/svcpath lab down --lab drain; exit $$code

# Both wheels, each in an environment of its own with the dependencies of run.lock; beside the wheel of the commit before the split.
wheel: $(VENV)/.dev
	$(BIN)/python -m tests.packaging

lab: $(VENV)/.run $(VENV)/.compiled
	$(BIN)/svcpath lab up

lab-down: $(VENV)/.run
	$(BIN)/svcpath lab down

# Every fault in both proxy modes, on recorded and on live evidence; about an hour.
score: $(VENV)/.dev $(VENV)/.compiled
	sh tests/lab/score.sh results/score.json

# The same, and tests/data/lab/recordings-*.tar.zst from what it recorded.
recordings: $(VENV)/.dev
	rm -rf .recordings
	sh tests/lab/score.sh results/score.json .recordings
	$(BIN)/python -m tests.lab.recordings .recordings results/score.json
	rm -rf .recordings

# The console blocks of the README, from what the commands print now.
readme: $(VENV)/.dev
	$(BIN)/python -m tests.write_readme

lock:
	sh requirements/lock.sh

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis

.PHONY: schema
schema: $(VENV)/.dev
	$(BIN)/python -m tests.reports.write_schemas

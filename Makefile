PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.ready
# Many tests wait for processes: more of them than cores.
TEST_JOBS ?= 4
# Every command that a test or a benchmark starts would compile all of its modules anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run setup test check bench storm kubernetes-cluster clean

## Set up and run the main job: a service shares this machine between a bank's three departments.
run: setup
	@$(BIN)/python examples/service.py

setup: $(STAMP)

$(STAMP): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable ".[fast,service,sim]" --group dev
	touch $(STAMP)

## All tests; the long storms are `make storm`.
test: setup
	$(BIN)/python -m pytest -n $(TEST_JOBS) -m "not slow"

## Format, lint, types, import floors, sizes of files and of the base install, coverage of rules by docs and tests.
check: setup
	$(BIN)/lint-imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/architecture/test_sizes.py
	$(BIN)/python -m tests.architecture.coverage
	$(BIN)/python -m tests.architecture.base_install

## Benchmarks; medians go to bench/results/.
bench: setup
	$(BIN)/python -m bench

## The long form of the random tests.
storm: setup
	HYPOTHESIS_PROFILE=storm $(BIN)/python -m pytest -n $(TEST_JOBS)

## The programs of a Kubernetes cluster, for tests/kubernetes: needs Go, 10 minutes and 4 GB once.
kubernetes-cluster: setup
	$(BIN)/python -m tests.kubernetes.control_plane build

clean:
	rm -rf .venv build dist src/*.egg-info

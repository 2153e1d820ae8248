PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.ready
CONSOLE := .venv/.console
CONSOLE_SOURCE := $(shell find console -path console/node_modules -prune -o -type f -print) src/fairhold/drawing/look.css
# Many tests wait for processes: more of them than cores.
TEST_JOBS ?= 4
KUBERNETES_SHORT := governor real_nodes changed_pods gangs interference policies refusals release start telling
# Of `make storms`.
STEPS ?= 1000000
SEED ?= 0
# Every command that a test or a benchmark starts would compile all of its modules anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run console console-types browser browser-short setup test check bench storm storms \
	failover-short kubernetes kubernetes-cluster kubernetes-short kubernetes-storm kubernetes-demo clean

## Set up and run the main job: a service shares this machine between a bank's three departments.
run: setup
	@$(BIN)/python examples/service.py

setup: $(STAMP) $(CONSOLE)

$(STAMP): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable ".[fast,postgres,service,sim]" --group dev
	touch $(STAMP)

$(CONSOLE): $(STAMP) $(CONSOLE_SOURCE)
	@$(MAKE) --no-print-directory console

## The web console, built anew.
console: $(STAMP)
	$(BIN)/python console/build.py
	touch $(CONSOLE)

## The console's types of the REST API, made anew from its OpenAPI document.
console-types: setup
	$(BIN)/python -m tests.console.types

## The console in a real browser, over a real service with real work; needs Chromium.
browser: setup
	$(BIN)/python console/build.py browser

## Its short form: without large clusters.
browser-short: setup
	$(BIN)/python console/build.py browser $(addprefix browser/,$(addsuffix .browser.ts,console plan roles look paint sign-in tenant))

## All tests but the long storms (`make storm`) and those on a cluster (`make kubernetes`).
test: setup
	$(BIN)/python -m pytest -n $(TEST_JOBS) -m "not slow and not cluster"

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
	HYPOTHESIS_PROFILE=storm FAIRHOLD_ROUNDS=1000 $(BIN)/python -m pytest -n $(TEST_JOBS) -m "not cluster"

## A million steps of the live product on simulated machines, from a seed on.
storms: setup
	$(BIN)/python -m tests.storms.deterministic $(STEPS) $(SEED)

## Two services of one store: what happens to the one that leads, and 50 random rounds on each kind of store.
failover-short: setup
	FAIRHOLD_ROUNDS=50 $(BIN)/python -m pytest -n $(TEST_JOBS) tests/failover

## The programs of a Kubernetes cluster, for tests/kubernetes: needs Go, 10 minutes and 4 GB once.
kubernetes-cluster: setup
	$(BIN)/python -m tests.kubernetes.control_plane build

## The tests on a Kubernetes control plane; each file has a cluster of its own.
kubernetes: kubernetes-cluster
	for file in tests/kubernetes/test_*.py; do \
		FAIRHOLD_KUBERNETES=required $(BIN)/python -m pytest -m cluster $$file || [ $$? -eq 5 ] || exit 1; \
	done

## Their short form, of files that take less than a minute on two quiet cores each: lending, reclaim, ends, gangs, pods that
## change, users who interfere; also in containers, where root, containerd, runc and busybox-static are there.
kubernetes-short: kubernetes-cluster
	for file in $(KUBERNETES_SHORT); do \
		FAIRHOLD_KUBERNETES=required $(BIN)/python -m pytest -rs -m "cluster and not slow" tests/kubernetes/test_$$file.py || exit 1; \
	done

## Kills the service 100 times and the API server and its store 30 times while Jobs run; then the service alone.
kubernetes-storm: kubernetes-cluster
	FAIRHOLD_KUBERNETES=required FAIRHOLD_KILLS=100 $(BIN)/python -m pytest -m cluster \
		-k "all or hundred" tests/kubernetes/test_kills.py

## A bank on Kubernetes: lending and reclaim of GPUs on a control plane of this machine, as kubectl shows them.
kubernetes-demo: kubernetes-cluster
	@$(BIN)/python -m examples.kubernetes_demo

clean:
	rm -rf .venv build dist src/*.egg-info src/fairhold/console console/node_modules

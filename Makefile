# One command per verb; `make help` lists them.  Each installs what it needs first (scripts/setup.sh).
VENV := .venv/bin
REPORT ?= reports/demo
RESULTS ?= results
# The testbed makes network namespaces, which needs root.
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)
.DEFAULT_GOAL := help
.PHONY: help setup demo experiments test test-all lint bench clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/'

setup: ## install missing system packages and .venv (Debian 12, as root or with sudo)
	@scripts/setup.sh

.PHONY: setup-test
setup-test:
	@scripts/setup.sh test

# Guest kernel with netem (delay and loss), for machines without it.
.PHONY: setup-guest
setup-guest: setup
	@scripts/setup.sh guest

demo: setup ## run two experiments on a local test network; report in reports/demo
	$(SUDO) $(VENV)/adon demo --report $(REPORT)

experiments: setup-guest ## run every experiment of the papers; index in results/index.html
	$(SUDO) $(VENV)/adon experiment run --all --results $(RESULTS)

test: setup-test lint ## run linters, type check, and all tests except the slow ones
	@scripts/test.sh

test-all: setup-test lint ## the same with the slow tests
	@scripts/test.sh all

lint: setup ## run only ruff, mypy and import-linter
	$(VENV)/ruff check .
	$(VENV)/ruff format --check .
	$(VENV)/mypy
	$(VENV)/lint-imports --no-cache

bench: setup-test ## run and print benchmarks
	$(SUDO) $(VENV)/python -m benchmarks

clean: ## delete environments and caches, not reports and results
	rm -rf .venv .venv-faucet .uml build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One command per verb; `make help` lists them.  Each installs what it needs first (scripts/setup.sh).
VENV := .venv/bin
REPORT ?= reports/demo
RESULTS ?= results
# The testbed makes network namespaces, which needs root.
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)
.DEFAULT_GOAL := help
.PHONY: help setup demo experiments test test-all lint bench clean

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/'

setup: ## system packages and .venv (Debian 12, as root or with sudo; does nothing if all is there)
	@scripts/setup.sh

.PHONY: setup-test
setup-test:
	@scripts/setup.sh test

# Delay and loss, where this machine's kernel has no netem.
.PHONY: setup-guest
setup-guest: setup
	@scripts/setup.sh guest

demo: setup ## the main job end to end on a real test network; report in reports/demo
	$(SUDO) $(VENV)/adon demo --report $(REPORT)

experiments: setup-guest ## every experiment of the papers, one after the other; index in results/index.html
	$(SUDO) $(VENV)/adon experiment run --all --results $(RESULTS)

test: setup-test lint ## linters, type check, then all tests but the slow ones
	@scripts/test.sh

test-all: setup-test lint ## the same with the slow tests
	@scripts/test.sh all

lint: setup ## ruff, mypy and import-linter alone
	$(VENV)/ruff check .
	$(VENV)/ruff format --check .
	$(VENV)/mypy
	$(VENV)/lint-imports --no-cache

bench: setup-test ## measured speeds, printed
	$(SUDO) $(VENV)/python -m benchmarks

clean: ## what was built here; not the reports and results
	rm -rf .venv .venv-faucet .uml build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

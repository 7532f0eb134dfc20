# `make` alone lists the targets. Everything is installed into .venv from the hashed locks in requirements/.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
# A locked file is the whole truth: no other version is looked up, and a download that differs is refused.
PIP := -m pip --disable-pip-version-check --quiet
UV_VERSION := 0.13.7

# The tests start hundreds of programs, none of which has to be compiled again, whatever the environment prefers.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest

# Extra arguments, e.g. `make test PYTEST_ARGS="-k lease"`, `make serve SERVE_ARGS="--port 9000"`.
PYTEST_ARGS ?=
SERVE_ARGS ?=
BENCH_ARGS ?=
CLEAN_ROOM_ARGS ?=

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z][a-z-]*:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

.PHONY: serve
serve: $(VENV)/.base ## start Kurabito on 127.0.0.1:8484
	@exec $(BIN)/kurabito serve $(SERVE_ARGS)

.PHONY: test
test: ready provision ## check, then run every test
	@echo "==> running the tests"
	@# A file's tests stay in one process: those about a million rows build them once. Many wait for other processes or for
	@# the disk, so there are three times as many processes as cores; tests/support/order.py has them wait at different times.
	@$(PYTEST) -n $$((3 * $$(nproc))) --dist loadfile --no-loadscope-reorder $(PYTEST_ARGS)

# Mypy works on one core. On another the tests are read meanwhile, which every process would do for itself otherwise.
.PHONY: ready
ready:
	@$(MAKE) --no-print-directory --jobs=2 check collected

.PHONY: collected
collected: $(VENV)/.dev
	@# What cannot be read is told when the tests run.
	@$(PYTEST) --collect-only --quiet > /dev/null || true

.PHONY: check
check: $(VENV)/.dev ## lint, format, types, direction of imports
	@echo "==> ruff check"
	@$(BIN)/ruff check .
	@echo "==> ruff format --check"
	@$(BIN)/ruff format --check .
	@echo "==> mypy --strict"
	@$(BIN)/mypy
	@echo "==> lint-imports"
	@$(BIN)/lint-imports --no-cache --no-logo

.PHONY: provision
provision: $(VENV)/.dev # what the tests need besides Python packages
	@tools/provision.sh $(BIN)/python

.PHONY: soak
soak: $(VENV)/.dev provision ## run the long tests under load
	@echo "==> running the soak tests"
	@# What they find out holds for disks.
	@TMPDIR=$${TMPDIR:-/tmp} $(PYTEST) -m soak $(PYTEST_ARGS)

.PHONY: clean-room
clean-room: ## try `make serve` and `make test` on a bare Debian
	@tools/clean_room.sh $(CLEAN_ROOM_ARGS)

.PHONY: bench
bench: .venv-bench/.ready ## run the benchmarks in an environment of their own
	@echo "==> running the benchmarks"
	@.venv-bench/bin/python benchmarks/run.py $(BENCH_ARGS)

.PHONY: docs
docs: $(VENV)/.dev ## write the generated parts of the documentation again
	@$(BIN)/python tools/docs.py

.PHONY: lock
lock: ## pin every dependency again, with hashes for all platforms
	@tools/lock.sh $(UV_VERSION)

.PHONY: clean
clean: ## remove the environments and everything generated
	rm -rf .venv .venv-bench .venv-lock build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.created:
	@tools/create_venv.sh $(VENV)
	@touch $@

$(VENV)/.base: $(VENV)/.created requirements/base.txt requirements/build.txt pyproject.toml
	@echo "==> installing what Kurabito needs (requirements/base.txt), and what builds it (requirements/build.txt)"
	@$(BIN)/python $(PIP) install --require-hashes -r requirements/base.txt -r requirements/build.txt
	@echo "==> installing kurabito itself"
	@$(BIN)/python $(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.created requirements/dev.txt pyproject.toml
	@echo "==> installing what the tests need (requirements/dev.txt)"
	@$(BIN)/python $(PIP) install --require-hashes -r requirements/dev.txt
	@echo "==> installing kurabito itself"
	@$(BIN)/python $(PIP) install --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/.base

.venv-bench/.ready: requirements/base.txt requirements/build.txt benchmarks/requirements.txt pyproject.toml
	@tools/create_venv.sh .venv-bench
	@echo "==> installing the benchmarks' needs (benchmarks/requirements.txt)"
	@.venv-bench/bin/python $(PIP) install --require-hashes -r requirements/base.txt -r requirements/build.txt
	@.venv-bench/bin/python $(PIP) install -r benchmarks/requirements.txt
	@.venv-bench/bin/python $(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

# Everything runs in .venv, which is made on first use. It needs Python 3.11 or later, and nothing else.
# To choose the interpreter: make test PYTHON=/path/to/python3.12

PYTHON ?=
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
RUNS   := $(VENV)/.runs
# A person who only runs it needs a third of the packages; where the others are, they are kept up to date.
RUN    := $(or $(wildcard $(STAMP)),$(RUNS))
PYTHONS := $(or $(PYTHON),python3.13 python3.12 python3.11 python3.14 python3 python)
LIVE   := .venv-live
FUZZ_SECONDS ?= 600

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore
# Images for containers set this: every process would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

# The checks of `make test` share files and two of them are heavy: one after another, also under `make -j`.
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: check live help install run test lint types schemas examples wheel docs pytest fuzz bench model format clean

help: ## Show what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

run: $(RUN) ## Install what running needs into .venv, and run the examples
	@$(BIN)/agenteval run examples/

test: lint types schemas examples wheel docs pytest ## Run every check, as CI does; the first failure stops

SINCE ?= main
check: $(STAMP) lint types ## Check what changed since main (or SINCE=REVISION): style, types, the tests that import it
	@echo "== pytest, the tests of what changed"
	@$(BIN)/pytest -q -n auto $$($(BIN)/python tests/changed.py $(SINCE))

lint: $(STAMP) ## Check style and formatting (ruff)
	@echo "== ruff check"
	@$(BIN)/ruff check
	@echo "== ruff format --check"
	@$(BIN)/ruff format --check

types: $(STAMP) ## Check types (mypy)
	@echo "== mypy"
	@$(BIN)/mypy

schemas: $(STAMP) ## Check that schemas/ says what the models say
	@echo "== agenteval schema --check"
	@$(BIN)/agenteval schema --check

examples: $(STAMP) ## Run the examples and print only the summary
	@echo "== agenteval run examples/"
	@env -u AGENTEVAL_NANOCLAW $(BIN)/agenteval run examples/ -q

wheel: $(STAMP) ## Build the wheel, install it into an empty environment, run it there
	@echo "== the wheel, installed"
	@$(BIN)/python tests/check_wheel.py

docs: $(STAMP) ## Build the documentation site into build/site; each warning is an error
	@echo "== the documentation site"
	@$(BIN)/sphinx-build --quiet --fail-on-warning --jobs auto docs build/site

pytest: $(STAMP) ## Run the tests
	@echo "== pytest"
	@$(BIN)/pytest -q -n auto

live: $(STAMP) ## Run the tests of live mode with the real SDKs of Claude's and OpenAI's agents (500 MB, into .venv-live)
	@$(LIVE)/bin/python -c 'import claude_agent_sdk, agents' 2>/dev/null || { \
	  $(BIN)/python -m venv $(LIVE) && $(LIVE)/bin/python -m pip install --quiet claude-agent-sdk openai-agents; }
	@CLAUDE_SDK_PYTHON=$(CURDIR)/$(LIVE)/bin/python OPENAI_SDK_PYTHON=$(CURDIR)/$(LIVE)/bin/python \
	  $(BIN)/pytest -q -n auto tests/live

fuzz: $(STAMP) ## Search for inputs that break something, for FUZZ_SECONDS (600)
	@$(BIN)/python -c 'import atheris' 2>/dev/null || $(BIN)/python -m pip install --quiet --group fuzz 2>/dev/null || true
	@$(BIN)/python tests/fuzz/run.py --seconds $(FUZZ_SECONDS)

bench: $(STAMP) ## Measure speed and memory beside a hand-written pytest suite (ARGS=--quick: a part)
	@$(BIN)/python -m benchmarks.run $(ARGS)

model: $(STAMP) ## Try live runs and checks with a real, small model (1.2 GB into .model; ARGS=--serve: only serve it)
	@$(BIN)/python -m benchmarks.model.fetch
	@nice $(BIN)/python -m benchmarks.model.acceptance $(ARGS)

format: $(STAMP) ## Let ruff fix and format the code
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

install: $(STAMP) ## Install into .venv, with what development needs

clean: ## Remove .venv, artifacts and caches
	rm -rf $(VENV) artifacts build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .agenteval_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Made again when pyproject.toml changes; a .venv whose interpreter is gone or no longer fits is then replaced.
# An interpreter is tried by running it: a name on PATH may be a shim without a Python behind it, and some
# systems ship Python without the modules that make a virtual environment.
define environment
	@fits='import sys; sys.exit(sys.version_info[:2] < (3, 11))'; \
	if ! $(BIN)/python -c "$$fits" 2>/dev/null || ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
	  found=; unequipped=; \
	  for python in $(PYTHONS); do \
	    "$$python" -c "$$fits" >/dev/null 2>&1 || continue; \
	    if "$$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then found=$$python; break; fi; \
	    unequipped="$$unequipped $$python"; \
	  done; \
	  if [ -z "$$found" ] && [ -n "$$unequipped" ]; then \
	    echo "make: cannot make a virtual environment:$$unequipped has no venv and ensurepip modules." >&2; \
	    echo "make: install them (Debian, Ubuntu: apt-get install python3-venv), then run make again." >&2; \
	    exit 1; \
	  elif [ -z "$$found" ]; then \
	    echo "make: Python 3.11 or later is needed; found none as $(PYTHONS)." >&2; \
	    echo "make: install one, or name it: make PYTHON=/path/to/python3.12" >&2; \
	    exit 1; \
	  fi; \
	  echo "== making $(VENV) with $$("$$found" --version)"; \
	  "$$found" -m venv --clear $(VENV); \
	fi
	@$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
endef

$(RUNS): pyproject.toml
	$(environment)
	@echo "== installing agenteval into $(VENV)"
	@$(BIN)/python -m pip install --quiet --editable '.[html]'
	@$(BIN)/python -m compileall -q src adapters  # pip compiles what it installs, but not what it links
	@touch $(RUNS)

$(STAMP): pyproject.toml
	$(environment)
	@echo "== installing agenteval and its development tools into $(VENV)"
	@$(BIN)/python -m pip install --quiet --editable . --group dev
	@# The JUnit schema of Jenkins is in the sources of pytest, and not in its wheel.
	@$(BIN)/python -m pip download --quiet --no-deps --no-binary pytest --dest $(VENV)/sources pytest \
	  || echo "make: the sources of pytest cannot be had: tests that need the JUnit schema are skipped" >&2
	@$(BIN)/python -m compileall -q src adapters  # pip compiles what it installs, but not what it links
	@touch $(STAMP)

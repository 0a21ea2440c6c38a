# Every target creates .venv by itself; the machine needs only python3 (3.11 or later), make, and a package index.
PYTHON ?= python3
BIN := .venv/bin
# Python writes the bytecode of what it imports, which is far less than pip would compile.
export PYTHONDONTWRITEBYTECODE =

EXTRAS = torch,onnx,ray,gym,pandas,tensorboard,bench,docs,notebooks,browser
# CI names an older PyTorch here, because the newest brings gigabytes.
TORCH = torch

.PHONY: setup lab web page wasm site check-page test test-all test-slow test-hostile test-wheel test-oldest test-newest extras coverage lint docs bench clean

setup: .venv/ready  ## install everything and compile the kernels

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --no-compile --upgrade pip
	$(BIN)/python -m pip install --quiet --no-compile --editable .
	touch $@

.venv/ready: .venv/installed
	@# The developers' tools are installed while the kernels are compiled.
	$(BIN)/python -m pip install --quiet --no-compile 'tengen-go[lab,dev]' & $(BIN)/tengen compile && wait $$!
	touch $@

lab: setup  ## the main job: reproduce the papers at a small scale and write one report
	$(BIN)/tengen lab

web: .venv/installed  ## the board in the browser; kernels are compiled while it runs
	$(BIN)/tengen web

page: web/node_modules  ## build that board's page anew from web/ (the only target that needs Node)
	cd web && npm run --silent check && npm run --silent build

wasm: setup  ## compile the page's kernels anew (needs LLVM's linker, wasm-ld)
	$(BIN)/python -m tengen.web.wasm.build

site: setup  ## the page that needs no server, in build/try, for any web host
	$(BIN)/python scripts/build_try.py

check-page: setup  ## fail if the committed page is not what web/ and the kernels build
	$(BIN)/python -m tengen.web.wasm.build --check
	@if [ -d web/node_modules ]; then cd web && npm run --silent check && \
		npm run --silent build -- ../build/page && diff -r ../build/page ../src/tengen/web/static; \
		else echo "no npm packages: the built page is not compared with its sources"; fi

web/node_modules: web/package-lock.json
	cd web && npm ci --silent && touch node_modules

tests/process/node_modules: tests/process/package.json
	cd tests/process && npm install --silent --no-audit --no-fund && touch node_modules

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/count_words.py

# A hanging test is ended, with its traceback, so that the others still run. With more threads, the
# processes of the tests would wait for each other's cores.
PYTEST = OMP_NUM_THREADS=1 $(BIN)/pytest -o faulthandler_timeout=400 -o faulthandler_exit_on_timeout=true
# One more than most CI machines have cores, because many tests wait for processes.
QUICK = -m "not slow and not wheel" -n 3 --dist worksteal

test: setup  ## lint and tests, with nothing installed but Python and make
	@# While mypy has one core, the other writes the bytecode that all workers import.
	$(PYTEST) --bare --collect-only -qq >/dev/null & $(MAKE) lint && wait $$!
	$(PYTEST) --bare $(QUICK)

test-all: build/skipped-tests.txt extras  ## then what `make test` skipped, the wheel and the page
	$(PYTEST) $(QUICK) @build/skipped-tests.txt
	$(MAKE) --jobs 2 test-wheel check-page

build/skipped-tests.txt:
	$(MAKE) test

extras: setup  ## what the skipped tests need, as far as this machine lets us install it
	$(BIN)/python -m pip install --quiet --no-compile '$(TORCH)' 'tengen-go[$(EXTRAS)]'
	@command -v npm >/dev/null && $(MAKE) web/node_modules tests/process/node_modules \
		|| echo "no npm packages: the tests that need them are skipped"

test-wheel: setup  ## the wheel in a bare environment; TENGEN_WHEEL=FILE: that one, and with each extra by itself
	$(PYTEST) -m "wheel$(if $(TENGEN_WHEEL),, and not slow)" -rA tests/test_wheel.py

test-oldest: RESOLUTION = lowest-direct
test-newest: RESOLUTION = highest
test-oldest test-newest: BIN = build/$@/bin
test-oldest test-newest:  ## the quick tests with the lowest versions that pyproject.toml declares, or the newest
	$(PYTHON) -m venv build/$@
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --upgrade --resolution $(RESOLUTION) --editable '.[lab,dev]'
	$(BIN)/tengen compile
	$(PYTEST) --bare $(QUICK)

test-slow: setup  ## thousands of games, kills, clusters
	$(BIN)/pytest -m slow

test-hostile: setup  ## thousands of damaged inputs, kills and full disks
	$(PYTEST) --hypothesis-profile hostile tests/robustness tests/web/test_damaged_requests.py

coverage: setup  ## lines outside kernels that the tests run
	$(PYTEST) $(QUICK) --cov=tengen --cov-report=term:skip-covered

docs: setup  ## the site with guide, reference and search, in build/site
	$(BIN)/python -m zensical --version >/dev/null 2>&1 || $(BIN)/python -m pip install --quiet 'tengen-go[docs]'
	$(BIN)/python scripts/build_site.py
	@echo "build/site/index.html"

bench: setup  ## side by side with peers
	$(BIN)/tengen bench

clean:
	rm -rf .venv runs build

# Every verb of the project; `make` alone lists them. Each makes what it needs, and makes nothing twice.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

PYTHON ?= python3
BIN := .venv/bin
OLDEST := .cache/venv-oldest
VENV_READY := .venv/.ready
OLDEST_READY := $(OLDEST)/.ready
DRIVER := .driver/env.sh
EXTENSION := python/metalml/_core.abi3.so
WITH_DRIVER := tools/driver/with.sh
# One number everywhere: every worker opens the GPU.
PYTEST := -m pytest -n 2

# What the extension is made of.
RUST := $(shell find crates -type f \( -name '*.rs' -o -name '*.wgsl' -o -name Cargo.toml \) -not -path '*/tests/*' -not -path '*/benches/*')

# PyO3 asks this interpreter about itself, so that a check does not follow whatever `python3` is today.
export PYO3_PYTHON := $(abspath $(BIN)/python)
CARGO_TEST := $(if $(shell command -v cargo-nextest),cargo nextest run,cargo test --lib --bins --tests)

.PHONY: help
help: ## list the verbs
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/\1\t\2/p' $(MAKEFILE_LIST) | awk -F'\t' '{ printf "  make %-14s %s\n", $$1, $$2 }'

.PHONY: setup
setup: $(VENV_READY) driver-if-any ## the environment and, where the machine has none, a Vulkan driver

.PHONY: build
build: $(EXTENSION) ## the extension, in release

.PHONY: demo
demo: build driver-if-any ## the main job on real data: where it ran, why, how long, how near to scikit-learn
	@$(WITH_DRIVER) $(BIN)/python tools/demo.py

.PHONY: check
check: check-rust check-python check-words ## format, lint, types, imports

.PHONY: check-rust
check-rust: $(VENV_READY)
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets --all-features -- -D warnings

.PHONY: check-python
check-python: $(EXTENSION)
	$(BIN)/ruff format --check --quiet
	$(BIN)/ruff check --quiet
	$(BIN)/pyright --warnings
	PYTHONPATH=python $(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/python -m mypy.stubtest metalml._core --ignore-disjoint-bases

.PHONY: check-words
check-words: $(VENV_READY)
	$(BIN)/typos
	RUST_LOG=warn $(BIN)/taplo format --check

.PHONY: fix
fix: $(VENV_READY) ## format, and mend what the linters can
	cargo fmt --all
	$(BIN)/ruff check --quiet --fix || true
	$(BIN)/ruff format --quiet
	RUST_LOG=warn $(BIN)/taplo format

.PHONY: test
test: test-rust test-python ## all tests of this machine; GPU tests run on a software driver where there is no other

.PHONY: test-rust
test-rust: $(VENV_READY) driver
	$(WITH_DRIVER) $(CARGO_TEST) --locked -p metalml --all-features
	$(WITH_DRIVER) cargo test --locked -p metalml --all-features --doc

.PHONY: test-python
test-python: $(EXTENSION) driver
	$(WITH_DRIVER) $(BIN)/python $(PYTEST)

.PHONY: test-oldest
test-oldest: $(EXTENSION) $(OLDEST_READY) driver ## the Python tests on the oldest scikit-learn and NumPy allowed
	$(WITH_DRIVER) $(OLDEST)/bin/python $(PYTEST) -o cache_dir=.cache/pytest-oldest

.PHONY: test-gpu
test-gpu: $(EXTENSION) driver ## the tests that open a device, Rust and Python
	$(WITH_DRIVER) cargo test --locked -p metalml --all-features -- gpu
	$(WITH_DRIVER) $(BIN)/python $(PYTEST) -k gpu

.PHONY: mutate-kernels
mutate-kernels: $(VENV_READY) driver ## wrong edits of each kernel, every one of which a test must see
	$(WITH_DRIVER) $(BIN)/python tools/mutate_kernels.py

.PHONY: test-long
test-long: $(VENV_READY) driver ## the kernels of fast devices on the software driver, and every kernel a hundred times
	$(WITH_DRIVER) cargo test --locked -p metalml --all-features --test kernels -- --ignored

.PHONY: test-all
test-all: test test-long test-oldest mutate-kernels ## all of these

.PHONY: bench-kernels
bench-kernels: ## kernels on the device that METALML_DEVICE names, or the first that is not software; beside PyTorch where that is
	cargo bench --locked -p metalml --bench kernels
	@python3 -c 'import torch; assert torch.cuda.is_available()' 2> /dev/null && python3 benches/torch_kernels.py || true

.PHONY: bench-native
bench-native: $(VENV_READY) ## native kernels beside NumPy, SciPy and scikit-learn
	$(BIN)/python benches/native_kernels.py

.PHONY: bench
bench: build ## estimators beside scikit-learn, dispatch, import time
	$(BIN)/python benches/estimators.py
	$(BIN)/python benches/overhead.py
	$(BIN)/python benches/import_time.py

.PHONY: docs
docs: $(EXTENSION) ## the documentation, in site/; a warning is an error
	$(BIN)/python tools/support_table.py --check
	$(BIN)/python -m sphinx -W --keep-going --quiet -b html -d .cache/doctrees docs site
	@echo "site/index.html"

.PHONY: support-table
support-table: $(EXTENSION) ## docs/support.md anew, from the rules of the estimators
	$(BIN)/python tools/support_table.py

.PHONY: mac-check
mac-check: $(VENV_READY) ## type-check and lint for Apple Silicon on this Linux machine (a toolchain is made once)
	tools/mac/setup.sh .mac
	tools/mac/check.sh .mac

.PHONY: device-build
device-build: $(EXTENSION) ## what a GPU machine without a compiler needs, in .device-build/
	tools/device/build.sh .device-build

.PHONY: pins
pins: ## requirements/constraints.txt anew, after a change of the other requirement files
	tools/pins.sh $(PYTHON)

.PHONY: clean
clean: ## remove what was built; the environment, the driver and the Mac toolchain stay
	rm -rf target site .device-build .cache/doctrees .mac/target $(EXTENSION)

.PHONY: driver
driver: ; @tools/driver/setup.sh .driver

# For verbs that are of use without a GPU.
.PHONY: driver-if-any
driver-if-any: ; @tools/driver/setup.sh .driver || true

$(VENV_READY): requirements/dev.txt requirements/newest.txt requirements/test.txt requirements/constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("metalml is developed on Python 3.11 or later; choose one: make PYTHON=python3.11 ..." if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/dev.txt
	@touch $@

# The package is the checkout's own; only the libraries beside it are older.
$(OLDEST_READY): requirements/oldest.txt requirements/test.txt requirements/constraints.txt
	test -x $(OLDEST)/bin/python || $(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/oldest.txt
	echo '$(abspath python)' >"$$($(OLDEST)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/metalml.pth"
	@touch $@

$(EXTENSION): $(VENV_READY) $(RUST) Cargo.toml Cargo.lock pyproject.toml
	VIRTUAL_ENV=$(abspath .venv) $(BIN)/maturin develop --release --locked --quiet
	@touch $@

# Two commands set everything up: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml CMakeLists.txt $(wildcard cpp/*.cpp cpp/core/*)
PYTEST_WORKERS ?= auto

# Coverage costs under a tenth with slipcover; its plugin is loaded before pytest can rewrite it.
# Workers share the cores: a library of matrices that takes all of them in each makes all slower.
COVERED := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m slipcover --source src/newron --json --out build/coverage.json \
	-m pytest -W ignore::pytest.PytestAssertRewriteWarning

.PHONY: demo test check lint types imports sanitize tests coverage test-lowest fuzz format stubs \
	public-api hooks wheel speed clean

demo: $(VENV)/base.done
	$(BIN)/python -m newron demo --force

test: check tests

check: lint types imports sanitize

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "newron needs Python 3.11 or newer; run: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/base.done: $(SOURCES) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/test.done: $(SOURCES) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test]"
	touch $@ $(VENV)/base.done

lint: $(VENV)/test.done
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(wildcard cpp/*.cpp cpp/core/* cpp/tests/*)

types: $(VENV)/test.done
	$(BIN)/mypy

imports: $(VENV)/test.done
	$(BIN)/lint-imports --no-logo

# The core's own tests under the address, undefined-behaviour and thread sanitizers.
sanitize: $(VENV)/test.done
	scripts/sanitize address,undefined & first=$$!; scripts/sanitize thread && wait $$first

tests: $(VENV)/test.done
	@mkdir -p build
	$(COVERED) -n $(PYTEST_WORKERS) --dist worksteal
	@$(BIN)/python scripts/show_coverage build/coverage.json

# The lines that no test ran, file by file; TESTS narrows what is run.
coverage: $(VENV)/test.done
	@mkdir -p build
	$(COVERED) -n $(PYTEST_WORKERS) --dist worksteal $(TESTS)
	@$(BIN)/python scripts/show_coverage --lines build/coverage.json

# The core tests with the lowest versions of the dependencies that pyproject.toml allows.
test-lowest:
	PYTHON=$(PYTHON) scripts/test_lowest

# 10,000 mutants of every kind of input; `make test` runs a short, fixed part of them.
fuzz: $(VENV)/test.done
	PYTHONPATH=tests $(BIN)/python -m fuzz --mutants 10000

format: $(VENV)/test.done
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(wildcard cpp/*.cpp cpp/core/* cpp/tests/*)

# The types of the compiled module, for mypy and editors.
stubs: $(VENV)/test.done
	scripts/write_stubs

# The list of public names, after one was added or removed on purpose.
public-api: $(VENV)/test.done
	$(BIN)/python scripts/write_public_api

# Run the quick checks before every commit.
hooks: $(VENV)/test.done
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "pre-commit>=4"
	$(BIN)/pre-commit install

wheel: $(VENV)/test.done
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	@ls dist/*.whl

speed: $(VENV)/test.done
	$(BIN)/python -m benchmarks.speed

clean:
	rm -rf build dist wheelhouse $(VENV)

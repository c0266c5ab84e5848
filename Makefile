# Two commands set everything up: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml CMakeLists.txt $(wildcard cpp/*.cpp cpp/core/*)
PYTEST_WORKERS ?= auto

.PHONY: demo test check lint types imports sanitize tests format stubs wheel speed clean

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
	$(BIN)/python -m pytest -n $(PYTEST_WORKERS) --dist worksteal

format: $(VENV)/test.done
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(wildcard cpp/*.cpp cpp/core/* cpp/tests/*)

# The types of the compiled module, for mypy and editors.
stubs: $(VENV)/test.done
	scripts/write_stubs

wheel: $(VENV)/test.done
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	@ls dist/*.whl

speed: $(VENV)/test.done
	$(BIN)/python -m benchmarks.speed

clean:
	rm -rf build dist wheelhouse $(VENV)

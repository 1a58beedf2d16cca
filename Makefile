# Everything starts from nothing: each target makes its own virtual environment first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
REPORT ?= report
MEMORY ?= $(REPORT)/countries

.PHONY: install reproduce test lint types bench clean

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --requirement examples/countries/requirements.txt --editable '.[dev,clients,ray]'
	touch $@

install: $(VENV)/installed

reproduce: install  ## compile the real table, ask it, check it, and settle the claims
	$(BIN)/georecall compile examples/countries/countries.csv -o $(MEMORY) --force
	$(BIN)/georecall ask $(MEMORY) France capital
	$(BIN)/georecall ask $(MEMORY) France "largest neighbour" capital country
	$(BIN)/georecall verify $(MEMORY)
	$(BIN)/georecall reproduce -o $(REPORT) || test $$? -eq 3  # a claim that fails is a result, not an error

test: install  ## the whole test suite
	OMP_NUM_THREADS=1 ORT_DISABLE_TELEMETRY=1 $(BIN)/pytest --numprocesses auto

lint: install
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: install
	$(BIN)/mypy

bench: install  ## ratios measured in one run
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[bench]'
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) report build dist .mypy_cache .pytest_cache .ruff_cache

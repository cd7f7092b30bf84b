# `make run` opens the app with the demo; `make test` runs the tests. Both install what they need first.
PYTHON ?= python3
BIN := .venv/bin
COMPILE := uv pip compile --universal --generate-hashes --no-header --python-version 3.11 -q

# Our matrices are small: a second BLAS thread doubles the work of a step and saves no time.
export OPENBLAS_NUM_THREADS ?= 1

# Images for containers often forbid byte code, and then each of hundreds of processes compiles the package again:
# it takes twice as long to audit a small file.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test test-all approve visit check format lint types bench docs lock clean

run: .venv/.run
	$(BIN)/streamlit run app.py

# A file's tests share what they build, so one worker has them all.
test: .venv/.dev
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder -m "not thorough"

# With browsers, simulations, kills, other engines and hostile processes: what the build server runs.
test-all: .venv/.dev
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

# What six audits say in each output, written anew: the difference is to be read before it is committed.
approve: .venv/.dev
	PYTHONPATH=.:tests:tests/approved $(BIN)/python -m outputs

# Every place and method, and files as people have them, on a desk and a phone: a quarter of an hour, and a table.
visit: .venv/.dev
	PYTHONPATH=.:tests:tests/browser:tests/importers:tests/pages $(BIN)/python -m visit_places $(ARGUMENTS)

check: .venv/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder -m "not thorough"

format: .venv/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: .venv/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: .venv/.dev
	$(BIN)/mypy

bench: .venv/.bench
	$(BIN)/python -m benchmarks

# What is measured against; nothing else needs it.
.venv/.bench: requirements/bench.txt .venv/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/bench.txt
	touch $@

# The site of docs/ in site/, built without the network; a broken link or an unknown name fails the build.
docs: .venv-docs/.done
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --strict --quiet

# Exact, hashed sets for every platform and Python version we support.
lock:
	$(COMPILE) requirements.txt -o requirements/run.lock
	$(COMPILE) requirements/dev.txt -o requirements/dev.lock -c requirements/run.lock
	$(COMPILE) requirements/docs.txt -o requirements/docs.lock
	for extra in postgres clickhouse spark warehouse sign-in; do \
	  $(COMPILE) requirements/$$extra.txt -o requirements/$$extra.lock -c requirements/run.lock || exit 1; \
	done

clean:
	rm -rf .venv .venv-docs .venv-objects site data/*.duckdb data/*.wal

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("Appellate needs Python 3.11 or newer, and this is " + sys.version.split()[0] + ". Name another with: make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv .venv

.venv/.run: requirements/run.lock | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.lock
	touch $@

.venv/.dev: requirements/dev.lock | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.lock
	touch $@ .venv/.run

# S3 for the tests, apart from the other environment: its boto is another than ours.
.venv-objects/.done: requirements/objects.txt
	$(PYTHON) -m venv .venv-objects
	.venv-objects/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/objects.txt
	touch $@

# Apart from the other environment: the site needs none of the product's packages, and the product none of its.
.venv-docs/.done: requirements/docs.lock
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/docs.lock
	touch $@

# Two commands do everything: `make up` and `make test`. Both need Python 3.11, 3.12 or 3.13 and nothing else.
PYTHON ?= $(or $(firstword $(foreach v,3.11 3.12 3.13,$(shell python$(v) -c '' 2>/dev/null && command -v python$(v)))),python3)
VENV := .venv
JUDGES := .venv-judge
BIN := $(VENV)/bin
# Two more than cores: whole stacks wait about as much as they work. No more than eight, as each may take 2 GB of memory.
JOBS ?= $(shell cores=$$(getconf _NPROCESSORS_ONLN); echo $$((cores < 6 ? cores + 2 : 8)))
# A stack is a dozen processes: where no bytecode of the sources is kept, each of them compiles all that it imports.
unexport PYTHONDONTWRITEBYTECODE
# As many processes of tests as cores and more: threads of a library's own would only wait for one another, at full speed.
test rounds check: export OMP_NUM_THREADS = 1

FAST := tests/unit tests/laws
# Workers take files from both ends (tests/support/scheduling.py): the short ones stand where they meet, so that none ends
# with a long one while the others have nothing left.
ALL := tests/system tests/browser $(FAST) tests/service

.DEFAULT_GOAL := help
.PHONY: help up down test rounds check style truth sabotage mutants bench drill load hostile judge lock schema clients generated clean

help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  \033[36m%-8s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

up: $(VENV)/.service ## Set everything up and run the service with the demo data (ARGS="--port 8081")
	@$(BIN)/itemindex up $(ARGS)

down: $(VENV)/.service ## Stop a service started with --detach
	@$(BIN)/itemindex down $(ARGS)

# Style and types beside the tests, which leave a core idle now and then. What they print comes whole, at the end.
beside_style = @log=$$(mktemp); $(MAKE) -s style >$$log 2>&1 & style=$$!; \
	$(1); tests=$$?; wait $$style; style=$$?; cat $$log; rm -f $$log; exit $$((tests | style))

test: $(VENV)/.test ## Run every check and every test
	$(call beside_style,$(BIN)/python -m pytest $(ALL) -n $(JOBS) --dist loadgroup --no-loadscope-reorder $(ARGS))

rounds: $(VENV)/.bench $(JUDGES)/.tools $(JUDGES)/.readers $(JUDGES)/.node ## Run a short round of every program of the tests, as CI does (ARGS=outages)
	@$(BIN)/python -m tests.rounds $(ARGS)

check: $(VENV)/.test ## The fast part: style, types, import direction, unit tests and laws
	$(call beside_style,$(BIN)/python -m pytest $(FAST) -n $(JOBS))

style: $(VENV)/.test
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache --no-logo

truth: $(VENV)/.test ## Compare records, reports and exports with DuckDB over the source files (ARGS="--questions 20 --seed 7")
	@$(BIN)/python -m tests.assurance.truth $(ARGS)

sabotage: $(VENV)/.test ## Plant faults in a copy, one at a time: a test or drill must notice each (ARGS="--only quota")
	@$(BIN)/python -m tests.assurance.sabotage.run $(ARGS)

mutants: $(VENV)/.test $(JUDGES)/.tools ## Change quotas, credentials and jobs at random places: which changes does no test notice? (ARGS="--only quota")
	@$(BIN)/python -m tests.assurance.sabotage.mutants $(ARGS)

bench: $(VENV)/.bench ## Measure every kind of call beside its peers; prints a table (ARGS=--json)
	@$(BIN)/python -m tests.assurance.perf.bench $(ARGS)

drill: $(VENV)/.test ## Cause failures on a stack of its own and count the losses (ARGS="jobs --kills 60")
	@$(BIN)/python -m tests.assurance.drills $(ARGS)

hostile: $(VENV)/.test ## Try the service from its own OpenAPI document, 20,000 cases (ARGS="--cases 50000 --seed 2")
	@$(BIN)/python -m tests.assurance.hostile.run $(ARGS)

load: $(VENV)/.test ## Let a mix of calls arrive faster and faster; writes build/load.html (ARGS=scenario.toml)
	@$(BIN)/python -m tests.assurance.perf.load $(ARGS)

judge: $(VENV)/.service $(JUDGES)/.tools $(JUDGES)/.readers $(JUDGES)/.node ## Let other checkers read document, front, code, manifests and files (ARGS=--strict)
	@$(BIN)/python -m tests.assurance.judges.run $(ARGS)

lock: $(VENV)/.service ## Renew the lock files from pyproject.toml
	@PIP="$(BIN)/pip" UV="$(BIN)/uv" sh requirements/lock.sh

clients: $(VENV)/.test $(JUDGES)/.node ## Write the types of both clients from the OpenAPI document, and compile the one for TypeScript
	@$(BIN)/python -m tests.support.client_packages.generate

generated: $(VENV)/.test ## Write what follows from declarations: examples, OpenAPI document, clients, recorded answers
	@$(BIN)/python -m tests.support.examples
	@$(BIN)/python -m tests.support.openapi > docs/openapi/v1.json
	@$(MAKE) -s clients
	@$(BIN)/python -m tests.service.http.test_recorded_answers

schema: $(VENV)/.test ## Write the schema that the migrations make to shared/db/schema.sql
	@$(BIN)/python -m tests.support.schema

clean: ## Remove the virtual environment (data in ./var stays)
	rm -rf $(VENV) $(JUDGES)

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null || \
	    { echo "Python 3.11, 3.12 or 3.13 is needed: install one, or name it: make PYTHON=/path/to/python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "This Python cannot make a virtual environment; on Debian and Ubuntu: apt install python3-venv"; exit 1; }

# The wheel of the Python client is what the service hands out; a fixed time makes the same sources the same bytes.
PACKED_AT := 499162500
$(VENV)/.service: requirements/service.lock pyproject.toml $(wildcard clients/python/*.* clients/python/itemindex_client/*.py) $(VENV)/bin/python
	@echo "Installing the service from requirements/service.lock …"
	@$(BIN)/python -m pip install --disable-pip-version-check -q --require-hashes -r requirements/service.lock
	@$(BIN)/python -m pip install --disable-pip-version-check -q --no-deps --no-build-isolation -e . -e clients/python
	@SOURCE_DATE_EPOCH=$(PACKED_AT) $(BIN)/python -m pip wheel --disable-pip-version-check -q --no-deps --no-build-isolation \
	    -w edge/docs/packages clients/python
	@touch $@

# The compiled TypeScript client comes out of its package, as compiling it needs npm.
$(VENV)/.test: requirements/test.lock edge/docs/packages/itemindex-client-1.0.0.tgz $(VENV)/.service
	@echo "Installing the tests' tools from requirements/test.lock …"
	@$(BIN)/python -m pip install --disable-pip-version-check -q --require-hashes -r requirements/test.lock
	@rm -rf clients/typescript/dist && tar -xzf $(word 2,$^) -C clients/typescript --strip-components=1 package/dist
	@touch $@

$(VENV)/.bench: requirements/bench.lock $(VENV)/.test
	@$(BIN)/python -m pip install --disable-pip-version-check -q --require-hashes -r requirements/bench.lock
	@touch $@

# Apart from $(VENV): some of these tools pin packages that the service needs in other versions.
$(JUDGES)/.tools: requirements/judge.lock $(VENV)/bin/python
	@echo "Installing the judges from requirements/judge.lock …"
	@$(BIN)/python -m venv $(JUDGES)
	@$(JUDGES)/bin/python -m pip install --disable-pip-version-check -q --require-hashes -r requirements/judge.lock
	@touch $@

$(JUDGES)/.readers: requirements/readers.lock $(VENV)/bin/python
	@echo "Installing the tools that read releases from requirements/readers.lock …"
	@$(BIN)/python -m venv $(JUDGES)/readers
	@$(JUDGES)/readers/bin/python -m pip install --disable-pip-version-check -q --require-hashes -r requirements/readers.lock
	@touch $@

# Without npm nothing is touched, so that a later run tries again; until then the run says that it is missing.
$(JUDGES)/.node: tests/assurance/judges/node/package-lock.json
	@if command -v npm >/dev/null; then \
	    echo "Installing the judges of npm from package-lock.json …"; \
	    mkdir -p $(JUDGES) && cp tests/assurance/judges/node/package.json tests/assurance/judges/node/package-lock.json $(JUDGES)/ && \
	    npm ci --prefix $(JUDGES) --ignore-scripts --no-audit --no-fund --loglevel=error && touch $@; \
	fi

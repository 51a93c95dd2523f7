# Every target sets up what it needs. `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STRICT ?= 0
# A failure is found again: chance is drawn alike in each run. `make deep` draws anew.
SAME = PYTHONHASHSEED=0
# The tests start thousands of processes: each loads what the first one compiled.
export PYTHONDONTWRITEBYTECODE :=
# Every wait of the tests is stretched so far: a busy machine is slow, never red.
export PATIENCE ?= 10
WORKFLOWS = $(wildcard workflows/*.yml examples/*.yml) .github/workflows/ci.yml .github/workflows/release.yml

.DEFAULT_GOAL := help

$(VENV)/bin/uv:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==0.13.8

$(VENV)/.run: requirements.lock requirements-build.lock pyproject.toml | $(VENV)/bin/uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock -r requirements-build.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.run
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements-dev.lock
	@touch $@

.PHONY: help demo test landing npm static engines engines-install attacks deep mutants check fmt lint types layers dead promises house bench soak replay pictures dist docs image lock clean

help: ## what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sort | awk -F':.*## ' '{printf "  make %-15s %s\n", $$1, $$2}'

demo: $(VENV)/.run ## the whole loop on a sample project, on this machine
	@$(BIN)/brat demo $(ARGS)

test: $(VENV)/.dev ## what a newcomer runs, in minutes: ARGS=tests/convoy for some of it
	@$(SAME) $(BIN)/python -m pytest -q -n 3 --dist worksteal --layer test $(ARGS)

landing: $(VENV)/.dev ## the tests that each change has to pass; STRICT=1 forbids skips
	@$(SAME) BRAT_STRICT=$(STRICT) .ci/tests $(BIN) --layer landing --durations 15 $(ARGS)

deep: $(VENV)/.dev engines-install npm $(VENV)/site/.whole ## everything there is: by night, and before a release
	@.ci/deep $(BIN) $(ARGS)

npm: $(VENV)/.dev ## what tests need of npm, as locked
	@$(BIN)/python -m tests.world.npm

engines-install: $(VENV)/.dev ## the pinned agent CLIs, into .engines/
	@$(BIN)/python -m tests.engines.install $(ENGINES_ARGS)

engines: ENGINES_ARGS = --versions
engines: engines-install ## every agent CLI against every fault of a model's vendor
	@BRAT_ENGINES=all BRAT_STRICT=1 PYTHONDEVMODE=1 $(BIN)/python -m pytest -q -n 2 --dist worksteal tests/engines $(ARGS)

attacks: $(VENV)/.dev ## every attack of an agent on every kind of machine, as a table; ARGS=host for one
	@$(BIN)/python -m tests.attacks.sweep $(ARGS)

mutants: $(VENV)/.dev ## break the rules on purpose: the tests must notice
	@$(BIN)/python -m tests.mutants.run $(ARGS)

static: lint types layers dead promises

check: static landing ## what CI runs

fmt: $(VENV)/.dev ## format the code
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix --quiet .

lint: $(VENV)/.dev
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/actionlint -shellcheck $(BIN)/shellcheck -ignore 'cache access limit' $(WORKFLOWS)
	@said=$$($(BIN)/zizmor --offline --quiet --no-progress --min-severity low $(WORKFLOWS) action.yml) || { echo "$$said"; exit 1; }
	@$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows $(WORKFLOWS)
	@$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-actions action.yml
	@$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-forms examples/forms/*.yml
	@$(BIN)/check-jsonschema --quiet --builtin-schema vendor.compose-spec deploy/fleet/compose.yaml
	@$(BIN)/shellcheck .ci/*
	@$(BIN)/hadolint --no-color Dockerfile

types: $(VENV)/.dev
	@$(BIN)/mypy --no-error-summary

layers: $(VENV)/.dev
	@said=$$($(BIN)/lint-imports --no-logo 2>&1) || { echo "$$said"; exit 1; }

dead: $(VENV)/.dev
	@$(BIN)/vulture

promises: $(VENV)/.dev ## what users were promised, and whether a test at landing holds it
	@$(BIN)/python -m tests.promises

house: $(VENV)/.dev ## the shape of the code, in figures; ARGS="--beside DIR"
	@$(BIN)/python -m benchmarks.house $(ARGS)

bench: $(VENV)/.dev ## the figures of docs/benchmarks.md
	@$(BIN)/python -m benchmarks.run $(ARGS)

soak: $(VENV)/.dev ## half an hour of convoys under kills; ARGS="--minutes 5"
	@$(BIN)/python -m benchmarks.soak $(ARGS)

replay: $(VENV)/.dev ## histories done again as convoys; ARGS="herd --beside DIR"
	@$(BIN)/python -m benchmarks.replay $(ARGS)

pictures: $(VENV)/.dev ## the pages as docs/pictures shows them; ARGS="--to DIR --kind png"
	@$(BIN)/python -m tests.pictures.take $(ARGS)

image: $(VENV)/.dev ## build the containers and test them; ARGS="bot runner runner-codex"
	@.ci/image $(ARGS)

dist: $(VENV)/.run ## build wheel and sdist of the commit twice, and compare: into dist/
	@.ci/dist $(BIN) dist

# Apart from the rest: MkDocs asks for versions of its own.
$(VENV)/site/.whole: requirements-site.lock | $(VENV)/bin/uv
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(VENV)/site
	@$(BIN)/uv pip install --quiet --python $(VENV)/site/bin/python --require-hashes -r requirements-site.lock
	@touch $@

.PHONY: site
site: $(VENV)/site/.whole ## the documents as a site, into dist/site; a link that leads nowhere fails
	@.ci/site $(VENV)/site/bin dist/site

docs: $(VENV)/.dev ## write what documents take from the code
	@$(BIN)/python -m tests.documents.pages

lock: $(VENV)/bin/uv ## pin what pyproject.toml asks for
	@$(BIN)/uv pip compile --quiet --generate-hashes --no-emit-index-url --no-annotate --no-header --python-version 3.11 pyproject.toml -o requirements.lock
	@$(BIN)/uv pip compile --quiet --generate-hashes --no-emit-index-url --no-annotate --no-header --python-version 3.11 --extra dev pyproject.toml -o requirements-dev.lock
	@$(BIN)/uv pip compile --quiet --generate-hashes --no-emit-index-url --no-annotate --no-header --python-version 3.11 --group build --constraint requirements.lock -o requirements-build.lock
	@$(BIN)/uv pip compile --quiet --generate-hashes --no-emit-index-url --no-annotate --no-header --python-version 3.11 --group release -o requirements-release.lock
	@$(BIN)/uv pip compile --quiet --generate-hashes --no-emit-index-url --no-annotate --no-header --python-version 3.11 --group site -o requirements-site.lock
	@for each in runner/engines/pins/aider tests/engines/node; do $(BIN)/uv pip compile --quiet --generate-hashes --no-emit-index-url --no-annotate --no-header --python-version 3.11 $$each/requirements.in -o $$each/requirements.lock; done
	@for each in tests/npm runner/engines/pins; do (cd $$each && npm install --silent --package-lock-only --omit-lockfile-registry-resolved --ignore-scripts); done

clean: ## remove what was made here
	rm -rf $(VENV) .engines .artifacts tests/npm/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis dist

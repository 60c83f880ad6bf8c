# Needs python3 (3.11 or newer), make and git. `make` alone lists the targets.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
COMPILE := $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --custom-compile-command "make requirements"

# Made up, so that the checks meant for a server have something to look at.
SERVER := DEBUG=false DATABASE_URL=postgresql://tabie@localhost/tabie ALLOWED_HOSTS=example.org \
	SECRET_KEY=only-for-the-checks-0123456789-abcdefghijklmnopqrstuvwxyz

.PHONY: help
help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 16

.PHONY: run
run: $(READY) .env ## Set up and serve http://127.0.0.1:8000/ with a worker
	@$(BIN)/python manage.py dev

.PHONY: worker
worker: $(READY) .env ## Run one more worker
	@$(BIN)/python manage.py runworker

.PHONY: test
test: check ## Set up, check and test, on PostgreSQL and on SQLite
	@$(BIN)/pytest
	@DATABASE_URL=sqlite:///.test.sqlite3 $(BIN)/pytest tests/jobs \
		--ignore tests/jobs/clients --ignore tests/jobs/storage

.PHONY: test-long
test-long: $(READY) .env ## Search longer for faults, with more requests and more histories
	@FUZZ_REQUESTS=1000 $(BIN)/pytest -m search --hypothesis-profile long
	@DATABASE_URL=sqlite:///.test.sqlite3 $(BIN)/pytest -m search --hypothesis-profile long tests/jobs

.PHONY: check
check: $(READY) .env ## Lint, types, imports, migrations, deployment
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@DATABASE_URL=sqlite://:memory: $(BIN)/python manage.py makemigrations --check --dry-run
	@$(SERVER) $(BIN)/python manage.py check --deploy --fail-level WARNING

.PHONY: bench
bench: $(READY) .env ## Measure the queue, its peers, the way to a picture, pages, console
	@$(BIN)/python -m bench
	@$(BIN)/python -m bench.pictures
	@$(BIN)/python -m bench.pages
	@$(BIN)/python -m bench.console

.PHONY: screenshots
screenshots: $(READY) .env ## Make docs/images anew; needs chromium and fonts-noto-cjk
	@$(BIN)/pytest -n 0 tests/browser/screenshots.py tests/browser/screenshots_console.py

.PHONY: messages
messages: $(READY) .env ## Collect the texts to translate and compile the catalogue; needs gettext
	@$(BIN)/python manage.py makemessages -l ja --add-location file --no-obsolete -i .venv -i .bench
	@$(BIN)/python manage.py compilemessages -l ja -i .venv -i .bench

.PHONY: stop
stop: ## Stop the embedded databases
	@[ ! -e $(READY) ] || $(BIN)/python -m config.embedded stop .postgres .postgres-test

.PHONY: requirements
requirements: $(READY) ## Pin the newest versions the .in files allow
	@for list in requirements requirements-gemini requirements-openai requirements-dev; do \
		$(COMPILE) $$list.in -o $$list.txt || exit 1; done

.PHONY: clean
clean: ## Remove what can be made again; the data in .postgres stays
	-@$(MAKE) -s stop
	@rm -rf $(VENV) .postgres-test .test*.sqlite3* .mypy_cache .pytest_cache .ruff_cache
	@rm -rf .import_linter_cache .hypothesis staticfiles

.env:
	@cp .env.example .env

$(READY): requirements-dev.txt
	@echo "Setting up $(VENV) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name it: make PYTHON=python3.12" >&2; exit 1; }
# Debian's python3 has no ensurepip without python3-venv; its pip can serve another environment.
	@$(PYTHON) -m venv --clear $(VENV) >/dev/null 2>&1 || { \
		$(PYTHON) -m venv --clear --without-pip $(VENV) && \
		$(PYTHON) -m pip --python $(BIN)/python install -qq pip; } || \
		{ echo "No pip for $(VENV): install python3-venv (or python3-pip)." >&2; exit 1; }
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r $<
	@touch $@

# Needs python3 (3.11 or newer), make and git. `make` alone lists the targets.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
TOOLS := $(VENV)/tools
COMPILE := $(BIN)/uv pip compile --quiet --upgrade --universal \
	--generate-hashes --no-emit-index-url --custom-compile-command "make requirements"

# In this order: the later lists keep to the versions of the earlier ones.
LISTS := requirements requirements-local requirements-uv requirements-gemini requirements-openai \
	requirements-metrics requirements-traces requirements-tasks requirements-dev

# uv is several times as fast as pip and checks the same hashes. pip installs where uv has no wheel,
# and where only pip knows the address of the package index.
PIP := $(BIN)/python -m pip install --disable-pip-version-check --require-hashes
define install
	@[ -x $(BIN)/uv ] || $(PIP) -qqq -r requirements-uv.txt 2>/dev/null || true
	@PATH="$(BIN):$$PATH" uv pip install --python $(BIN)/python --require-hashes -r $(1) || { \
		echo "uv could not install these packages: trying pip."; $(PIP) -r $(1); }
endef

# The tests start hundreds of processes. With this set, each would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

# Made-up values for the checks that need the settings of a server.
SERVER := DEBUG=false DATABASE_URL=postgresql://tabie@localhost/tabie ALLOWED_HOSTS=example.org \
	SECRET_KEY=only-for-the-checks-0123456789-abcdefghijklmnopqrstuvwxyz

.PHONY: help
help: ## List the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' Makefile | expand -t 16

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
		--ignore tests/jobs/clients --ignore tests/jobs/storage --ignore tests/jobs/vendors \
		--ignore tests/jobs/alerts \
		--ignore tests/jobs/console --ignore-glob '*/test_console*' --ignore-glob '*/test_process_*'

LONG := $(BIN)/pytest --long -m "search or few or long" --timeout 1800 --hypothesis-profile long

.PHONY: test-long
test-long: $(TOOLS) .env ## Search longer, try every variant, and console, alerts and killed workers on SQLite
	@FRESH=1 FUZZ_REQUESTS=1000 HOURS=24 SPAN=days KILLS=5 $(LONG)
	@SPAN=days KILLS=5 DATABASE_URL=sqlite:///.test.sqlite3 $(LONG) tests/jobs
	@DATABASE_URL=sqlite:///.test.sqlite3 $(BIN)/pytest --long tests/jobs/console \
		tests/jobs/*/test_console*.py tests/jobs/alerts tests/jobs/*/test_process_*.py

# PATRONI: the program, from an environment of its own with patroni[etcd3,psycopg3].
.PHONY: test-failover
test-failover: $(TOOLS) .env ## Let standbys take over again and again, and put PgBouncer in between (15 minutes)
	@STORM=2000 FAIL_OVER_EVERY=10 PATRONI="$(PATRONI)" $(BIN)/pytest -n 0 -rs --long --timeout 1800 \
		tests/jobs/db/test_failover.py tests/jobs/worker/test_process_failover.py tests/jobs/worker/test_process_pooler.py \
		tests/jobs/worker/test_process_patroni.py

.PHONY: test-year
test-year: $(TOOLS) .env ## Let five workers run a schedule every minute of a simulated year (45 minutes)
	@SPAN=year $(BIN)/pytest tests/jobs/schedules/test_five_workers.py

.PHONY: test-django6
test-django6: $(TOOLS) .env ## Run the tests on Django 6.0 and 6.1, with newer Pythons that are here
	@$(BIN)/python -m tests.newer_djangos $(TESTS)

.PHONY: judges
judges: $(TOOLS) ## Fetch other projects' tests of the Tasks API, which judge ours
	@$(BIN)/python -m tests.jobs.tasks.judges

.PHONY: check
check: $(TOOLS) .env ## Lint, types, imports, migrations, deployment
	@$(MAKE) --no-print-directory -j2 -O types rules

# mypy takes as long as all the others together.
.PHONY: types
types:
	@$(BIN)/mypy

.PHONY: rules
rules:
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/lint-imports
	@DATABASE_URL=sqlite://:memory: $(BIN)/python manage.py makemigrations --check --dry-run
	@$(SERVER) $(BIN)/python manage.py check --deploy --fail-level WARNING

.PHONY: bench
bench: $(READY) .env ## Measure the queue, its peers, the way to a picture, pages, console, LLM requests, archives, scale
	@$(BIN)/python -m bench
	@$(BIN)/python -m bench.pictures
	@$(BIN)/python -m bench.pages
	@$(BIN)/python -m bench.console
	@$(BIN)/python -m bench.llm
	@$(BIN)/python -m bench.archive
	@$(BIN)/python -m bench.scale

.PHONY: screenshots
screenshots: $(TOOLS) .env ## Make docs/images anew; needs chromium and fonts-noto-cjk
	@$(BIN)/pytest -n 0 tests/browser/screenshots.py tests/browser/screenshots_console.py

.PHONY: messages
messages: $(READY) .env ## Collect the texts to translate and compile the catalogue; needs gettext
	@$(BIN)/python manage.py makemessages -l ja --add-location file --no-obsolete -i .venv -i .bench -i .judges
	@$(BIN)/python manage.py compilemessages -l ja -i .venv -i .bench -i .judges

.PHONY: wheel
wheel: $(TOOLS) ## Build the package of the queue alone, in dist/
	@$(BIN)/uv build --wheel --quiet --out-dir dist && ls dist/*.whl

.PHONY: stop
stop: ## Stop everything that runs from this folder, the embedded databases last
	@[ ! -e $(READY) ] || { $(BIN)/python -m config.processes; code=$$?; \
		$(BIN)/python -m config.embedded stop .postgres .postgres-test \
			$(wildcard .databases/*/.postgres) && exit $$code; }

.PHONY: requirements
requirements: $(TOOLS) ## Pin the newest versions the .in files allow
	@for list in $(LISTS); do \
		$(COMPILE) --python-version 3.11 $$list.in -o $$list.txt || exit 1; done
	@for list in requirements-django60 requirements-django61; do \
		$(COMPILE) --python-version 3.12 --no-deps $$list.in -o $$list.txt || exit 1; done

.PHONY: clean
clean: ## Remove what can be made again; the data in .postgres and .databases stays
	-@$(MAKE) -s stop
	@rm -rf $(VENV) .judges .postgres-test .test*.sqlite3* .mypy_cache .pytest_cache .ruff_cache
	@rm -rf .import_linter_cache .hypothesis staticfiles dist

.env:
	@install -m 600 .env.example .env

# An interrupted installation can look complete. So an environment without this marker is made anew,
# and the marker is gone while the tools are being installed.
$(READY): requirements-local.txt
	@echo "Setting up $(VENV) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; name it: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv --clear --without-pip $(VENV)
# ensurepip alone takes longer than the rest, and Debian's python3 lacks it. So try python3's own
# pip first.
	@$(PYTHON) -m pip --python $(BIN)/python install -qqq --disable-pip-version-check \
		--require-hashes -r requirements-uv.txt 2>/dev/null || \
		$(BIN)/python -m ensurepip --default-pip >/dev/null 2>&1 || \
		$(PYTHON) -m pip --python $(BIN)/python install -qq pip || \
		{ echo "No pip for $(VENV): install python3-venv (or python3-pip)." >&2; exit 1; }
	$(call install,$<)
	@touch $@

$(TOOLS): requirements-dev.txt $(READY)
	@echo "Adding the tools for tests to $(VENV) ..."
	@rm $(READY)
	$(call install,$<)
	@touch $(READY) $@

# Everything here needs python3.11 or later, cargo and make; tests of pages are skipped without Chromium.

VENV := .venv
BIN := $(VENV)/bin
INSTRUCTIONS := $(CURDIR)/crates/sojourn/benches/packet_cost/instructions.json
MINUTES := 10
EVERY := 1
SEED := 1
DAMAGES := 5000
KILLS := 1000
RUST := $(shell find crates scenarios -name '*.rs' -o -name Cargo.toml -o -path '*/src/*.toml' -o -path '*/src/*.json' \
    -o -path 'scenarios/*.toml') Cargo.toml Cargo.lock

WEB := $(addprefix python/sojourn/lab/static/,sojourn.wasm sojourn-fast.wasm)

.PHONY: help fit-table run compiled web test guard crash emulate damage audit wheel sdist fuzz swarm mutants lint bench bench-peers record figures docs columns studies
.DEFAULT_GOAL := help

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST)

run: $(VENV)/installed ## Build sojourn and run the home scenario into out/home
	$(BIN)/sojourn run scenarios/home.toml --out out/home

web: $(WEB) ## Build the live page for any web host, into the package and out/web
	mkdir -p out
	rm -rf out/web
	cp -r python/sojourn/lab/static out/web

# Without the target the page is not built, and its tests say that they are skipped.
test: $(VENV)/installed $(VENV)/checks ## Run all tests but the long ones, with the build of make run
	@packages=$$(tests/programs.sh); [ -z "$$packages" ] || \
	    echo "Tests are skipped that need other programs: sudo apt-get install $$packages"
	@if crates/sojourn-web/build.sh; then $(MAKE) $(firstword $(WEB)); fi
	cargo test --workspace --locked
	$(BIN)/pytest --numprocesses auto --dist worksteal -m "not long"

guard: $(VENV)/installed $(VENV)/checks ## Check builds for users: what a packet costs, equal bits, both modules of the page; and run the long tests
	cargo bench -p sojourn --locked --bench packet_cost -- --check $(INSTRUCTIONS)
	@if crates/sojourn-web/build.sh; then $(MAKE) --jobs 2 web; fi
	$(BIN)/pytest tests/test_web_module.py tests/test_lab_page.py -k module
	$(BIN)/pytest --numprocesses auto --dist worksteal -m long

crash: $(VENV)/installed ## Kill commands at every place where they change files, for half an hour; EVERY=9 for each ninth
	$(BIN)/python tests/crash.py --every $(EVERY)

emulate: $(VENV)/installed $(VENV)/checks ## Emulate lines for kernel TCP, pings and datagrams beside simulations, and kill runs; KILLS=1000
	KILLS=$(KILLS) cargo test -p sojourn-emulate --locked
	$(BIN)/python tests/emulate.py

damage: $(VENV)/installed ## Damage stored results at random, and read them; DAMAGES=5000 of them
	@export FUZZ_SEED=$$(od -An -N4 -tu4 /dev/urandom | tr -d ' ') DAMAGES=$(DAMAGES) && \
	echo "FUZZ_SEED=$$FUZZ_SEED DAMAGES=$$DAMAGES" && $(BIN)/pytest tests/test_damage.py

audit: ## Check licences, sources and known vulnerabilities of Rust packages; needs cargo-deny
	cargo deny --locked check $(AUDIT)

OLD_LINUX = --zig --compatibility manylinux2014 --target $$(uname -m)-unknown-linux-gnu
# Wheels compile parts in WebAssembly, which costs this build some minutes.
WHEEL = maturin build --release --locked --features compiler $(if $(filter Linux,$(shell uname)),$(OLD_LINUX))

# Times in the wheel are those of the commit. Its profile lies beside it, and makes the same bytes again.
wheel: $(VENV)/release $(WEB) ## Build the wheel into out/wheels and test it in a fresh environment; PROFILE=FILE of an earlier build
	mkdir -p out
	rm -rf out/wheels out/wheel.profdata
	PATH="$(CURDIR)/$(BIN):$$PATH" && export SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) PROFILE="$(PROFILE)" && \
	    profile=$$(crates/sojourn-py/profile.sh $(CURDIR)/out/wheel.profdata $(WHEEL)) && \
	    RUSTFLAGS="$$profile" $(WHEEL) --out out/wheels
	python3 tests/wheel.py out/wheels/*.whl
	[ ! -f out/wheel.profdata ] || cp out/wheel.profdata "$$(ls out/wheels/*.whl).profdata"
	$(BIN)/cyclonedx-py requirements requirements.lock --pyproject pyproject.toml --output-reproducible \
	    --output-file out/wheels/python-packages.cyclonedx.json

sdist: $(VENV)/packages $(WEB) ## Build the source distribution into out/sdist, and test the wheel that pip builds of it
	rm -rf out/sdist
	$(BIN)/maturin sdist --out out/sdist
	$(BIN)/pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir out/sdist out/sdist/*.tar.gz
	python3 tests/wheel.py out/sdist/*.whl --of-sdist

# The tests whose names contain $(1), with fresh seeds, $(2) minutes in all.
define at_random
	@cargo test --workspace --locked --lib --tests --no-run
	@tests=$$(cargo test --workspace --locked --lib --tests -- --list $(1) 2>/dev/null | grep -c ': test$$') && \
	export FUZZ_SEED=$$(od -An -N4 -tu4 /dev/urandom | tr -d ' ') && \
	export FUZZ_SECONDS=$$(($(2) * 60 * $$(getconf _NPROCESSORS_ONLN) / tests)) && \
	echo "FUZZ_SEED=$$FUZZ_SEED FUZZ_SECONDS=$$FUZZ_SECONDS for each of $$tests tests" && \
	cargo test --workspace --locked --lib --tests -- --show-output $(1)
endef

fuzz: ## Run the tests at random and the fuzz targets with fresh seeds, MINUTES=10 for each
	$(call at_random,at_random,$(MINUTES))
	fuzz/run.sh $(MINUTES)

swarm: $(VENV)/installed ## Run random whole networks against what must be true of any, MINUTES=10 in all, and shipped ones twice as long
	$(call at_random,at_random::swarm,$(MINUTES))
	$(BIN)/python tests/twice.py

mutants: $(VENV)/checks ## Change laws in one place at a time, and count what their tests notice; MINUTES=30, SEED=1
	$(BIN)/python tests/mutants.py --minutes $(MINUTES) --seed $(SEED)
	$(BIN)/python tests/mutants_python.py --minutes $(MINUTES) --seed $(SEED)

lint: $(VENV)/checks ## Check formatting, lints and types
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	PYTHONPATH=python $(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/zizmor --offline --quiet --min-severity medium .github/workflows

bench: ## Measure the simulator's speed into bench.json
	cargo bench -p sojourn --locked --bench packet_cost -- --out $(CURDIR)/bench.json
	cargo bench -p sojourn --locked --bench queue_cost

record: ## Record what a packet costs in instructions, after a change that is worth it
	cargo bench -p sojourn --locked --bench packet_cost -- --record $(INSTRUCTIONS)

bench-peers: ## Compare it with ns-2 and ns-3, where they are installed
	@program=$$(cargo bench -p sojourn --locked --bench packet_cost --no-run 2>&1 | sed -n 's/.*Executable.*(\(.*\))/\1/p') && \
	python3 crates/sojourn/benches/peers/run.py "$$program"

figures: $(VENV)/installed $(VENV)/checks ## Draw the figures of docs and the tables of README and BENCHMARKS.md again
	$(BIN)/python -m sojourn_studies.queues docs/queues/img
	$(BIN)/python -m sojourn_docs figures docs/img

docs: $(VENV)/installed $(VENV)/checks ## Build the documentation site into out/site; a broken link fails, in the crates' own pages too
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet
	$(BIN)/python -m sojourn_docs sources out/docs
	$(BIN)/zensical build --clean --strict
	$(BIN)/python -m sojourn_docs live out/site
	$(BIN)/python -m sojourn_docs links out/site

columns: $(VENV)/installed ## Write docs/columns.md again, after a change of a table or a metric
	$(BIN)/python -m sojourn.report.definitions > docs/columns.md.new
	mv docs/columns.md.new docs/columns.md

studies: $(VENV)/installed $(VENV)/checks ## Run all studies at full length, for hours, and renew their stored results and pages
	@studies=$$($(BIN)/python -m sojourn_studies.framework.registry) && \
	for study in $$studies; do \
	    $(BIN)/sojourn study run $$study --alternatives --resume --out out/$$study || exit 1; \
	done && \
	$(BIN)/sojourn study snapshot $$(printf 'out/%s ' $$studies)
	$(BIN)/python -m sojourn.fit.proof

fit-table: $(VENV)/installed ## Simulate the lines again that sojourn fit learns from, for a quarter of an hour
	$(BIN)/python -m sojourn.fit.table

# Python files are used in place; a change of the Rust code or of pyproject.toml needs a new build. The compiler works
# beside pip.
$(VENV)/installed: $(VENV)/python $(RUST) pyproject.toml
	@echo 'Building the simulator: two to three minutes the first time'
	@$(MAKE) --jobs 2 --no-print-directory $(VENV)/packages compiled
	@PIP_QUIET=1 $(BIN)/maturin develop --profile local --locked --quiet
	@touch $@

compiled: $(VENV)/python
	@$(BIN)/maturin develop --profile local --locked --skip-install

# The live page's modules; crates/sojourn-web/build.sh says what they need.
$(WEB): $(RUST)
	@echo 'Building $(@F) of the live page: two to four minutes the first time'
	@MAKEFLAGS= crates/sojourn-web/build.sh $@

$(VENV)/python: requirements.lock
	python3 -m venv --clear $(VENV)
	@sed -n '/^maturin==/,/[^\\]$$/p' $< > $@.new
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement $@.new
	@mv $@.new $@

$(VENV)/packages: $(VENV)/python
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	@touch $@

# The linker for old Linux systems, and what lists the Python packages of a release.
$(VENV)/release: $(VENV)/packages release.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement release.lock
	@touch $@

# What tests, linters and documentation use beside it: three times as many packages.
$(VENV)/checks: $(VENV)/packages requirements-dev.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements-dev.lock
	@touch $@

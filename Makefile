# A thin face over CMake and tools/. `make help` lists what there is.
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 600
FAULTS ?= 2000
JOBS ?= $(shell nproc)
BUILD = build/release

build: ## build the library, the program and the tests (the default)
	@tools/setup build
	@cmake --preset release >/dev/null
	@cmake --build --preset release -j $(JOBS)

# What is installed, without tests and benchmarks: half of it all.
programs:
	@tools/setup build
	@cmake --preset release >/dev/null
	@cmake --build --preset release -j $(JOBS) --target src/all testbed/all

demo: programs ## build, then run the main job end to end
	@tools/demo $(BUILD)/espalier

check: ## install what is missing, build, and run every test and check
	@tools/setup
	@tools/check

fuzz: ## fuzz every reader for FUZZ_SECONDS each (600)
	@tools/setup
	@tools/check-fuzz $(FUZZ_SECONDS)

bench: build ## run the benchmarks
	@tools/bench $(BUILD)

soak: build ## SOAK_CALLS (100000) random broadcasts under each MPI
	@tools/soak $(BUILD)

faults: build ## FAULTS (2000) faults under each MPI while random collectives run
	@tests/faults/campaign $(BUILD) --faults $(FAULTS)

seeds: build ## run the unit tests that draw with SEEDS (20) other seeds
	@JOBS=$(JOBS) tools/seeds $(BUILD)

plans: build ## compare plans of other compilers and of the other architecture (qemu)
	@tools/setup build check cross
	@tools/check-plans

coverage: ## measure which lines the tests reach: build/coverage/report
	@tools/setup build check coverage
	@tools/coverage

format: ## put all C files into the project's layout
	@tools/setup check
	@tools/check-format --fix

walk: ## follow README.md on a bare Debian 12, as root: every command, every figure
	@tools/walk

deb: ## build the Debian packages into build/deb, and hold them to lintian
	@tools/deb

install: programs ## install under PREFIX (/usr/local)
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean: ## remove all that was built
	rm -rf build

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' Makefile

.PHONY: build programs demo check fuzz bench soak faults seeds plans coverage format walk deb install clean help

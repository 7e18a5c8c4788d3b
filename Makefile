.DEFAULT_GOAL := help
.PHONY: help demo run test test-all sandbox bench simulate simulate-long soak drill image documentation build lint format clean

# The same environment and flags as in scripts/lib.sh, so that no target rebuilds what another has built.
export SWIFT_DETERMINISTIC_HASHING := 1
export OPTIMIZE_CORE := 1
BUILD_FLAGS := --explicit-target-dependency-import-check error

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## payments through a misbehaving provider, in one command: ADAPTER=reference, stripe, paypay, adyen
	@scripts/demo $(if $(ADAPTER),--adapter $(ADAPTER))

run: ## the daemon and the provider simulator, until Ctrl-C
	@scripts/run

test: ## packages, lint, builds, all tests, simulation: what continuous integration runs
	@scripts/test

test-all: ## the same, the image, the long simulation, and the core under Thread Sanitizer
	@scripts/test-all

sandbox: ## the contract suite before sandboxes of real providers, by keys in the environment
	@scripts/sandbox

simulate: ## small exhaustive searches and seeds in virtual time: SEEDS=1200 FROM=1
	@scripts/simulate

simulate-long: ## every state of every scenario, planted bugs, and many seeds: SEEDS=20000 FROM=1
	@scripts/simulate --long

bench: ## the daemon on PostgreSQL against its references: RUNS=5 SECONDS_EACH=10 CLIENTS=64 STORED=1000000
	@scripts/bench

soak: ## daemons on one PostgreSQL pair through kills, freezes and failovers: MISHAPS=300 SEED=1
	@scripts/soak

drill: ## loses parts under load, measures and judges: NAME=all TARGET=local TIMES=1 PREVIOUS=…; NAME=list names them
	@scripts/drill $(or $(NAME),list) $(if $(filter-out list summary,$(NAME)),--target $(or $(TARGET),local) \
		--times $(or $(TIMES),1) $(if $(YES),--yes) $(if $(PREVIOUS),--previous $(PREVIOUS)))

image: ## the container image: TARGET=reconciled BASE=… IMAGE=…
	@scripts/image

documentation: ## the documentation of the libraries as a website, by DocC: OUTPUT=.build-documentation
	@scripts/documentation

build: ## a debug build
	@scripts/install-packages
	swift build $(BUILD_FLAGS)

lint: ## the style that swift format checks; the other rules are in Tests/StyleTests
	swift format lint --strict --recursive --parallel Sources Tests Package.swift

format: ## bring the sources into that style
	swift format --in-place --recursive --parallel Sources Tests Package.swift

clean: ## remove what was built and what the demo left
	rm -rf .build .build-thread-sanitizer .build-deployment .build-packages .build-terraform .build-documentation demo-run dist

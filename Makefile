# Tests that need more than cargo. Everything is built below target/.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

# How many random allocator cases to compare, and which ones.
CASES ?= 10000
SEED ?= $(shell date +%s)

.PHONY: fuzz
fuzz: ## Compare random allocator cases with the real allocator, CASES=n SEED=n
	KUBECTL_DRA_FUZZ_CASES=$(CASES) KUBECTL_DRA_FUZZ_SEED=$(SEED) cargo test --locked --test allocator_fuzz

# Go knows what has changed.
.PHONY: target/oracle
target/oracle:
	cd tests/go && go build -p 1 -o ../../target/oracle ./cmd/oracle

.PHONY: bench-allocator
bench-allocator: ## Measure the allocator beside the Go library, for docs/performance.md
	cargo bench --locked --no-default-features --bench allocator

# Tests that need more than cargo. Everything is built below target/.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

# How many random allocator cases to compare, and which ones.
CASES ?= 10000
SEED ?= $(shell date +%s)
# Reads cases with expectations on standard input and fails when an answer differs.
FUZZ_CHECK ?= cat > /dev/null

.PHONY: fuzz
fuzz: target/oracle ## Compare random allocator cases with the real allocator, CASES=n SEED=n
	@echo "seed $(SEED)"
	target/oracle generate --seed $(SEED) --count $(CASES) --expect --coverage | $(FUZZ_CHECK)

# Go knows what has changed.
.PHONY: target/oracle
target/oracle:
	cd tests/go && go build -p 1 -o ../../target/oracle ./cmd/oracle

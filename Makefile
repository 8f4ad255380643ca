# Tests and benchmarks that need more than cargo. Everything is built below target/.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

# Go fetches a newer toolchain where a release of Kubernetes needs one.
export GOTOOLCHAIN ?= auto

.PHONY: test-all
test-all: ## Run all tests, each proof that is repeated as often as it ever is: hours
	KUBECTL_DRA_TEST_EFFORT=full cargo test --locked

# A directory for pictures of the pages, and the time in milliseconds in which each must be there.
SHOTS ?=
LOAD_MS ?= 2000

.PHONY: report-check
report-check: ## Look at pages of `report` in Chromium, one of 5,000 nodes among them; needs chromium, node and npm; SHOTS=directory
	mkdir -p target/browser
	cp tests/browser/package.json tests/browser/package-lock.json target/browser/
	npm ci --prefix target/browser --no-audit --no-fund --ignore-scripts
	KUBECTL_DRA_TEST_BROWSER=required SHOTS=$(SHOTS) LOAD_MS=$(LOAD_MS) \
		cargo test --locked --test it report::a_browser -- --nocapture

# The variable that names what runs the programs of the tests.
HOST_RUNNER = CARGO_TARGET_$$(rustc -vV | sed -n 's/^host: //p' | tr a-z- A-Z_)_RUNNER

# `quick` shows that programs build and run, `full` also how large they are.
BUILD ?= quick

.PHONY: release-check
release-check: ## Build the archives that can be built here, and install them with krew, BUILD=full for optimized ones
	release/check.sh $(BUILD)

.PHONY: size
size: ## Count lines of code without tests, comments and blank lines, by crate and directory
	tests/size.py

.PHONY: timings
timings: ## Run the tests and put the table of their groups into docs/internals/testing.md
	mkdir -p target
	env "$(HOST_RUNNER)=$(CURDIR)/tests/timed.sh" cargo test --locked 2>&1 | tee target/tests.log
	tests/timings.py target/tests.log --into docs/internals/testing.md

# How many random allocator cases to compare, and which ones.
CASES ?= 10000
SEED ?= $(shell date +%s)

# Which release to compare with: that of the tests, or an older one such as 1.35.
RELEASE ?=

.PHONY: fuzz
fuzz: ## Compare random allocator cases with the real allocator, CASES=n SEED=n, of an older release with RELEASE=1.35
	KUBECTL_DRA_FUZZ_CASES=$(CASES) KUBECTL_DRA_FUZZ_SEED=$(SEED) KUBECTL_DRA_FUZZ_RELEASE=$(RELEASE) \
		cargo test --locked --test allocator_fuzz -- $(if $(RELEASE),older_releases,random_cases)

.PHONY: fuzz-cel
fuzz-cel: ## Compare random selectors with the real library, CASES=n SEED=n, of an older release with RELEASE=1.35
	KUBECTL_DRA_FUZZ_CASES=$(CASES) KUBECTL_DRA_FUZZ_SEED=$(SEED) KUBECTL_DRA_FUZZ_RELEASE=$(RELEASE) \
		cargo test --locked --test cel_fuzz -- $(if $(RELEASE),older_releases,random_selectors)

# How long each target of the fuzzer runs.
MINUTES ?= 10

.PHONY: fuzz-input
fuzz-input: ## Give random input to everything that reads input, MINUTES=n for each target, TARGETS="json cel" for some of them
	tests/fuzz/run.sh $$(( $(MINUTES) * 60 )) $(TARGETS)

# How many files and lists are damaged, of each class of docs/internals/security.md.
MUTATIONS ?= 10000

.PHONY: mutations
mutations: ## Damage files and live lists: no verdict may turn good; MUTATIONS=n of each class
	KUBECTL_DRA_MUTATIONS=$(MUTATIONS) cargo test --locked --lib cli::tests::damaged
	KUBECTL_DRA_MUTATIONS=$(MUTATIONS) cargo test --locked --test it hostile::servers::no_live_list

# How long members come and go while their claims are converted.
ROUNDS ?= 200

.PHONY: soak-convert
soak-convert: ## Convert claims of a real control plane while their users come and go, ROUNDS=n
	KUBECTL_DRA_SOAK=$(ROUNDS) cargo test --locked --test it live::convert::races

# How many pods of all sorts `run` watches.
PODS ?= 2000

.PHONY: shadow
shadow: ## Watch the real controllers at work on PODS=n pods of all sorts
	KUBECTL_DRA_SHADOW=$(PODS) cargo test --locked --test it live::run::beside_many -- --ignored --nocapture

.PHONY: healthy
healthy: ## Let PODS=n pods run beside real kubelets, and see that nothing is said of them
	KUBECTL_DRA_HEALTHY=$(PODS) cargo test --locked --test it live::after_bind::healthy -- --ignored --nocapture

.PHONY: node
node: ## Make 41 situations on real nodes, with containers; needs root, cgroups and runc
	cargo test --locked --test it live::node:: -- --ignored --test-threads=4

# How many pods a take-over evicts together, and how many of its leaders are killed.
EVICTIONS ?= 10000
KILLS ?= 50

.PHONY: evict-many
evict-many: ## Let a take-over evict EVICTIONS=n pods that are due together
	KUBECTL_DRA_EVICTIONS=$(EVICTIONS) cargo test --locked --test it live::extremes::pods_that_are_due -- --ignored --nocapture

.PHONY: kill-leaders
kill-leaders: ## Kill the leader of two replicas of a take-over KILLS=n times
	KUBECTL_DRA_KILLS=$(KILLS) cargo test --locked --test it live::extremes::leaders -- --ignored --nocapture

.PHONY: forget-history
forget-history: ## Let etcd forget the history that a take-over watches, and that one which was stopped has yet to see
	cargo test --locked --test it live::extremes::a_history -- --ignored --nocapture

# For how long pods come and go beside a take-over, and how many there are in all; PODS means others elsewhere.
.PHONY: soak-run
soak-run: MINUTES = 20
soak-run: PODS = 200000
soak-run: ## Let PODS=n pods come and go beside a take-over for MINUTES=n; its memory must stay flat
	KUBECTL_DRA_SOAK_MINUTES=$(MINUTES) KUBECTL_DRA_SOAK_PODS=$(PODS) cargo test --locked --test it live::extremes::memory -- --ignored --nocapture

# How large a cluster the exporter watches, and the release of kube-state-metrics that it is measured beside.
KUBE_STATE_METRICS ?= v2.18.0

.PHONY: export-scale
export-scale: ## Measure `export` beside kube-state-metrics, at rest and at 100 changes a second; CLAIMS=n
	cargo build --locked --release
	cd "$$(go mod download -json k8s.io/kube-state-metrics/v2@$(KUBE_STATE_METRICS) | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')" && \
		go build -o $(CURDIR)/target/tools/bin/kube-state-metrics .
	KUBECTL_DRA_SCALE_CLAIMS=$(CLAIMS) KUBECTL_DRA_BENCH_PROGRAM=$(CURDIR)/target/release/kubectl-dra \
		KUBECTL_DRA_KUBE_STATE_METRICS=$(CURDIR)/target/tools/bin/kube-state-metrics \
		cargo test --locked --test it live::export_scale -- --ignored --nocapture

# How many sets of roles and bindings are compared.
SETS ?= 10000

.PHONY: rbac
rbac: ## Compare who may do what with a real API server, on SETS=n random sets of roles and bindings
	KUBECTL_DRA_RBAC_SETS=$(SETS) cargo test --locked --test it live::rbac -- --nocapture

# Which releases to go back to.
RELEASES ?= 1.36,1.35

.PHONY: downgrade
downgrade: ## Replace a real control plane by older ones with pods running, RELEASES=list
	KUBECTL_DRA_DOWNGRADE=$(RELEASES) cargo test --locked --test it live::convert::downgrade -- --ignored --nocapture

.PHONY: older
older: RELEASES = 1.36,1.35,1.34
older: ## Compare placements by real schedulers of older releases with dry runs, RELEASES=list
	KUBECTL_DRA_RELEASES=$(RELEASES) cargo test --locked --test it live::older::placement -- --ignored --nocapture

.PHONY: known-bugs
known-bugs: RELEASES = 1.37.1,1.36.1,1.35
known-bugs: ## Let real 1.37.1, 1.36.1 and 1.35.8 show bugs that check reports, RELEASES=list
	KUBECTL_DRA_RELEASES=$(RELEASES) cargo test --locked --test it live::older::bugs -- --ignored --nocapture

.PHONY: upgrade
upgrade: ## Replace a real control plane of 1.35 by 1.36 and 1.37 with pods running
	cargo test --locked --test it live::older::upgrade -- --ignored --nocapture

# Go knows what has changed.
.PHONY: target/oracle
target/oracle:
	cd tests/go && go build -p 1 -o ../../target/oracle ./cmd/oracle

.PHONY: bench-allocator
bench-allocator: ## Measure the allocator beside the Go library, for docs/internals/performance.md
	cargo bench --locked --bench allocator

.PHONY: bench-rules
bench-rules: ## Measure the eviction timeline, check, events and stages on a large cluster, beside decoding it
	cargo bench --locked --bench eviction --bench findings --bench events --bench stage

# How many claims the live benchmark reads.
CLAIMS ?= 50000
# What measures need not be optimized, only what is measured.
BENCH := KUBECTL_DRA_BENCH_PROGRAM=$(CURDIR)/target/release/kubectl-dra cargo bench --locked --profile dev

.PHONY: bench
bench: ## Measure against kubectl and jq, and print the tables of docs/internals/performance.md; CLAIMS=n
	@for tool in jq /usr/bin/time; do command -v $$tool > /dev/null || \
		{ echo "$$tool is missing: apt-get install jq time" >&2; exit 1; }; done
	cargo build --locked --release
	$(BENCH) --bench files
	$(BENCH) --bench live -- $(CLAIMS)
	$(MAKE) bench-rules

.PHONY: bench-hostile
bench-hostile: ## Measure the worst files of 1 MB, each with each command; they must stay below 10 s and 500 MiB
	cargo build --locked --release
	$(BENCH) --bench hostile

# How many claims the benchmark of writes converts.
WRITES ?= 1000

.PHONY: bench-convert
bench-convert: ## Measure planning and writing of conversions, for docs/internals/performance.md; WRITES=n
	cargo build --locked --release
	cargo bench --locked --bench conversion
	KUBECTL_DRA_BENCH_PROGRAM=$(CURDIR)/target/release/kubectl-dra cargo bench --locked --bench writes -- $(WRITES)

.PHONY: bench-run
bench-run: ## Measure the controllers of `run` beside those of kube-controller-manager, for docs/internals/performance.md; PODS=n
	cargo build --locked --release
	$(BENCH) --bench run -- $(PODS)

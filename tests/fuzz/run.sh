#!/usr/bin/env bash
# Runs fuzz targets for some seconds each, two at a time: run.sh SECONDS [TARGET...]
#
# New inputs go to target/fuzz/corpus, those that break something to target/fuzz/artifacts, and their path is printed. With RUNS=n
# each target takes n inputs instead, however long that takes.
set -euo pipefail
cd "$(dirname "$0")/../.."

seconds=$1
shift
root=$PWD
tools=$root/target/tools
version=0.13.2
if [ "$("$tools/bin/cargo-fuzz" --version 2>/dev/null)" != "cargo-fuzz $version" ]; then
  cargo install --quiet --locked --debug --root "$tools" "cargo-fuzz@$version"
fi
export PATH=$tools/bin:$PATH

# Without a sanitizer stable Rust can build it: the program has no unsafe code that one could look at.
cargo fuzz build --fuzz-dir tests/fuzz --sanitizer none --release --target-dir target/fuzz
programs=$(dirname "$(ls -t target/fuzz/*/release/json | head -n 1)")

targets=("$@")
if [ "${#targets[@]}" -eq 0 ]; then
  for file in tests/fuzz/fuzz_targets/*.rs; do
    targets+=("$(basename "$file" .rs)")
  done
fi

mkdir -p target/fuzz/logs
one() {
  local target=$1 log=target/fuzz/logs/$1.log
  mkdir -p "target/fuzz/corpus/$target" "target/fuzz/artifacts/$target"
  local limit=(-max_total_time="$seconds")
  if [ -n "${RUNS:-}" ]; then limit=(-runs="$RUNS"); fi
  # An input may take ten seconds and 500 MiB beside what the fuzzer itself keeps, as docs/reference/limits.md promises.
  if "$programs/$target" "${limit[@]}" -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=500 -max_len=65536 -print_final_stats=1 \
    -artifact_prefix="target/fuzz/artifacts/$target/" "target/fuzz/corpus/$target" "tests/fuzz/corpus/$target" >"$log" 2>&1; then
    echo "$target: $(grep -c . "$log") lines, $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs, nothing found"
  else
    echo "$target: FAILED"
    tail -n 60 "$log"
    return 1
  fi
}

failed=0
running=0
for target in "${targets[@]}"; do
  one "$target" &
  running=$((running + 1))
  if [ "$running" -ge "${JOBS:-2}" ]; then
    wait -n || failed=$((failed + 1))
    running=$((running - 1))
  fi
done
while [ "$running" -gt 0 ]; do
  wait -n || failed=$((failed + 1))
  running=$((running - 1))
done
passed=$((${#targets[@]} - failed))
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

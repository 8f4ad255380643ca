#!/usr/bin/env bash
# Runs a test program and prints the seconds of each test, and of the program at the end:
#     CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=tests/timed.sh cargo test 2>&1 | tee LOG
# `tests/timings.py LOG` makes tables of that.
start=$EPOCHREALTIME
# In one word: a program with a harness of its own takes it for an option, not for the name of a test.
RUSTC_BOOTSTRAP=1 "$@" -Zunstable-options --report-time
code=$?
LC_ALL=C awk -v "start=${start/,/.}" -v "end=${EPOCHREALTIME/,/.}" -v "program=$1" \
  'BEGIN { printf "took %.1f s: %s\n", end - start, program }'
exit $code

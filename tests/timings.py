#!/usr/bin/env python3
"""Makes tables of the times in a log of tests/timed.sh.

    tests/timings.py LOG                     the groups of tests
    tests/timings.py LOG --slowest 10        the slowest tests
    tests/timings.py LOG --into PAGE         puts the groups into a page, between the two comments that name this script
"""

import argparse
import re
import sys
from collections import defaultdict

TEST = re.compile(r"^test (\S+)(?: - should panic)? \.\.\. (?:.*)\b(ok|FAILED|ignored)\b.*?(?:<([0-9.]+)s>)?$")
# Output of the test, and that of the compiler's, may stand between its name and its result.
RESULT = re.compile(r"^(ok|FAILED) <([0-9.]+)s>$")
PROGRAM = re.compile(r"^took ([0-9.]+) s: \S*?/([a-z_]+)-[0-9a-f]+$")
OWN_HARNESS = re.compile(r"^(\w+): (ok|FAILED)")

# What a program, or a part of one, proves, and where it also runs with more cases.
GROUPS = {
    "kubectl_dra": ("Rules, beside the code", "more random cases with large effort"),
    "allocator_cases": ("Allocator, cases in files, beside the Go library", ""),
    "allocator_fuzz": ("Allocator, random cases, beside the Go libraries", "3,000 with large effort; `make fuzz`"),
    "cel": ("CEL, cases in files, beside the Go library", ""),
    "cel_allocations": ("CEL, memory", ""),
    "cel_fuzz": ("CEL, random selectors, beside the Go libraries", "3,000 with large effort; `make fuzz-cel`"),
    "waiting_fuzz": ("Waiting, random cases, beside the Go library", "3,000 with large effort"),
    "it": ("Program, offline", "more inputs and widths with large effort"),
    "it live": ("Program, real control plane", "ignored ones with `make`"),
}


class Group:
    def __init__(self):
        self.tests, self.ignored, self.seconds = 0, 0, 0.0


def read(log):
    """The tests of a log as (program, name, result, seconds)."""
    found, pending, name = [], [], None
    for line in log:
        line = line.rstrip("\n")
        if match := TEST.match(line):
            pending.append((match[1], match[2], float(match[3] or 0)))
            name = None
        elif match := re.match(r"^test (\S+) \.\.\. ", line):
            name = match[1]
        elif name and (match := RESULT.match(line)):
            pending.append((name, match[1], float(match[2])))
            name = None
        elif match := OWN_HARNESS.match(line):
            pending.append((match[1], match[2], None))
        elif match := PROGRAM.match(line):
            # A program with a harness of its own tells no times.
            untimed = sum(seconds is None for _, _, seconds in pending)
            for name, result, seconds in pending:
                seconds = float(match[1]) / untimed if seconds is None else seconds
                found.append((match[2], name, result, seconds))
            pending, name = [], None
    return found


def group_of(program, name):
    if program == "it" and name.startswith("live::"):
        return "it live"
    return program if program in GROUPS else "kubectl_dra"


def table(tests):
    groups = defaultdict(Group)
    for program, name, result, seconds in tests:
        group = groups[group_of(program, name)]
        if result == "ignored":
            group.ignored += 1
        else:
            group.tests += 1
            group.seconds += seconds
    lines = ["| Group | Run | Tests | On demand | Seconds | More |", "|---|---|---:|---:|---:|---|"]
    for key, (title, more) in GROUPS.items():
        if key not in groups:
            continue
        group = groups[key]
        run = {"kubectl_dra": "--lib", "it": "--test it -- --skip live::", "it live": "--test it live::"}.get(key, f"--test {key}")
        lines.append(f"| {title} | `cargo test {run}` | {group.tests} | {group.ignored or ''} | {group.seconds:.0f} | {more} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("log")
    parser.add_argument("--slowest", type=int, metavar="N")
    parser.add_argument("--into", metavar="PAGE")
    args = parser.parse_args()
    with open(args.log, encoding="utf-8", errors="replace") as log:
        tests = read(log)
    if not tests:
        sys.exit(f"{args.log} has no times of tests: run them with tests/timed.sh")
    if args.slowest:
        for program, name, _, seconds in sorted(tests, key=lambda test: -test[3])[: args.slowest]:
            print(f"{seconds:8.1f} s  {program}  {name}")
    elif args.into:
        with open(args.into, encoding="utf-8") as page:
            text = page.read()
        begin, end = "<!-- tests/timings.py -->\n", "<!-- end of tests/timings.py -->"
        if begin not in text or end not in text:
            sys.exit(f"{args.into} has no place for the table")
        before, rest = text.split(begin, 1)
        after = rest.split(end, 1)[1]
        with open(args.into, "w", encoding="utf-8") as page:
            page.write(f"{before}{begin}\n{table(tests)}\n\n{end}{after}")
    else:
        print(table(tests))


main()

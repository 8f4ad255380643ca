#!/usr/bin/env python3
"""Counts lines of code, without tests, comments and blank lines, by crate and folder: tests/size.py [ROOT]"""

import re
import sys
from collections import Counter
from pathlib import Path

# What must not be looked into, in the order in which it is tried: comments, raw texts, texts, characters.
OPAQUE = re.compile(
    r'(?P<comment>//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)'
    r'|b?r(?P<hashes>#*)".*?"(?P=hashes)'
    r'|b?"(?:[^"\\]|\\.)*"'
    r"|b?'(?:[^'\\\n]|\\[^\n]{1,9}?)'",
    re.S,
)
TEST = re.compile(r"#\[cfg\((?:test|doctest|all\(test, [^\]]*|any\(test, [^\]]*)\)?\)?\]")


def blank(text):
    """The text with nothing but line feeds left."""
    return re.sub(r"[^\n]", " ", text)


def opaque(text):
    """Comments are blanked, and texts filled with a letter, so that lines stay lines."""
    return OPAQUE.sub(lambda m: blank(m[0]) if m["comment"] else re.sub(r"[^\n]", "x", m[0]), text)


def end_of_item(code, at):
    """Where the item that begins at `at` ends: behind its `;`, or behind its braces."""
    depth = 0
    for place in range(at, len(code)):
        c = code[place]
        if c in "{([":
            depth += 1
        elif c in "})]":
            depth -= 1
            if depth == 0 and c == "}":
                return place + 1
        elif c in ";," and depth == 0:
            return place + 1
    return len(code)


def without_tests(code):
    """The code without items for tests, and the names of the modules that are files for tests."""
    modules = set()
    while found := TEST.search(code):
        end = end_of_item(code, found.end())
        item = code[found.start() : end]
        if module := re.search(r"\bmod (\w+);", item):
            modules.add(module[1])
        code = code[: found.start()] + blank(item) + code[end:]
    return code, modules


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)
    sources = [root / "src", *sorted(root.glob("crates/*/src"))]
    total = 0
    for source in (source for source in sources if source.parent.name != "dra-testing"):
        for_tests, codes = set(), {}
        for path in sorted(source.rglob("*.rs")):
            codes[path], modules = without_tests(opaque(path.read_text()))
            folder = path.parent if path.name in ("lib.rs", "main.rs", "mod.rs") else path.with_suffix("")
            for_tests |= {folder / module for module in modules}
        folders = Counter()
        for path, code in codes.items():
            if not any(test == path.with_suffix("") or test in path.parents for test in for_tests):
                inside = path.relative_to(source).parts
                lines = sum(1 for line in code.split("\n") if line.strip())
                folders[inside[0] if len(inside) > 1 else ""] += lines
        name = "kubectl-dra" if source == root / "src" else source.parent.name
        lines = sum(folders.values())
        total += lines
        print(f"{lines:8,}  {name}")
        for folder, lines in sorted(folders.items(), key=lambda item: -item[1]):
            if folder and len(folders) > 1:
                print(f"{lines:16,}  {folder}")
    print(f"{total:8,}  in all")


if __name__ == "__main__":
    main()

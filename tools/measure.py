#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The house's figures about itself: how long functions are, how many arguments they take, how many
of our headers one file pulls in.  Prints a table per room and exits 1 when a bound is broken.

Functions are found by the house style: a definition starts in column 0, its body is the lines from
"{" in column 0 to "}" in column 0.  `home` is the length of the function in which a random line
lives (line-weighted median)."""
import os
import re
import sys

ROOMS = ["include", "src", "coll", "pml", "runtime", "launcher", "tools", "examples"]
# Functions whose parameters a foreign library prescribes, because it calls them.
PRESCRIBED = {"runtime/boot_pmix.c", "launcher/pmix_upcall.c"}
BOUNDS = {"p90": 40, "p99": 90, "max": 80, "home": 28, "args": 6, "file": 1000, "headers": 20}


def sources(top, room):
    for folder, _, names in os.walk(os.path.join(top, room)):
        if os.path.basename(folder) in ("generated", "api"):
            continue
        for name in sorted(names):
            if name.endswith((".c", ".h")):
                yield os.path.join(folder, name)


def functions(lines):
    """Yield (name, length, arguments, first line) of each function definition."""
    start = None
    for i, line in enumerate(lines):
        if line == "{" and start is None and i and not lines[i - 1].startswith(("=", "#")):
            head = i - 1
            while head > 0 and not lines[head - 1].rstrip().endswith((";", "}", "*/")) and \
                    lines[head - 1].strip() and not lines[head - 1].startswith("#"):
                head -= 1
            text = " ".join(lines[head:i])
            found = re.search(r"(\w+)\s*\(", text)
            if found and not re.match(r"(static |const )*(struct|enum|union) \w+\s*$", text):
                start = (head, found.group(1), text)
        elif line == "}" and start is not None:
            head, name, text = start
            yield name, i - head + 1, count_arguments(text), head + 1
            start = None


def count_arguments(text):
    inside = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", text)
    open_at = inside.find("(")
    depth, commas = 0, 0
    body = inside[open_at:]
    for c in body:
        depth += (c == "(") - (c == ")")
        commas += c == "," and depth == 1
        if depth == 0:
            break
    return 0 if re.match(r"\(\s*(void)?\s*\)", body) else commas + 1


def headers(top, path, seen):
    for name in re.findall(r'^#include "([^"]+)"', open(path).read(), re.M):
        for base in (top, os.path.join(top, "include")):  # generated headers are not ours to read
            full = os.path.join(base, name)
            if os.path.exists(full) and full not in seen:
                seen.add(full)
                if base == top:  # a reader knows mpi.h from the standard, whatever it includes
                    headers(top, full, seen)
    return seen


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else 0


def home(values):
    total, half = sum(values), 0
    for v in sorted(values):
        half += v
        if 2 * half >= total:
            return v
    return 0


def main():
    top = sys.argv[1] if len(sys.argv) > 1 else "."
    broken, every, todo = [], [], 0
    print(f"{'room':10}{'files':>6}{'lines':>8}{'comm.':>7}{'med':>5}{'p90':>5}{'p99':>5}{'max':>5}"
          f"{'home':>6}{'headers':>9}")
    for room in ROOMS + ["all"]:
        lengths, files, total, comments, deepest = [], 0, 0, 0, 0
        for path in sources(top, room) if room != "all" else []:
            lines = open(path).read().split("\n")
            text = "\n".join(lines)
            files, total = files + 1, total + len(lines)
            comments += sum(c.count("\n") + 1 for c in re.findall(r"/\*.*?\*/", text, re.S))
            todo += len(re.findall(r"\b(TODO|FIXME|XXX)\b", text))
            depth = len(headers(top, path, set()))
            deepest = max(deepest, depth)
            short = os.path.relpath(path, top)
            if depth > BOUNDS["headers"]:
                broken.append(f"{short}: {depth} of our headers; the bound is {BOUNDS['headers']}")
            if len(lines) > BOUNDS["file"]:
                broken.append(f"{short}: {len(lines)} lines; the bound is {BOUNDS['file']}")
            for name, length, arguments, at in functions(lines):
                lengths.append(length)
                if length > BOUNDS["max"]:
                    broken.append(f"{short}:{at}: {name} has {length} lines; the bound is 80")
                prescribed = room == "src" and name.startswith(("xmpi_", "xmpix_")) or short in PRESCRIBED
                if arguments > BOUNDS["args"] and not prescribed:
                    broken.append(f"{short}:{at}: {name} has {arguments} parameters; at most 6")
        every += [(lengths, files, total, comments, deepest)]
        if room == "all":
            lengths = sum((e[0] for e in every), [])
            files, total, comments = (sum(e[k] for e in every) for k in (1, 2, 3))
            deepest = max(e[4] for e in every)
            for key, value in (("p90", percentile(lengths, .9)), ("p99", percentile(lengths, .99)),
                               ("home", home(lengths))):
                if value > BOUNDS[key]:
                    broken.append(f"{key} of function lengths is {value}; the bound is {BOUNDS[key]}")
        if files:
            print(f"{room:10}{files:6}{total:8}{100 * comments // total:6}%{percentile(lengths, .5):5}"
                  f"{percentile(lengths, .9):5}{percentile(lengths, .99):5}{max(lengths + [0]):5}"
                  f"{home(lengths):6}{deepest:9}")
    print(f"promises left in comments (TODO and the like): {todo}")
    for line in broken:
        print("broken: " + line)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

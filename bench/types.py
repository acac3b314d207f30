#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What making, committing and freeing a datatype costs, and packing one element, beside other MPIs.

    bench/types.py --prefix _install --rounds 5 \\
        [--peer 'mpich:mpicc.mpich:mpirun.mpich -np 1'] [--peer 'ompi:mpicc.openmpi:mpirun.openmpi -np 1']

Every round runs bench/types.c once with each library, in turn.  Medians of the rounds in ns, and the
median of the ratios to the better peer of the same round; the last line is their geometric mean."""
import argparse
import math
import os
import shlex
import statistics
import subprocess
import tempfile


def build(compiler, path):
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "types.c")
    subprocess.run([*shlex.split(compiler), "-O2", source, "-o", path], check=True)


def once(command, limit):
    """{(case, blocks): ns}; a library that fails stops the comparison."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=limit, check=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    return {(row[0], int(row[1])): float(row[2]) for row in rows if len(row) == 3}


def table_print(results):
    names = list(results)
    print(f"{'ns':24} " + " ".join(f"{name:>9}" for name in names) + "   xmpi/best peer")
    ratios = []
    for key in results["xmpi"][0]:
        cells = " ".join(f"{statistics.median(r[key] for r in results[name]):9.1f}" for name in names)
        pairs = [ours[key] / min(results[peer][i][key] for peer in names[1:])
                 for i, ours in enumerate(results["xmpi"]) if len(names) > 1]
        ratios += [statistics.median(pairs)] if pairs else []
        print(f"{key[0]:18} {key[1]:5} {cells}" + (f"   {ratios[-1]:.2f}" if pairs else ""))
    if ratios:
        print(f"geometric mean {math.exp(statistics.mean(map(math.log, ratios))):.2f}, "
              f"worst {max(ratios):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--prefix", default="_install", help="where xmpi is installed")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=60, help="seconds per run")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME:CC:RUN",
                        help="another MPI, and how it runs one rank")
    options = parser.parse_args()
    prefix = os.path.abspath(options.prefix)
    with tempfile.TemporaryDirectory() as work:
        build(prefix + "/bin/xmpicc", work + "/xmpi")
        runs = {"xmpi": [prefix + "/bin/xmpirun", "-np", "1", work + "/xmpi"]}
        for peer in options.peer:
            name, compiler, run = peer.split(":", 2)
            build(compiler, f"{work}/{name}")
            runs[name] = [*shlex.split(run), f"{work}/{name}"]
        results = {name: [] for name in runs}
        for _ in range(options.rounds):
            for name, run in runs.items():
                results[name].append(once(run, options.limit))
    table_print(results)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What making, committing and freeing a datatype costs, and packing one element, beside other MPIs.

    bench/datatypes.py --prefix _install --rounds 5 \\
        [--peer 'mpich:mpicc.mpich:mpirun.mpich -np 1'] [--peer 'ompi:mpicc.openmpi:mpirun.openmpi -np 1']

Every round runs bench/datatypes.c once with each library, in turn.  Medians of the rounds in ns, and the
median of the ratios to the better peer of the same round; the last line is their geometric mean."""
import math
import shlex
import statistics
import subprocess
import tempfile

import beside


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
    options = beside.arguments(__doc__, 5, 60, "another MPI, and how it runs one rank")
    with tempfile.TemporaryDirectory() as work:
        runs = beside.candidates(options, 1, "datatypes.c", work)
        results = {name: [] for name in runs}
        for _ in range(options.rounds):
            for name, run in runs.items():
                results[name].append(once(shlex.split(run), options.limit))
    table_print(results)


if __name__ == "__main__":
    main()

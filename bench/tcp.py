#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Messages over the network beside plain TCP, on one machine.

    bench/tcp.py --prefix _install --rounds 7 \\
        [--peer 'ompi:mpicc.openmpi:mpirun.openmpi --mca btl tcp,self --mca pml ob1 -np 2'] ...

Every round runs each candidate once, in turn: raw sockets, xmpi with XMPI_SHM=0, and the peers given
(bench/tcp.c says what they do).  Medians of the rounds, their best, and the median of the ratios to
the raw sockets of the same round."""
import os
import shlex
import statistics
import subprocess
import tempfile

import beside


def once(command, limit):
    """{(what, bytes): value}; empty when it failed."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=limit, env=dict(os.environ, XMPI_SHM="0"))
    except subprocess.TimeoutExpired:
        return {}
    rows = [line.split() for line in done.stdout.splitlines()]
    return {(row[0], int(row[1])): float(row[2]) for row in rows if len(row) == 3}


def row_print(key, results):
    what, size = key
    cells = []
    for name, rounds in results.items():
        good = [values[key] for values in rounds if key in values]
        pairs = [values[key] / raw[key] for values, raw in zip(rounds, results["raw"])
                 if key in values and key in raw]
        if not good:
            cells.append(f"{'-':>9} {'-':>9} {'-':>5}")
            continue
        best = min(good) if what == "latency" else max(good)
        ratio = statistics.median(pairs) if pairs else float("nan")
        cells.append(f"{statistics.median(good):9.2f} {best:9.2f} {ratio:5.2f}")
    print(f"{what:8} {size:8} " + " | ".join(cells))


def main():
    options = beside.arguments(__doc__, 7, 60, "another MPI, and how it runs two ranks over TCP alone")
    with tempfile.TemporaryDirectory() as work:
        beside.build("cc", "tcp.c", work + "/raw", "-DRAW")
        runs = {"raw": work + "/raw", **beside.candidates(options, 2, "tcp.c", work)}
        results = {name: [] for name in runs}
        for _ in range(options.rounds):
            for name, run in runs.items():
                results[name].append(once(shlex.split(run), options.limit))
    print(f"{'us, MB/s':17} " + " | ".join(f"{name:>9} {'best':>9} /raw " for name in runs))
    for key in sorted({key for rounds in results.values() for values in rounds for key in values}):
        row_print(key, results)


if __name__ == "__main__":
    main()

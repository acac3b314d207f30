#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What threads of MPI_THREAD_MULTIPLE reach together (threads.c), beside other MPIs.

    bench/threads.py --prefix _install --rounds 5 \\
        --peer 'mpich:mpicc.mpich:mpirun.mpich -bind-to none -np {n}'

Every round runs each row of each candidate once, in turn.  Messages per microsecond of all threads
together: the median over the rounds of each run's median, the most of any batch behind it, and behind
that the median per microsecond of the CPU time of rank 0, for machines that are busy otherwise; at last
the ratio of the medians of xmpi and the best peer (more is better).  Ranks with one thread each are
what threads could reach if nothing at all were shared."""
import shlex
import statistics
import tempfile

import beside

ROWS = [("window, 1 thread, SINGLE", 2, "own 1 single"), ("window, 1 thread", 2, "own 1"),
        ("window, 1 and 1 idle", 2, "own 1 idle"),
        ("window, 1 and 1 blocked", 2, "own 1 blocked"),
        ("window, 1 and 1 that polls", 2, "own 1 polling"),
        ("window, 2 threads", 2, "own 2"), ("window, 2 threads, tags", 2, "tags 2"),
        ("window, 4 ranks, SINGLE", 4, "own 1 single"),
        ("ping-pong, 1 thread, SINGLE", 2, "pong 1 single"),
        ("ping-pong, 1 thread", 2, "pong 1"), ("ping-pong, 1 and 1 blocked", 2, "pong 1 blocked"),
        ("ping-pong, 1 and 1 that polls", 2, "pong 1 polling"),
        ("ping-pong, 2 threads", 2, "pong 2"), ("ping-pong, 4 threads", 2, "pong 4"),
        ("to oneself, 1, SINGLE", 1, "self 1 single"), ("to oneself, 1 thread", 1, "self 1"),
        ("to oneself, 1 and 1 idle", 1, "self 1 idle"),
        ("to oneself, 1 and 1 blocked", 1, "self 1 blocked"),
        ("to oneself, 2 threads", 1, "self 2"), ("to oneself, 4 threads", 1, "self 4"),
        ("to oneself, 2, tags", 1, "same 2"),
        ("to oneself, 2 ranks, SINGLE", 2, "self 1 single")]


def main():
    options = beside.arguments(__doc__, 5, 20, "another MPI; {n} in RUN is the number of ranks")
    with tempfile.TemporaryDirectory() as work:
        runs = beside.candidates(options, "{n}", "threads.c", work, "-pthread", "-w")
        rates = {(row, name): [] for row in ROWS for name in runs}
        for _ in range(options.rounds):
            for row, name in rates:
                command = shlex.split(runs[name].format(n=row[1]) + " " + row[2])
                rates[row, name].append(beside.numbers(command, options.limit, 3))
    print(f"{'messages per us':30}" + " ".join(f"{name:>23}" for name in runs) + "   ratio")
    for row in ROWS:
        seen = [[v if v else (0, 0, 0) for v in rates[row, name]] for name in runs]
        middle = [statistics.median(v[1] for v in of_one) for of_one in seen]
        most = [max(v[0] for v in of_one) for of_one in seen]
        cpu = [statistics.median(v[2] for v in of_one) for of_one in seen]
        best = max(middle[1:], default=0)
        print(f"{row[0]:30}" +
              " ".join(f"{m:7.3f} {t:7.3f} {c:7.3f}" for m, t, c in zip(middle, most, cpu)) +
              (f"{middle[0] / best:8.2f}" if best else "       -"))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What memory of ranks that is mapped brings to long messages and collectives (mapped.c), beside system
calls and other MPIs.

    bench/mapped.py --prefix _install --rounds 5 \\
        --peer 'mpich:mpicc.mpich:mpirun.mpich -bind-to none -np {n}'

The library that maps is one that pretends (test/xpmem): large memory of the program lies in a file in memory,
which others map.  So the figures are of mapped memory with pages of 4 KiB, and not of XPMEM's faults and
attachments.  `calls` is xmpi as it is without XPMEM, `arena` the same with the memory of `mapped`.
Every round runs each row of each candidate once, in turn.  Per row the median of the rounds' medians and the
least of all batches, in us per message or collective, and the ratio of `mapped` to `calls`."""
import os
import shlex
import statistics
import subprocess
import tempfile

import beside

HERE = os.path.dirname(os.path.abspath(__file__))
KIB, MIB = 1 << 10, 1 << 20
ROWS = [(row, size) for row in ("pingpong", "fresh", "bw")
        for size in (64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB)]
ROWS += [(row, size) for row in ("allreduce", "reduce", "allgather", "alltoall", "bcast")
         for size in (32 * KIB, MIB, 8 * MIB)]


def with_arena(run, fake):
    """The command again, its program with the memory that can be mapped; and with the library."""
    words = shlex.split(run)
    arena = words[:-1] + ["env", "LD_PRELOAD=" + fake] + words[-1:]
    return {"arena": shlex.join(arena),
            "mapped": shlex.join(["env", "XMPI_LIBXPMEM=" + fake] + arena)}


def size_of(size):
    return f"{size >> 20} MiB" if size >= MIB else f"{size >> 10} KiB"


def main():
    options = beside.arguments(__doc__, 5, 60, "another MPI; {n} in RUN is the number of ranks")
    with tempfile.TemporaryDirectory() as work:
        fake = os.path.join(work, "libxpmem.so")
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", fake,
                        os.path.join(HERE, "../test/xpmem/fake_xpmem.c")], check=True)
        runs = beside.candidates(options, "{n}", "mapped.c", work, "-w")
        calls = runs.pop("xmpi").replace("{n}", "2")
        runs = {"calls": calls, **with_arena(calls, fake),
                **{name: run.replace("{n}", "2") for name, run in runs.items()}}
        times = {(row, name): [] for row in ROWS for name in runs}
        for _ in range(options.rounds):
            for row, name in times:
                command = shlex.split(runs[name]) + [row[0], str(row[1])]
                times[row, name].append(beside.numbers(command, options.limit, 2))
    print(f"{'us':20}" + "".join(f"{name:>18}" for name in runs) + "   mapped/calls")
    for row in ROWS:
        seen = {name: [t for t in times[row, name] if t] for name in runs}
        middle = {name: statistics.median(t[0] for t in s) for name, s in seen.items() if s}
        least = {name: min(t[1] for t in s) for name, s in seen.items() if s}
        cells = "".join(f"{middle[name]:10.4g}{least[name]:8.4g}" if name in middle
                        else f"{'-':>18}" for name in runs)
        ratio = ("", "")
        if "mapped" in middle and "calls" in middle:
            ratio = (f"{middle['mapped'] / middle['calls']:.2f}",
                     f"{least['mapped'] / least['calls']:.2f}")
        print(f"{row[0]:11}{size_of(row[1]):>9}{cells}   {ratio[0]:>5}{ratio[1]:>6}", flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How long it takes to start N ranks, MPI_Init, MPI_Finalize, and be gone.

    bench/launch.py --prefix _install --np 8,32,64 --rounds 10 \\
        [--peer 'mpich:mpicc.mpich:mpirun.mpich -np {n}'] ...

Every round runs each candidate once, in turn: the bare posix_spawn of N empty programs, xmpirun, and
the peers given.  Medians and minima in ms, and ratios of the medians to the bare spawn and to the
better peer."""
import argparse
import os
import shlex
import statistics
import subprocess
import tempfile
import time

EMPTY = "int main(void) { return 0; }\n"
INIT = "#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v); MPI_Finalize(); return 0; }\n"


def build(compiler, source, path):
    with tempfile.NamedTemporaryFile("w", suffix=".c") as f:
        f.write(source)
        f.flush()
        subprocess.run(shlex.split(compiler) + ["-O2", f.name, "-o", path], check=True)


def once(command, limit):
    begin = time.perf_counter()
    try:
        code = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=limit).returncode
    except subprocess.TimeoutExpired:
        return None
    return (time.perf_counter() - begin) * 1e3 if code == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--prefix", default="_install", help="where xmpi is installed")
    parser.add_argument("--np", default="8,32,64")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--limit", type=float, default=30, help="seconds per run")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME:CC:RUN",
                        help="another MPI; {n} in RUN is the number of ranks")
    options = parser.parse_args()
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory() as work:
        build("gcc", open(os.path.join(here, "spawn.c")).read(), work + "/spawn")
        build("gcc", EMPTY, work + "/empty")
        prefix = os.path.abspath(options.prefix)
        runs = {"spawn": f"{work}/spawn {{n}} {work}/empty",
                "xmpi": f"{prefix}/bin/xmpirun -np {{n}} {work}/xmpi"}
        build(prefix + "/bin/xmpicc", INIT, work + "/xmpi")
        for peer in options.peer:
            name, compiler, run = peer.split(":", 2)
            build(compiler, INIT, f"{work}/{name}")
            runs[name] = f"{run} {work}/{name}"
        print(f"{'np':>4} " + " ".join(f"{name:>9} med {'min':>7}" for name in runs) +
              "   xmpi/spawn  xmpi/best peer")
        for n in map(int, options.np.split(",")):
            times = {name: [] for name in runs}
            for _ in range(options.rounds):
                for name, run in runs.items():
                    times[name].append(once(shlex.split(run.format(n=n)), options.limit))
            middle = {}
            cells = []
            for name, values in times.items():
                good = [v for v in values if v is not None]
                middle[name] = statistics.median(good) if good else float("inf")
                cells.append(f"{middle[name]:13.1f} {min(good, default=float('inf')):7.1f}")
                if len(good) < len(values):
                    print(f"     {name}: {len(values) - len(good)} of {len(values)} runs failed")
            peers = [middle[name] for name in runs if name not in ("spawn", "xmpi")]
            ratio = f"{middle['xmpi'] / min(peers):10.3f}" if peers else f"{'-':>10}"
            print(f"{n:4} " + " ".join(cells) +
                  f"   {middle['xmpi'] / middle['spawn']:8.2f}  {ratio}", flush=True)


if __name__ == "__main__":
    main()

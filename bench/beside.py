# SPDX-License-Identifier: BSD-3-Clause
"""What the drivers of this folder have in common: a program compiled with each of several MPIs."""
import argparse
import os
import shlex
import subprocess


def arguments(doc, rounds, limit, peer):
    """The command line; `peer` says what a peer's RUN is for."""
    parser = argparse.ArgumentParser(description=doc.split("\n\n")[0])
    parser.add_argument("--prefix", default="_install", help="where xmpi is installed")
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--limit", type=float, default=limit, help="seconds per run")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME:CC:RUN", help=peer)
    options = parser.parse_args()
    options.prefix = os.path.abspath(options.prefix)
    return options


def build(compiler, source, path, *flags):
    """Compile a source of this folder."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), source)
    subprocess.run([*shlex.split(compiler), "-O2", *flags, source, "-o", path], check=True)


def candidates(options, ranks, source, work, *flags):
    """{name: command, as text} of xmpi and of the peers, built in the folder `work`."""
    ours = f"xmpi:{options.prefix}/bin/xmpicc:{options.prefix}/bin/xmpirun -np {ranks}"
    runs = {}
    for candidate in [ours] + options.peer:
        name, compiler, run = candidate.split(":", 2)
        build(compiler, source, f"{work}/{name}", *flags)
        runs[name] = f"{run} {work}/{name}"
    return runs


def numbers(command, limit, n):
    """The n numbers that a program prints, or None if it does not, or not in so many seconds."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=limit, text=True)
    except subprocess.TimeoutExpired:
        return None
    words = done.stdout.split()
    return [float(w) for w in words] if done.returncode == 0 and len(words) == n else None

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Are the choices of a tuning file good?  Measures twice with `xmpi tune`: the first file chooses, the
second judges.  Prints for each row the time of the first file's choice over the best time, both as
the second measured them, and the median and the worst of all.  A quiet machine, please.

    bench/regret.py PREFIX [arguments of xmpi tune]      e.g. bench/regret.py ~/xmpi -np 2 --seconds 60"""
import os
import statistics
import subprocess
import sys
import tempfile


def rows(path):
    """(collective and conditions) -> [(algorithm, microseconds)], best first."""
    table = {}
    for line in open(path):
        where, colon, uses = line.strip().partition(" : ")
        if colon and not line.startswith(("#", "machine")):
            table[where] = [(name, float(us[:-2])) for name, us in
                            (use.split() for use in uses.split(","))]
    return table


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tables = []
    with tempfile.TemporaryDirectory() as folder:
        for name in "first", "second":
            path = os.path.join(folder, name)
            subprocess.run([sys.argv[1] + "/bin/xmpi", "tune", *sys.argv[2:], "-o", path],
                           check=True)
            tables.append(rows(path))
    regrets, unknown = [], 0
    for where, uses in tables[0].items():
        judged = dict(tables[1].get(where, []))
        if uses[0][0] not in judged:
            unknown += 1  # not even among the best the second time
            print(f"{'-':>6}  {where}: {uses[0][0]}")
            continue
        regret = judged[uses[0][0]] / min(judged.values())
        regrets.append(regret)
        print(f"{regret:6.2f}  {where}: {uses[0][0]}")
    print(f"median {statistics.median(regrets):.2f}, worst {max(regrets):.2f}, "
          f"within 1.1: {sum(r <= 1.1 for r in regrets)} of {len(regrets) + unknown}")


main()

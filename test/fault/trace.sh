#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# XMPI_TRACE: the time line is JSON, has every call and every message, and fits together.
srcdir=${top:-.}
. "$srcdir/test/lib.sh"
XMPI_SCRATCH=$scratch
. "$top/test/fault/launch.inc"
program=$scratch/traced
python=${PYTHON3:-python3}
command -v "$python" > /dev/null || { echo "skip launch: traces: no python3"; exit 0; }
compile -o "$program" "$top/test/fault/trace.c" || { not_ok "trace" "does not compile"; finish; }

# Prints: calls of MPI_Allreduce, of MPI_Send (which fail), arrows, ranks, and `good` when arrows go
# forward, from each rank to the next, and begin and end inside of calls.
cat > "$scratch/look.py" <<'END'
import collections, json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
size = int(sys.argv[2])
calls = [e for e in events if e["ph"] == "X"]
begins = {e["id"]: e for e in events if e["ph"] == "s"}
ends = {e["id"]: e for e in events if e["ph"] == "f"}
ranks = {e["pid"] for e in events if e["ph"] == "M"}
by_rank = collections.defaultdict(list)
for c in calls:
    by_rank[c["pid"]].append((c["ts"], c["ts"] + c["dur"]))
def inside(e):
    return any(b - 0.01 <= e["ts"] <= t + 0.01 for b, t in by_rank[e["pid"]])
some = sorted(begins)[:: max(1, len(begins) // 200)]
good = begins.keys() == ends.keys() and all(
    (begins[i]["pid"] + 1) % size == ends[i]["pid"] and begins[i]["ts"] <= ends[i]["ts"]
    and inside(ends[i]) for i in some)
def count(name):
    return sum(c["name"] == name for c in calls)
print(count("MPI_Allreduce"), count("MPI_Send"), len(begins), len(ranks),
      "good" if good else "bad")
END
look() { "$python" "$scratch/look.py" "$scratch/trace.json" "$1" 2>&1 | tail -n 1; }

XMPI_TRACE=$scratch/trace.json run 30 -np 4 "$program"
check "four ranks" "$code $(look 4)" "0 4 4 32 4 good"
XMPI_TRACE=$scratch/trace.json run 60 -np 2 "$program" many
check "many calls" "$code $(look 2)" "0 2 2 40016 2 good"
XMPI_TRACE=$scratch/trace.json run 30 -np 2 "$program" dies
check "a rank that dies: what it did is there" "$code $(look 2)" "134 2 2 16 2 good"
rm -f "$scratch/trace.json"
run 30 -np 2 "$program"
check "no trace unless asked for" "$code $(ls "$scratch" | grep -c json)" "0 0"
XMPI_TRACE=$scratch/none/trace.json run 30 -np 2 "$program"
check_says "a file that cannot be written is named" "none/trace.json: cannot write"
finish

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
mkfifo "$scratch/ready"
XMPI_TRACE=$scratch/trace.json start -np 1 sh -c "echo > '$scratch/ready'; exec sleep 30"
read -r started < "$scratch/ready"
kill -KILL $pid
collect
check "killed: what an earlier run has left is not taken for its" "$(wc -c < "$scratch/trace.json")" 0
XMPI_TRACE=$scratch/trace.json.2 run 30 -np 1 "$program"
XMPI_TRACE=$scratch/trace.json.10 run 30 -np 1 "$program"
echo mine > "$scratch/trace.json.3"
XMPI_TRACE=$scratch/trace.json run 30 -np 1 "$program"
check "nor what jobs that an earlier run spawned have left" "$code $(ls "$scratch" | grep json | tr '\n' ' ')" \
    "0 trace.json trace.json.3 "
rm -f "$scratch"/trace.json*
run 30 -np 2 "$program"
check "no trace unless asked for" "$code $(ls "$scratch" | grep -c json)" "0 0"
XMPI_TRACE=$scratch/none/trace.json run 30 -np 2 "$program"
check_says "a file that cannot be written is named" "none/trace.json: cannot write"
check "and nothing runs for it" "$code $(cat "$dir/out" | wc -c)" "1 0"

# ---- several hosts ----

# Prints: names of ranks, and for each host how many seconds its clock is ahead, and whether that may
# be wrong by no more than a hundredth of one.
cat > "$scratch/clocks.py" <<'END'
import json, sys
line = json.load(open(sys.argv[1]))
names = sorted(e["args"]["name"] for e in line["traceEvents"] if e.get("name") == "process_name")
print(*names, *("%s %.0f %s" % (c["host"], abs(c["offset_us"]) / 1e6, c["error_us"] < 1e4)
                for c in sorted(line["metadata"]["clocks"], key=lambda c: c["host"])))
END
clocks() { "$python" "$scratch/clocks.py" "$scratch/trace.json" 2>&1 | tail -n 1; }
rm -f "$scratch/trace.json"
export XMPI_LAUNCH_AGENT='sh -c "{cmd}"'
XMPI_TRACE=$scratch/trace.json run 60 -H a:2,b:2 --fanout 1 "$program"
check "two hosts" "$code $(look 4)" "0 4 4 32 4 good"
check "their clocks" "$(clocks)" "rank 0 on a rank 1 on a rank 2 on b rank 3 on b a 0 True b 0 True"
XMPI_TRACE=$scratch/trace.json run 60 -H "$(hostname):1,b:1" "$program" many
check "many calls, one host is this one" "$code $(look 2)" "0 2 2 40016 2 good"
XMPI_TRACE=$scratch/trace.json run 60 -H a:1,b:1 "$program" dies
check "a rank elsewhere that dies" "$(look 2)" "2 2 16 2 good"
if unshare --time --fork --monotonic 1000 true 2> /dev/null; then
    XMPI_TRACE=$scratch/trace.json run 60 -H a:2,b:2 \
        --launch-agent 'case {host} in b) ahead="unshare --time --fork --monotonic 1000";; esac; $ahead sh -c "{cmd}"' "$program"
    check "clocks that differ" "$code $(look 4) $(clocks | sed 's/.*on b //')" "0 4 4 32 4 good a 0 True b 1000 True"
else
    echo "skip launch: clocks that differ: no time namespaces here"
fi
XMPI_TRACE=$scratch/none/trace.json run 30 -H a:1,b:1 "$program"
check_says "said once" "none/trace.json: cannot write"
check "and nothing is left" "$code $(grep -c cannot "$dir/err") $(leftovers_soon)" "1 1 0"
finish

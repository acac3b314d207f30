#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Operations in streams of a GPU (test/stream), with the pretended driver of test/device.
#   NP="1 2 4"   rank counts      ROUNDS=50 DELAY=1000   of order.c, the delay in us; LATE=100 times it is ten of 100 ms
. "${srcdir:-.}/test/lib.sh"
supp=$top/test/thread/tsan.supp
TSAN_OPTIONS="halt_on_error=1 suppressions=$supp ${TSAN_OPTIONS:-}"
export TSAN_OPTIONS

XMPI_LIBCUDA=$scratch/libcuda.so
export XMPI_LIBCUDA
# shellcheck disable=SC2086 # several words
"${XMPI_TEST_CC:-gcc}" ${XMPI_TEST_SANITIZE:-} -g -O1 -shared -fPIC -I"$top" -o "$XMPI_LIBCUDA" \
    "$top"/test/device/fake_*.c -lpthread || exit 99

if compile -O2 -o "$scratch/ddp" "$top/examples/ddp_overlap.c" -ldl > "$scratch/out" 2>&1; then
    case_run "stream/ddp_overlap" "${LIMIT:-60}" env XMPI_TRACE="$scratch/trace.json" "$XMPIRUN" -np 2 "$scratch/ddp" 6 5000 3
    grep -q '^a GPU: two streams' "$scratch/out" && grep -q '  exposed communication [0-9.]*$' "$scratch/out" &&
        ok "stream/ddp_overlap says what it measured" || not_ok "stream/ddp_overlap" "$(cat "$scratch/out")"
    # three runs of three steps with six layers and three buckets, on each of two ranks, in two tracks
    layers=$(grep -c '"ph":"X","pid":[01],"tid":1000,.*"layer [0-5]","cat":"stream"' "$scratch/trace.json")
    slices=$(grep -c '"ph":"X","pid":[01],"tid":1001,.*"MPIX_Allreduce_enqueue","cat":"stream"' "$scratch/trace.json")
    tracks=$(grep -c '"tid":100[01],"name":"thread_name".*: com[a-z]*ing' "$scratch/trace.json")
    [ "$layers $slices $tracks" = "108 54 4" ] && ok "stream/ddp_overlap has a time line" ||
        not_ok "stream/ddp_overlap has a time line" "$layers layers, $slices allreduces, $tracks tracks, not 108, 54, 4"
    case_run "stream/ddp_overlap alone" "${LIMIT:-60}" env XMPI_CUDA=0 XMPI_TRACE="$scratch/trace.json" \
        "$XMPIRUN" -np 2 "$scratch/ddp" 6 5000 3
    layers=$(grep -c '"ph":"X","pid":[01],"tid":0,.*"layer [0-5]"' "$scratch/trace.json")
    [ "$layers" = 108 ] && ok "stream/ddp_overlap alone has a time line" ||
        not_ok "stream/ddp_overlap alone has a time line" "$layers layers, not 108"
    grep -q '^no driver of a GPU' "$scratch/out" && ok "stream/ddp_overlap says that there is no GPU" ||
        not_ok "stream/ddp_overlap alone" "$(cat "$scratch/out")"
else
    not_ok "stream/ddp_overlap" "does not compile: $(head -n 3 "$scratch/out")"
fi

# The same where operations work on the device themselves; FAKE_STRICT: and the driver waits wherever
# one may, which programs whose kernels wait for the host (order) could not bear.
direct() # PROGRAM NAME VARIABLE=VALUE...
{
    program=$1 name=$2
    shift 2
    case_run "stream/$program $name" "${LIMIT:-60}" env XMPI_CUDA_ENQUEUE=1 XMPI_CUDA_REDUCE=1 "$@" \
        "$XMPIRUN" -np 2 "$scratch/$program" 20 1000
}

for source in "$top"/test/stream/*.c; do
    program=$(basename "$source" .c)
    if ! compile -I"$top" -I"$top/test/conform" -o "$scratch/$program" "$source" -ldl > "$scratch/out" 2>&1; then
        not_ok "stream/$program" "does not compile"
        sed 's/^/    | /' "$scratch/out" | head -n 15
        continue
    fi
    for np in ${NP:-1 2 4}; do
        case_run "stream/$program np=$np" "${LIMIT:-60}" "$XMPIRUN" -np "$np" \
            "$scratch/$program" "${ROUNDS:-50}" "${DELAY:-1000}"
    done
    case $program in
    marks)
        case_run "stream/marks, traced" "${LIMIT:-60}" env XMPI_TRACE="$scratch/trace.json" "$XMPIRUN" -np 2 "$scratch/marks"
        "${PYTHON3:-python3}" - "$scratch/trace.json" > "$scratch/out" 2>&1 << 'END' &&
import json, sys
events = [e for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] == "X"]
names = {e["name"] for e in events}
assert not names & {"never", "deep", "MPIX_Trace_begin", "MPIX_Trace_end"}, names
assert "forty bytes or more are too long: cut " in names, names
for rank in 0, 1:
    mine = [e for e in events if e["pid"] == rank and e["tid"] == 1000]
    (whole,) = [e for e in mine if e["name"] == "all"]
    parts = sorted((e for e in mine if e["name"] == 'a "kernel"'), key=lambda e: e["ts"])
    assert len(parts) == 2 and all(e["dur"] >= 20000 for e in parts), parts
    assert parts[0]["ts"] + parts[0]["dur"] <= parts[1]["ts"] + 1, parts
    assert all(e["ts"] >= whole["ts"] and e["ts"] + e["dur"] <= whole["ts"] + whole["dur"] + 1 for e in parts)
END
            ok "stream/marks in the time line" || not_ok "stream/marks in the time line" "$(tail -n 3 "$scratch/out")" ;;
    order)
        direct order "without copies" XMPI_CUDA_IPC=1
        # ten of them side by side, so it takes ten seconds
        case_run "stream/order, ${LATE:-100} times ten producers are 100 ms late" "${LIMIT:-120}" "$XMPIRUN" -np 2 \
            "$scratch/order" "${LATE:-100}" 100000 10 ;;
    strange) direct strange "without copies" FAKE_STRICT=1 ;;
    graph) direct graph "by a driver that waits" FAKE_STRICT=1 ;;
    calls)
        blocks=XMPI_CUDA_BLOCK=256K # several messages at a time pin less than one of them is long
        direct calls "without copies, read" FAKE_STRICT=1 XMPI_CUDA_IPC=1 $blocks
        direct calls "without copies, staged" FAKE_STRICT=1 XMPI_CUDA_IPC=0 $blocks
        direct calls "without copies, over the network" FAKE_STRICT=1 XMPI_SHM=0 $blocks
        for few in FAKE_MPS=1 CUDA_DEVICE_MAX_CONNECTIONS=1; do
            case_run "stream/calls with copies, $few" "${LIMIT:-60}" env FAKE_STRICT=1 $few "$XMPIRUN" -np 2 "$scratch/calls" 20 1000
        done
        case_run "stream/calls in turns" "${LIMIT:-60}" env FAKE_TURNS=1 "$XMPIRUN" -np 2 "$scratch/calls" 20 1000
        direct calls "always with copies" FAKE_STRICT=1 XMPI_CUDA_ENQUEUE=0
        direct calls "without copies, streams are full" FAKE_QUEUE=3 $blocks
        direct calls "with copies, streams are full" FAKE_QUEUE=3 XMPI_CUDA_ENQUEUE=0 ;;
    esac
done
finish

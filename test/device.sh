#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Memory of devices, beyond what conformance with XMPI_TEST_MEMORY=device shows: which way messages go,
# what is bounded, what happens to memory that is used again.  The driver is a pretended one.
. "${srcdir:-.}/test/lib.sh"

XMPI_LIBCUDA=$scratch/libcuda.so
export XMPI_LIBCUDA
"${XMPI_TEST_CC:-gcc}" -O2 -shared -fPIC -I"$top" -o "$XMPI_LIBCUDA" "$top"/test/device/fake_*.c \
    -lpthread || exit 99
compile -I"$top" -I"$top/test/device" -o "$scratch/moves" "$top/test/device/moves.c" -ldl \
    > "$scratch/out" 2>&1 ||
    { not_ok device/moves "does not compile"; sed 's/^/    | /' "$scratch/out" | head -n 15; finish; }

moves() # NAME CASE [VARIABLE=VALUE...]
{
    name=$1 case=$2
    shift 2
    case_run "device/$name" 60 env "$@" "$XMPIRUN" -np 2 "$scratch/moves" "$case"
}

moves "every pair of memories" pairs
moves "every pair, threads without a context" pairs-alone
moves "every pair, none is read" pairs XMPI_CUDA_IPC=0
moves "every pair, devices that do not reach each other" pairs FAKE_NO_PEERS=1
moves "every pair, devices are used in turns" pairs FAKE_TURNS=1 XMPI_CUDA_IPC=32K
moves "addresses used again" reuse
moves "addresses used again, nothing kept" reuse XMPI_CUDA_HANDLES=0
moves "more handles than the driver has" handles
moves "more handles than are kept" handles XMPI_CUDA_HANDLES=4
moves "staging is bounded" pool XMPI_CUDA_IPC=0 XMPI_CUDA_POOL=1M

moves "one question per buffer of the host" questions

if ldconfig -p 2> /dev/null | grep -q "libfabric\.so\.1"; then
    moves "every pair, over the network" pairs XMPI_SHM=0
    # One that reaches devices: the same library with a provider that pretends.
    symver=$(sed -n 's/#define XMPI_FABRIC_SYMVER "\(.*\)"/\1/p' config.h 2> /dev/null)
    real=$(ldconfig -p | sed -n 's/.*libfabric\.so\.1 .*=> //p' | head -n 1)
    mkdir "$scratch/fabric"
    if [ "$symver" = FABRIC_1.3 ] && "${XMPI_TEST_CC:-gcc}" -O2 -shared -fPIC -I"$top" -I"$top/test/device" \
        -DSYMVER="\"$symver\"" -Wl,--version-script="$top/test/device/fabric/versions" \
        -o "$scratch/fabric/libfabric.so.1" "$top/test/device/fabric/fake_fabric.c" > "$scratch/out" 2>&1; then
        hmem() # NAME [VARIABLE=VALUE...]
        {
            name=$1
            shift
            moves "$name" network XMPI_SHM=0 FAKE_FABRIC="$real" LD_LIBRARY_PATH="$scratch/fabric" "$@"
        }
        hmem "a network that reaches devices"
        hmem "a network that does not reach devices" FAKE_HMEM=none
        hmem "a network that only says that it reaches devices" FAKE_HMEM=broken
        hmem "a network that registers no memory of devices" FAKE_HMEM=refuse
        hmem "a network that cannot read" FAKE_HMEM=fails
        hmem "a network that reaches devices by way of CUDA" FAKE_HMEM=stages
        hmem "a network that says so unasked" FAKE_HMEM=unasked
        hmem "a network that is not to reach devices" XMPI_OFI_HMEM=0
    else
        skip "device/a network that reaches devices" "libfabric's functions have versions ${symver:-that are not known}: $(head -n 1 "$scratch/out")"
    fi
else
    skip "device/every pair, over the network" "libfabric.so.1 is not installed (Debian: libfabric1)"
fi

# Data with gaps, by kernels: the driver performs their text.
compile -I"$top" -I"$top/test/device" -I"$top/test/conform" -o "$scratch/packs" "$top/test/device/packs.c" -ldl \
    > "$scratch/out" 2>&1 ||
    { not_ok device/packs "does not compile"; sed 's/^/    | /' "$scratch/out" | head -n 15; finish; }

packs() # NAME RANKS CASE [VARIABLE=VALUE...]
{
    name=$1 np=$2 case=$3
    shift 3
    # shellcheck disable=SC2086 # $case may be two words
    case_run "device/$name" "${LIMIT:-120}" env "$@" "$XMPIRUN" -np "$np" "$scratch/packs" $case
}

packs "data with gaps are packed by kernels" 1 types
packs "data with gaps are packed by copies" 1 "types copies" XMPI_CUDA_PACK=0
packs "a driver that takes no kernels packs by copies" 1 "types copies" FAKE_NO_KERNELS=1
packs "a driver that copies no rows gets single copies" 1 "types copies" XMPI_CUDA_PACK=0 FAKE_NO_ROWS=1
packs "messages with gaps" 2 messages
packs "messages with gaps, a driver that copies no rows" 2 "messages copies" XMPI_CUDA_PACK=0 FAKE_NO_ROWS=1
packs "messages with gaps, none is read" 2 messages XMPI_CUDA_IPC=0
packs "messages with gaps in streams" 2 streams
packs "messages with gaps in streams, without copies" 2 streams XMPI_CUDA_ENQUEUE=1 FAKE_STRICT=1

# Reductions, by kernels: the driver performs their text.
compile -I"$top" -I"$top/test/device" -o "$scratch/folds" "$top/test/device/folds.c" -ldl \
    > "$scratch/out" 2>&1 ||
    { not_ok device/folds "does not compile"; sed 's/^/    | /' "$scratch/out" | head -n 15; finish; }

folds() # NAME RANKS CASE [VARIABLE=VALUE...]
{
    name=$1 np=$2 case=$3
    shift 3
    case_run "device/$name" 60 env "$@" "$XMPIRUN" -np "$np" "$scratch/folds" "$case"
}

folds "kernels have the bits of the host" 1 bits XMPI_CUDA_REDUCE=1
folds "means have the bits of the host" 3 mean XMPI_CUDA_REDUCE=1 XMPI_COLL=allreduce=circulant
folds "an allreduce that never meets the host" 3 kernels
folds "an allreduce by a device that is full" 3 crowded FAKE_ROOM=1300000
folds "little data are folded on the host" 2 staged XMPI_CUDA_REDUCE=2M
folds "all data are folded on the host" 2 staged XMPI_CUDA_REDUCE=0
folds "a driver that takes no kernels" 2 staged FAKE_NO_KERNELS=1
folds "ranks that take turns at a GPU fold on the host" 3 turns FAKE_TURNS=1
folds "ranks that take turns at a GPU, as they are told" 3 kernels FAKE_TURNS=1 XMPI_CUDA_REDUCE=256K XMPI_CUDA_IPC=32K
case_run "device/says where it folds" 60 sh -c 'XMPI_EXPLAIN=allreduce FAKE_NO_KERNELS=1 "$0" -np 2 "$1" staged 2>&1 |
    grep -q "folded on the host: the driver does not take the kernel: error 218"' "$XMPIRUN" "$scratch/folds"
XMPI_TINY=0 XMPI_CUDA_REDUCE=1 XMPI_TEST_MEMORY=mixed NP=3 ONLY="coll_reduce coll_nonblocking" \
    sh "$top/test/conform.sh" || failures=$((failures + 1))

# Sizes are measured and written down; kernels that are slow to pretend are not.
[ -n "${XMPI_PREFIX:-}" ] && xmpi=$XMPI_PREFIX/bin/xmpi || xmpi=$build/tools/xmpi
case_run "device/xmpi tune" 120 env FAKE_NO_KERNELS=1 "$xmpi" tune --device -o "$scratch/tuned"
case_run "device/xmpi tune: what follows" 20 sh -c 'XMPI_TUNING=$1 "$0" info --param CUDA_BLOCK | grep -q "origin *$1:"' \
    "$xmpi" "$scratch/tuned"

# What runs on a real GPU, where programs cannot see what lies there.
XMPI_TEST_MEMORY=cuda NP=2 ONLY="coll_nonblocking external32 persistent request" \
    sh "$top/test/conform.sh" || failures=$((failures + 1))
# What is read is not over when it is sent, however short.
XMPI_CUDA_IPC=1 XMPI_TEST_MEMORY=device NP=3 ONLY=coll_random sh "$top/test/conform.sh" || failures=$((failures + 1))
# There addresses are not aligned as the types are, which no kernel may meet.
XMPI_TEST_MEMORY=cuda XMPI_CUDA_REDUCE=1 NP=2 ONLY=ops_table sh "$top/test/conform.sh" || failures=$((failures + 1))

# The text in the tree is what its sources give, where the same clang is at hand to say so.
version=$(sed -n '1s/.*by clang \([0-9]*\)\..*/\1/p' "$top/runtime/reduce_device.inc")
clang=$(command -v "clang-$version" || command -v clang)
case "${clang:+$("$clang" -dumpversion) $("$clang" -print-targets 2> /dev/null | tr '\n' ' ')}" in
"$version."*nvptx64*)
    if SOURCES=$top CLANG=$clang sh "$top/tools/kernels.sh" | cmp -s - "$top/runtime/reduce_device.inc"; then
        ok "device/kernels are those of the sources"
    else
        not_ok "device/kernels" "runtime/reduce_device.inc is not what tools/kernels.sh writes: make kernels"
    fi ;;
*) skip "device/kernels are those of the sources" "no clang $version that compiles for NVIDIA" ;;
esac

# Why a message goes by way of the host is told.
case_run "device/says why" 60 sh -c 'XMPI_LOG=1 FAKE_NO_PEERS=1 "$0" -np 2 "$1" pairs 2>&1 |
    grep -q "by way of the host: cuIpcOpenMemHandle: error 217"' "$XMPIRUN" "$scratch/moves"

# The owner dies with its memory mapped: the survivor hears of it, and goes on.
timeout -k 5 40 "$XMPIRUN" --keep-going -np 2 "$scratch/moves" dies > "$scratch/out" 2>&1
if [ $? = 137 ] && grep -q '^back' "$scratch/out"; then
    ok "device/the owner dies"
else
    not_ok "device/the owner dies" "the survivor did not come back"
    sed 's/^/    | /' "$scratch/out" | tail -n 15
fi
finish

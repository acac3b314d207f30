#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Memory of devices, beyond what conformance with XMPI_TEST_MEMORY=device shows: which way messages go,
# what is bounded, what happens to memory that is used again.  The driver is a pretended one.
. "${srcdir:-.}/test/lib.sh"

XMPI_LIBCUDA=$scratch/libcuda.so
export XMPI_LIBCUDA
"${XMPI_TEST_CC:-gcc}" -shared -fPIC -I"$top" -o "$XMPI_LIBCUDA" "$top"/test/device/fake_*.c \
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
moves "addresses used again" reuse
moves "addresses used again, nothing kept" reuse XMPI_CUDA_HANDLES=0
moves "more handles than the driver has" handles
moves "more handles than are kept" handles XMPI_CUDA_HANDLES=4
moves "staging is bounded" pool XMPI_CUDA_IPC=0 XMPI_CUDA_POOL=1M

if ldconfig -p 2> /dev/null | grep -q "libfabric\.so\.1"; then
    moves "every pair, over the network" pairs XMPI_SHM=0
else
    skip "device/every pair, over the network" "libfabric.so.1 is not installed (Debian: libfabric1)"
fi

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

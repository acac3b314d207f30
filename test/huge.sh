#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Memory that ranks copy again and again is moved to large pages, and nothing but its speed changes.
. "${srcdir:-.}/test/lib.sh"

compile -o "$scratch/pages" "$top/test/huge/pages.c" > "$scratch/out" 2>&1 ||
    { not_ok huge/pages "does not compile"; sed 's/^/    | /' "$scratch/out" | head -n 15; finish; }

pages() # NAME RANKS CASE WANTED [VARIABLE=VALUE...]
{
    name=$1 np=$2 case=$3 wanted=$4
    shift 4
    case_run "huge/$name, np=$np" 120 "$XMPIRUN" -np "$np" env "$@" "$scratch/pages" "$case" "$wanted"
}

why=$("$scratch/pages" probe) && moved=moved || moved=any
[ $moved = moved ] || skip "huge: pages were moved" "$why"

for wish in auto cma both; do
    pages "messages, $wish" 2 messages $moved XMPI_SHM_SINGLE_COPY=$wish
done
for np in 2 3; do
    pages "collectives" $np collectives $moved
done
pages "collectives, as if each rank had a CPU" 3 collectives $moved XMPI_CROWDED=no
pages "short buffers in a short heap" 2 heap $moved XMPI_SHM_SINGLE_COPY=cma
pages "fresh memory at the same address each time" 2 one-address any XMPI_SHM_SINGLE_COPY=cma
pages "children that share the memory" 2 children any XMPI_SHM_SINGLE_COPY=both
pages "memory that is shared anyway" 2 shared any XMPI_SHM_SINGLE_COPY=both
pages "what is used a few times is left alone" 2 few unmoved XMPI_SHM_SINGLE_COPY=cma
pages "nothing is read" 2 messages unmoved XMPI_SHM_SINGLE_COPY=none
pages "it is not wanted" 2 messages unmoved XMPI_SHM_SINGLE_COPY=both XMPI_HUGE_PAGES=no
finish

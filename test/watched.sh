#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What watches the memory of a program has nothing to say about a right one, and nothing of ours is in the way.
. "${srcdir:-.}/test/lib.sh"

right=$top/test/watched/right.c apart=$top/test/watched/apart.c
[ -z "${XMPI_TEST_SANITIZE:-}" ] || { skip watched "a library with sanitizers"; finish; }
{ compile -o "$scratch/right" "$right" && compile -o "$scratch/apart" "$apart"; } > "$scratch/out" 2>&1 ||
    { not_ok watched "does not compile"; sed 's/^/    | /' "$scratch/out" | head -n 15; finish; }

# Over the network providers of libfabric lose a few bytes when they are closed, so leaks are no matter there.
silent() # NAME COMMAND...: ends with 0, and prints nothing
{
    name=$1
    shift
    case_run "$name" 240 "$@"
    [ ! -s "$scratch/out" ] || { not_ok "$name" "it says"; sed 's/^/    | /' "$scratch/out" | head -n 25; }
}

if command -v valgrind > /dev/null && valgrind -q true > /dev/null 2>&1; then
    watch="valgrind -q --error-exitcode=99 --leak-check=full"
    silent "under Valgrind" "$XMPIRUN" -np 2 $watch "$scratch/right"
    silent "under Valgrind, three ranks that sleep" env XMPI_POLITE=always "$XMPIRUN" -np 3 $watch "$scratch/right"
    XMPI_SHM=0 silent "under Valgrind, over the network" "$XMPIRUN" -np 2 $watch --leak-check=no "$scratch/right"
    XMPI_SHM=0 XMPI_OFI_TIMEOUT=2 silent "under Valgrind, a rank that cannot be reached" "$XMPIRUN" -np 3 \
        $watch --leak-check=no "$scratch/apart"
else
    skip "watched: Valgrind" "it is not here, or does not run"
fi

if compile -fsanitize=address,undefined -o "$scratch/right" "$right" 2> /dev/null &&
    ASAN_OPTIONS=detect_leaks=1 "$XMPIRUN" -np 1 "$scratch/right" > /dev/null 2>&1; then
    export ASAN_OPTIONS=detect_leaks=1
    silent "with AddressSanitizer" "$XMPIRUN" -np 2 "$scratch/right"
    silent "with AddressSanitizer, three ranks" "$XMPIRUN" -np 3 "$scratch/right"
    XMPI_SHM=0 ASAN_OPTIONS=detect_leaks=0 silent "with AddressSanitizer, over the network" \
        "$XMPIRUN" -np 2 "$scratch/right"
else
    skip "watched: AddressSanitizer" "programs with it do not run here"
fi
finish

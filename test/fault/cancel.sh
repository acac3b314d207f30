#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Sends that are cancelled, to who has left MPI: over shared memory.  Over the network: test/network.sh.
srcdir=${top:-.}
. "$srcdir/test/lib.sh"
program=$scratch/cancel_left
compile -I"$top" -o "$program" "$top/test/fault/cancel_left.c" || { not_ok cancel "does not compile"; finish; }

for when in before met question race full session; do
    for bytes in 0 5000 60000 300000; do
        for copy in auto none; do
            for end in "" ends; do
                rm -f "$scratch/shared"
                XMPI_SHM_SINGLE_COPY=$copy case_run "cancelled, $when, $bytes bytes, copies $copy${end:+, and it ends}" \
                    20 "$XMPIRUN" -np 2 "$program" $when $bytes "$scratch/shared" $end
            done
        done
    done
done
for i in $(seq "${RACES:-10}"); do
    rm -f "$scratch/shared"
    timeout 20 "$XMPIRUN" -np 2 "$program" race 300 "$scratch/shared" > "$scratch/out" 2>&1 && continue
    not_ok "cancelled, race $i" "exit code $?"
    sed 's/^/    | /' "$scratch/out" | head -n 15
done
[ $failures != 0 ] || ok "cancelled, more races"
finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Collectives through MPI, with XMPI_COLL forcing each algorithm of the table in turn: what
# test/unit/coll_test shows below the interface.  Ends after FORCED_SECONDS (60), and says how many
# algorithms were left then; FORCED_SECONDS=600 NP="3 4 8" for all of them on more ranks.
. "${srcdir:-.}/test/lib.sh"
compile -o "$scratch/forced" "$top/test/plan/forced.c" || { not_ok coll_forced compile; finish; }

# The table has one entry per algorithm, which begins with its collective and its name.  Those that go
# by nodes are in network.sh, which has some.
table=$(tr -d '\n' < "$top/coll/rules.c" | sed 's/{ COLL_/\n&/g' | grep -v 'NEEDS_PLACES\|inter = true\|NEIGHBOR' |
    sed -n 's/^{ COLL_\([A-Z_]*\), "\([a-z-]*\)".*/\1=\2/p' | tr 'A-Z' 'a-z')
# shellcheck disable=SC2086 # words
set -- $table
[ $# -gt 50 ] || { not_ok coll_forced "only $# algorithms found in coll/rules.c"; finish; }

end=$(($(date +%s) + ${FORCED_SECONDS:-60}))
for np in ${NP:-4}; do
    left=$#
    for word in "$@"; do
        [ "$(date +%s)" -lt $end ] || break
        left=$((left - 1))
        case_run "forced $word np=$np" 60 env XMPI_COLL="$word" "$XMPIRUN" -np "$np" \
            "$scratch/forced" "${word%%=*}" > "$scratch/line"
        why=$(sed -n 's/.*cannot: //p' "$scratch/out" | head -n 1)
        [ -z "$why" ] && cat "$scratch/line" || skip "forced $word np=$np" "$why"
    done
    [ $left = 0 ] || skip "forced np=$np" "$left of $# algorithms: the time is over"
done

# Blocks in pieces; with types that have gaps: test/conform/coll_cut.c.
for word in gather=binomial gatherv=binomial scatter=linear scatterv=binomial allgather=ring allgatherv=bruck \
    alltoall=spread alltoallv=bruck alltoallw=pairwise; do
    case_run "forced $word:pieces=3 np=4" 60 env XMPI_COLL="$word:pieces=3" "$XMPIRUN" -np 4 \
        "$scratch/forced" "${word%%=*}"
done
for program in neighbor neighbor_again; do
    compile -o "$scratch/$program" "$top/test/conform/$program.c" || { not_ok $program compile; finish; }
done
pieces=
for what in allgather allgatherv alltoall alltoallv alltoallw; do
    pieces=$pieces,neighbor_$what=direct:pieces=3
done
for program in neighbor neighbor_again; do
    case_run "forced neighbours in pieces, $program np=4" 60 env XMPI_COLL="${pieces#,}" "$XMPIRUN" -np 4 \
        "$scratch/$program"
done
finish

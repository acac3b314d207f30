#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ranks in different collectives, of one communicator: errors that say both calls, on every way messages take.
srcdir=${top:-.}
. "$srcdir/test/lib.sh"
XMPI_SCRATCH=$scratch
. "$top/test/fault/launch.inc"

# Pair by pair, over all kinds of links: rank 0 in one collective, the others in another.
pairs=$scratch/pairs
compile -g -o "$pairs" "$top/test/fault/mismatch.c" || not_ok "mismatch" "does not compile"
cat > "$scratch/on_nodes" << 'END'
#!/bin/sh
XMPI_NODE=half$((RANK / 2)) exec "$@"
END
chmod +x "$scratch/on_nodes"
mismatched() { # what, ranks, command...
    what=$1 ranks=$2
    shift 2
    run 150 -np "$ranks" "$@"
    check "mismatch: $what" "$code" 0
    [ "$code" = 0 ] || { sed 's/^/    | /' "$dir/out" | cut -c 1-300 | head -n 8; }
}
for form in blocking nonblocking persistent; do
    mismatched "short, $form" 3 "$pairs" $form 4 4 short
done
for first in 4 7; do
    mismatched "short, again" 3 "$pairs" again $first $first short
done
mismatched "messages of a slot's length and more, again" 3 "$pairs" again 1 1 eager
mismatched "long" 3 "$pairs" blocking 4 4 long
XMPI_SHM=0 mismatched "over a network" 2 "$pairs" blocking 4 5 short
XMPI_SHM=0 XMPI_EAGER=0 mismatched "over a network, nothing goes unasked" 3 "$pairs" blocking 4 4 short
XMPI_SHM=0 mismatched "over a network, nonblocking" 3 "$pairs" nonblocking 4 4 mixed
mismatched "on two nodes" 3 "$scratch/on_nodes" "$pairs" blocking 4 4 mixed
mismatched "the same in other forms" 2 "$pairs" forms 0 4 short
mismatched "the same in other forms, long" 3 "$pairs" forms 1 2 long
mismatched "one leaves" 2 "$pairs" left 0 24 short
mismatched "one leaves, long" 3 "$pairs" left 0 24 long
XMPI_SHM=0 mismatched "one leaves, over a network" 2 "$pairs" left 0 24 short
mismatched "elements of other lengths" 2 "$pairs" elements
mismatched "one is late" 2 "$pairs" late
XMPI_SHM=0 mismatched "one is late, over a network" 3 "$pairs" late
mismatched "its finder computes" 3 "$pairs" computes
mismatched "one is behind, nonblocking and long" 3 "$pairs" overdue
mismatched "among others in one wait" 3 "$pairs" together
XMPI_SHM=0 mismatched "among others in one wait, over a network" 3 "$pairs" together

# Functions that make communicators.
makers=$scratch/makers
compile -g -o "$makers" "$top/test/fault/served.c" || not_ok "served" "does not compile"
mismatched "functions that make communicators" 3 "$makers" 3
mismatched "functions that make communicators, more ranks" 5 "$makers" 11
XMPI_SHM=0 mismatched "functions that make communicators, over a network" 2 "$makers" 7
mismatched "functions that make communicators, on two nodes" 4 "$scratch/on_nodes" "$makers" 9

# Blocks of which only their two ends know the length.
lengths=$scratch/blocks
compile -g -o "$lengths" "$top/test/fault/lengths.c" || not_ok "lengths" "does not compile"
mismatched "blocks of another length" 2 "$lengths"
mismatched "blocks of another length, more ranks" 4 "$lengths"
XMPI_SHM=0 mismatched "blocks of another length, over a network" 2 "$lengths"
XMPI_SHORT_BLOCKS=1 mismatched "shorter blocks may pass" 3 "$lengths" pass

# Ranks that could go on but for one that has no memory; the algorithms need a vector of it.
poor=$scratch/poor
compile -g -o "$poor" "$top/test/fault/no_memory.c" || not_ok "no memory" "does not compile"
if [ -z "${XMPI_TEST_SANITIZE:-}" ]; then
    export XMPI_COLL=allreduce=doubling,reduce=binomial
    mismatched "no memory" 3 "$poor"
    XMPI_SHM=0 mismatched "no memory, over a network" 4 "$poor"
    unset XMPI_COLL
    compile -g -o "$poor" "$top/test/fault/no_memory_comm.c" || not_ok "no memory" "does not compile"
    mismatched "no memory for a communicator" 3 "$poor"
    XMPI_SHM=0 mismatched "no memory for a communicator, over a network" 4 "$poor"
else
    skip "no memory" "a sanitizer needs more than may be limited"
fi
finish

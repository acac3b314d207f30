#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# xmpi plan: figures that can be worked out by hand, pictures that are as in docs, and refusals that
# name the argument, its value and a remedy.
. "${srcdir:-.}/test/lib.sh"
xmpi=${XMPI_PREFIX:+$XMPI_PREFIX/bin/xmpi}
xmpi=${xmpi:-$build/tools/xmpi}

expect() # name, exit code, wanted text, arguments of xmpi plan...; blanks are all alike
{
    name=$1 wanted=$2 text=$3
    shift 3
    got=$(timeout 60 "$xmpi" plan "$@" 2>&1)
    code=$?
    [ $code = "$wanted" ] || { not_ok "$name" "exit code $code instead of $wanted: $(echo "$got" | head -c 400)"; return; }
    case $(echo "$got" | tr -s ' \n' '  ') in
    *"$text"*) ok "$name" ;;
    *) not_ok "$name" "no \"$text\" in: $(echo "$got" | head -c 400)" ;;
    esac
}

expect "plan --help" 0 "usage: xmpi plan" --help
expect "plan --help=man" 0 ".TH XMPI-PLAN 1" --help=man
for sub in list show check cost sim draw goal import volume; do
    expect "plan $sub --help" 0 "usage: xmpi plan" $sub --help
done
expect "plan show: too large a number" 2 "-n 2147483648 is no number from 1 to 16777216" show allreduce:ring -n 2147483648
expect "plan frob" 2 "no subcommand frob" frob

# What takes long says so, once, while it computes; what is soon over does not.
timeout 4 "$xmpi" plan check allreduce:ring -n 1024 > "$scratch/out" 2> "$scratch/err"
code=$?
got=$(cat "$scratch/err")
case $code:$got in
124:"xmpi plan check: still at work on allreduce:ring, 1024 ranks, "*"(-n)"* | 0:*) ok "check: long work is told" ;;
*) not_ok "check: long work is told" "$code: $got" ;;
esac
timeout 4 "$xmpi" explain allreduce 1M -n 1048576 --nodes 16384 > "$scratch/out" 2> "$scratch/err"
code=$?
got=$(cat "$scratch/err")
case $code:$got in
124:"xmpi explain: still pricing algorithms for 1048576 ranks on 16384 nodes, "*"(-n)"* | 0:*) ok "explain: long work is told" ;;
*) not_ok "explain: long work is told" "$code: $got" ;;
esac

# list, show, check
expect "list" 0 "bcast:binomial" list
expect "list of one" 0 "alltoall:bruck" list alltoall
expect "list of nothing" 2 "no collective frob" list frob
XMPI_PLAN=$top/examples/plans/ring.plan
export XMPI_PLAN
expect "list of one's own" 0 "allreduce:my-ring may be cut $XMPI_PLAN" list allreduce
expect "show: nearly one's own" 2 "(did you mean allreduce:my-ring?)" show allreduce:mi-ring -n 4
echo "algorithm a for allreduce" > "$scratch/wrong.plan"
XMPI_PLAN=$scratch/wrong.plan
expect "list: a wrong file" 2 "XMPI_PLAN: $XMPI_PLAN:" list allreduce
expect "show: a wrong file" 2 "XMPI_PLAN: $XMPI_PLAN:" show allreduce:a -n 4
: > "$scratch/empty.plan"
XMPI_PLAN=$scratch/empty.plan
expect "list: an empty file" 2 "XMPI_PLAN: $XMPI_PLAN: there is no algorithm in the file" list allreduce
unset XMPI_PLAN
expect "show" 0 "1 fold out[2] in[2] <- 2.0 first after -" show allreduce:ring -n 8 --rank 3
expect "show in place" 0 "0 send out[3]" show allreduce:ring -n 8 --rank 3 --in-place
expect "show in place: the root" 0 "0 send in[1] -> 1.0 after - 1 send in[2] -> 2.0" show scatter:linear -n 3 --in-place
for case in "scatter:linear 3 1" "gather:binomial 5 2" "reduce:chain 4 3" "bcast:chain 4 1" "scatterv:binomial 6 4"; do
    set -- $case # ranks that are not the root have their plan, whatever the root does
    "$xmpi" plan show $1 -n $2 --rank $3 > "$scratch/out" 2>&1
    "$xmpi" plan show $1 -n $2 --rank $3 --in-place > "$scratch/in-place" 2>&1
    code=$?
    [ $code = 0 ] && cmp -s "$scratch/out" "$scratch/in-place" && ok "show in place: not the root of $1" ||
        not_ok "show in place: not the root of $1" "$code: $(cat "$scratch/in-place")"
done
expect "show in place: another root" 0 "0 recv out[0] <- 0.0" show gather:linear -n 3 --rank 2 --root 2 --in-place
for name in $("$xmpi" plan list | sed -n 's/  *between two groups.*//p'); do
    expect "show in place: two groups, $name" 2 "$name is between two groups, which are never in place; leave out --in-place" \
        show $name -n 5 --rank 3 --split 2 --in-place
done
expect "show: long plans are cut" 0 "... 212 more; --expand shows all" show allreduce:ring -n 64
expect "show --expand" 0 "251 recv" show allreduce:ring -n 64 --expand
expect "show: loops" 0 "999999 times, i = 0, 1, 2, ... 1 fold out[999999 - i] in[999999 - i] <- 999999.(i) first 2 send" \
    show allreduce:ring -n 1000000
expect "show: no rank" 2 "--rank 8 is no rank of 8; ranks go from 0 to 7" show allreduce:ring -n 8 --rank 8
expect "show: how many" 2 "As in: xmpi plan show allreduce:ring -n 8" show allreduce:ring
expect "show: no algorithm" 2 "there are: allreduce:tiny allreduce:attach allreduce:doubling" show allreduce:frob -n 8
expect "show: no collective" 2 "there are: barrier bcast" show frob:ring -n 8
expect "show: no plan" 2 "allreduce:tiny is no plan" show allreduce:tiny -n 8
expect "show: no plan either" 2 "each other's memory" show allreduce:attach -n 8
expect "show: neighbours, a ring" 0 "0 send in[0] -> 7.0" show neighbor_alltoall:direct -n 8
expect "show: neighbours, a torus" 0 "4 recv out[1] <- 4.0" show neighbor_alltoall:direct -n 12 --dims 3x4
expect "check: neighbours" 0 "16 worlds: neighbours on a torus or ring" check neighbor_allgather:direct -n 1..16
expect "check: neighbours on a torus" 0 "is right on all of 24 to 24 ranks" check neighbor_alltoallw:direct -n 24 --dims 2x3x4
expect "show: another torus" 2 "--dims is a torus of 12 places, so take -n 12" show neighbor_alltoall:direct -n 8 --dims 3x4
expect "show: no torus" 2 "--dims 3x is no shape of a torus" show neighbor_alltoall:direct -n 3 --dims 3x
expect "show: no neighbours" 2 "allreduce:ring knows no neighbours; leave out --dims" show allreduce:ring -n 4 --dims 4
expect "show: no root" 2 "allreduce:ring has no root; leave out --root 3" show allreduce:ring -n 4 --root 3
expect "show: two algorithms" 2 "allreduce:ring and bcast:chain: one algorithm at a time" show allreduce:ring bcast:chain -n 4
expect "list: two collectives" 2 "allreduce and bcast: one at a time" list allreduce bcast
expect "import: two files" 2 "a.xml and b.xml: one at a time" import a.xml b.xml -o c
for range in 4.. ..4 1..x x..4 1..99999999 ..; do
    expect "check: -n $range" 2 "-n $range is no range of ranks; as in -n 1..64, with numbers from 1 to 16777216" check allreduce:ring -n $range
done
expect "check: too many" 2 "-n 99999999 is no number from 1 to 16777216" check allreduce:ring -n 99999999
for sub in "cost --bytes 8" "sim --bytes 8" "goal --bytes 8 -o -" "draw -o $scratch/q.svg"; do
    expect "${sub%% *}: between places" 2 "allreduce:levels works between places, and all 9 ranks are in one; say on how \
many nodes they are, as in --nodes 3" ${sub%% *} allreduce:levels -n 9 ${sub#* }
    expect "${sub%% *}: between places, said" 0 "" ${sub%% *} allreduce:levels -n 9 --nodes 3 ${sub#* }
    expect "${sub%% *}: places of one rank" 2 "works between places, and one rank has one; take more ranks" ${sub%% *} \
        allreduce:levels -n 1 ${sub#* }
done
expect "show: no number" 2 "-n x is no number" show allreduce:ring -n x
expect "show: a range" 2 "only check takes a range" show allreduce:ring -n 1..8
expect "show: no option" 2 "--frob is not an option" show allreduce:ring -n 8 --frob 1
expect "check" 0 "allreduce:ring is right on all of 1 to 20 ranks" check allreduce:ring -n 1..20
expect "check: order" 0 "and in rank order" check allreduce:doubling -n 1..20
expect "check between groups" 0 "two groups" check allreduce:leaders -n 2..6
expect "check between groups: one split" 0 "5 worlds: roots, two groups" check bcast:tree -n 5 --split 2
expect "check too many" 2 "at most 4096" check allreduce:ring -n 1..100000
for much in "allreduce:ring -n 4096" "allreduce:ring -n 60 --pieces 4096"; do
    expect "check: too many steps, $much" 1 "cannot be verified on $(set -- $much; echo $3) ranks" check $much
    expect "check: too many steps, what to do" 1 "more than 10000000 steps; ask for fewer ranks or pieces" check $much
done

# Few nodes of very many ranks: what a leader does for each pair of them is counted, not written down, and who stands
# where takes no look at each rank for each.
expect "show: leaders of many" 2 "at most 10000000 are written down here" show alltoall:leaders -n 1000000 --nodes 4
expect "cost: leaders of many" 1 "at most 8000000 are performed here" cost alltoall:leaders -n 1000000 --nodes 4 --bytes 8
for name in bcast reduce; do # who leads which node is not looked for among all ranks, for each of them anew
    expect "cost: levels of many, $name" 0 "rounds 18" cost $name:levels -n 262144 --nodes 262144 --bytes 8
done
expect "show: factored of many" 0 "rank 0 of 1000000: 80 steps" show allreduce:factored -n 1000000 --nodes 4

# cost: the textbook's formulas.  The unit test price_test has them for all p up to 64.
expect "cost: ring, 2(p-1) rounds" 0 "rounds 126" cost allreduce:ring -n 64 --bytes 1MiB
expect "cost: ring, 2n(p-1)/p bytes" 0 "bytes sent 2064384 132120576" cost allreduce:ring -n 64 --bytes 1MiB
expect "cost: uneven blocks are fractions" 0 "bytes sent 13 40" cost allreduce:ring -n 3 --bytes 10 # in truth 3, 3 and 4: 14
expect "cost: and the manual says so" 0 "a fraction of the data, and the sums are rounded" --help=man
expect "cost: a million ranks" 0 "rounds 2097150" cost allreduce:ring -n 1048576 --bytes 1MiB
expect "cost: pairwise, p-1 rounds" 0 "rounds 63" cost alltoall:pairwise -n 64 --bytes 1000
expect "cost: pairwise, p-1 rounds, no power of two" 0 "bytes sent 62000" cost alltoall:pairwise -n 63 --bytes 1000
expect "show: pairwise, exchange after exchange" 0 "3 send in[1] -> 1.0 after 1 2" show alltoall:pairwise -n 4 --rank 3
expect "show: pairwise, loops" 0 "At most 1 sends and as many" show alltoall:pairwise -n 1000001
expect "cost: neighbours on a torus" 0 "rounds 6 busiest rank all ranks messages sent 6 144" cost \
    neighbor_alltoall:direct -n 24 --dims 2x3x4 --bytes 1000
expect "cost: two groups" 0 "on 8 ranks, groups of 3 and 5, 1000 bytes rounds 5 busiest rank all ranks messages sent 5 30" \
    cost allgather:spread -n 8 --split 3 --bytes 1000
expect "cost: two trees in pieces, 2 S + 2 log p" 0 "rounds 139" cost bcast:double-tree -n 64 --bytes 1MiB --pieces 64
expect "cost: all with all, p-1 rounds" 0 "rounds 63" cost allreduce:all-pairs -n 64 --bytes 8
expect "cost: two groups, halves" 0 "groups of 4 and 4" cost bcast:tree -n 8 --bytes 1000
expect "cost: no two groups" 2 "works within one group; leave out --split 3" cost bcast:binomial -n 8 --split 3 --bytes 8
expect "cost: an empty group" 2 "leaves no rank of 8 for the second group" cost bcast:tree -n 8 --split 8 --bytes 8
expect "cost: twice" 0 "1000 bytes a block, twice: first the sizes of blocks rounds 6" cost gatherv:binomial -n 8 --bytes 1000
expect "cost: twice, numbers and blocks" 0 "bytes sent 4032 12096" cost gatherv:binomial -n 8 --bytes 1000
for root in 1 3 5; do # a subtree that passes the last rank goes in one round as two messages
    expect "cost: gather to $root" 0 "rounds 3 busiest rank all ranks messages sent 2 8 bytes sent 4000 12000" \
        cost gather:binomial -n 8 --root $root --bytes 1000
    expect "cost: scatterv from $root" 0 "rounds 6 busiest rank all ranks messages sent 8 16 bytes sent 7056 12096" \
        cost scatterv:binomial -n 8 --root $root --bytes 1000
    expect "cost: scatter from $root, in turns" 0 "rounds 4" cost scatter:binomial -n 8 --root $root --bytes 8 --throttle 1
done
expect "show --throttle" 0 "2 send in[2] -> 2.0 after 0" show alltoall:spread -n 5 --rank 4 --throttle 2
expect "check --throttle" 0 "is right on all of 1 to 17 ranks" check bcast:scatter-allgather -n 1..17 --pieces 3 --throttle 1
expect "cost --throttle" 0 "1000 bytes, 1 messages at a time" cost allgather:bruck -n 9 --bytes 1000 --throttle 1
expect "sim --throttle" 0 "model time" sim alltoall:spread -n 64 --nodes 64 --bytes 64k --throttle 4
expect "cost --throttle: none" 2 "--throttle 0 is no number from 1" cost allgather:bruck -n 9 --bytes 8 --throttle 0
expect "check --pieces of blocks" 0 "is right on all of 1 to 9 ranks" check alltoallv:bruck -n 1..9 --pieces 3
expect "cost: pipeline, p-2+S rounds" 0 "rounds 38" cost bcast:chain -n 8 --pieces 32 --bytes 1MiB
expect "cost says model" 0 "model time" cost allreduce:ring -n 8 --bytes 8
expect "cost without bytes" 2 "--bytes 64k" cost allreduce:ring -n 8
expect "cost of a barrier" 0 "rounds 4" cost barrier:dissemination -n 16
expect "cost: no amount" 2 "--bytes 3x is no amount" cost allreduce:ring -n 8 --bytes 3x
expect "cost: too much" 2 "--bytes inf is no amount" cost allreduce:ring -n 8 --bytes inf
expect "cost: not a number" 2 "--bytes nan is no amount" cost allreduce:ring -n 8 --bytes nan
expect "cost: no cut" 2 "cannot be cut" cost barrier:dissemination -n 8 --pieces 2
expect "cost: too many pieces" 2 "--pieces 100000000 is no number from 1 to 4096" cost bcast:chain -n 8 \
    --pieces 100000000 --bytes 8
expect "cost: nobody would look at it" 2 "cost: --topology is for sim and not for cost; leave it out" cost allreduce:ring \
    -n 8 --bytes 8 --topology ring
expect "check: tries all roots" 2 "check: --root is for show cost sim draw goal and not for check" check bcast:chain -n 8 \
    --root 1
expect "list: nobody would look at it" 2 "list: -n is for show" list -n 8
expect "show: too many ranks" 2 "-n 2147483647 is no number from 1 to 16777216" show allgather:ring -n 2147483647
expect "show: more than an int" 2 "-n 99999999999999999999999 is no number from 1 to" show allgather:ring \
    -n 99999999999999999999999
expect "show: too long" 2 "ask for fewer ranks" show alltoall:bruck -n 1000000

# sim
expect "sim: one message" 0 "model time 5 us = latency 3 us + bandwidth 2 us" sim bcast:binomial -n 2 \
    --nodes 2 --bytes 1000 --set "net latency=3us overhead=0us gap=0us byte=2ns eager=0"
expect "sim: a million ranks" 0 "2560 steps of 64 ranks" sim allreduce:doubling -n 1048576 --nodes 16384 \
    --topology hypercube --bytes 8
expect "sim: a long ring" 0 "the rest is that line" sim allreduce:ring -n 1048576 --nodes 65536 \
    --topology ring --bytes 64M
expect "sim: too much on a ring" 0 "foretells the rest" sim allreduce:doubling -n 1048576 --nodes 16384 \
    --topology ring --bytes 8
expect "sim: nothing foretells it" 1 "ask for fewer ranks" sim allreduce:doubling -n 999999 --nodes 111111 \
    --topology ring --bytes 8
expect "sim: alike where ranges wrap" 0 "5120 steps of 64 ranks" sim allreduce:circulant -n 1000000 \
    --nodes 15625 --bytes 64k
while read -r name nodes; do # in full most of these would take minutes, or more memory than there is
    expect "sim: foretold, $name" 0 "from which a curve foretells the rest" sim "$name" -n 1000000 --bytes 64k \
        --nodes "$nodes"
done << END
allreduce:doubling 15625
allreduce:halving 1
alltoall:bruck 1
scan:doubling 1
END
for name in alltoall:leaders allreduce:torus; do # would take minutes; a torus of 7812 ranks has other sides
    expect "sim: too much, nothing foretells it, $name" 1 "ask for fewer ranks, for a power of 2" sim $name -n 1000000 \
        --bytes 64k --nodes 15625
done
for network in hypercube torus:128x128 fat-tree:64 dragonfly:128x16x8; do # its ranks all do alike, but not there
    expect "sim: a long ring on $network" 1 "than 8000000 steps, and nothing foretells it: ask for fewer ranks, or for \
another network, as wires" sim allreduce:ring -n 1048576 --nodes 16384 --bytes 8 --topology $network
done
while read -r network code text; do # as docs/plans.md says
    expect "sim: doubling on $network" $code "$text" sim allreduce:doubling -n 1048576 --nodes 16384 --bytes 8 --topology $network
done << END
torus:16x32x32 0 from which a curve foretells the rest
dragonfly:256x8x8 0 from which a curve foretells the rest
dragonfly:128x16x8 1 or for another network, as wires
dragonfly+:64x16x8x16 1 or for another network, as wires
END
for network in ring torus:4x4 hypercube fat-tree:4 dragonfly:4x2x2 dragonfly+:4x2x2x2; do
    expect "sim: $network" 0 "model LogGP, $network" sim allreduce:ring -n 64 --nodes 16 --bytes 64k \
        --topology $network
done
expect "sim: too large a topology" 2 "torus:99999x99999x9999: a network has 16777216 nodes at most, and 1048576 on a side" sim \
    allreduce:ring -n 8 --nodes 4 --bytes 8 --topology torus:99999x99999x9999
expect "sim: too long a side" 2 "has 16777216 nodes at most" sim allreduce:ring -n 8 --nodes 4 --bytes 8 --topology torus:99999999999999999999
expect "sim: too many dimensions" 2 "torus:1x1x1x1x1x1x1x1x1x1x1x1x1: a torus has 6 dimensions at most" sim allreduce:ring -n 8 --nodes 4 \
    --bytes 8 --topology torus:1x1x1x1x1x1x1x1x1x1x1x1x1
expect "sim: no topology" 2 "--topology star: there is wires" sim allreduce:ring -n 8 --nodes 4 --bytes 8 \
    --topology star
expect "sim: another size" 2 "16 nodes, not 4" sim allreduce:ring -n 8 --nodes 4 --bytes 8 \
    --topology torus:4x4
expect "sim: uneven" 2 "8 ranks cannot be spread evenly over --nodes 3" sim allreduce:ring -n 8 \
    --nodes 3 --bytes 8
echo "net latency=3us overhead=0us gap=0us byte=2ns eager=0 # slow" > "$scratch/machine"
expect "sim --machine" 0 "model time 5 us" sim bcast:binomial -n 2 --nodes 2 --bytes 1000 \
    --machine "$scratch/machine"
echo "net latency=3 parsec" > "$scratch/machine"
expect "sim --machine: wrong" 2 "latency=3 is no time; as in 1.5us" sim bcast:binomial -n 2 --nodes 2 \
    --bytes 1000 --machine "$scratch/machine"
machine() # wanted text, options
{
    text=$1
    shift
    expect "sim $*: wrong" 2 "$text" sim bcast:binomial -n 2 --nodes 2 --bytes 1000 "$@"
}
machine "\"latency=3us\" of a machine is not LEVEL NAME=VALUE; as in net latency=2us" --set latency=3us
machine '"net" of a machine is not LEVEL NAME=VALUE' --set net
machine "nothing is set; as in --set 'net latency=2us'" --set ""
machine "net latency=infs is no time" --set "net latency=infs"
machine "rank fold=1e999s is no time" --set "rank fold=1e999s"
machine "--machine /: Is a directory" --machine /
printf 'net latency=3us overhead=0us gap=0us byte=2ns eager=0\r\n\r\n# %1990s\n' x | tr -s ' ' > "$scratch/machine"
expect "sim --machine: lines that end with CR" 0 "model time 5 us" sim bcast:binomial -n 2 --nodes 2 --bytes 1000 \
    --machine "$scratch/machine"
printf '# %1990s\n' x > "$scratch/machine"
machine "a line of a machine has 998 characters at most" --machine "$scratch/machine"
expect "sim --machine: no file" 2 "No such file" sim bcast:binomial -n 2 --bytes 1 --machine /nonexistent

# draw
while read -r picture how; do
    file=$(echo "$picture" | tr : -).svg
    if "$xmpi" plan draw "$picture" $how -o "$scratch/$file" && cmp "$scratch/$file" "$top/docs/$file"
    then
        ok "draw: docs/$file"
    else
        not_ok "draw: docs/$file" "differs; xmpi plan draw $picture $how -o docs/$file"
    fi
done << END
allreduce:circulant -n 8
allreduce:ring -n 8 --graph
bcast:binomial -n 8 --graph
bcast:chain -n 6 --pieces 4
END
expect "draw: all of it" 0 "</svg>" draw allreduce:ring -n 8 --graph -o -
for name in neighbor_allgather:direct allreduce:leaders gatherv:binomial alltoallv:bruck; do
    expect "draw: $name" 0 "</svg>" draw $name -n 8 -o -
done
expect "draw: where to" 2 "-o FILE.svg" draw allreduce:ring -n 8
expect "draw: too many" 2 "more than 64 ranks" draw allreduce:ring -n 65 -o -
expect "draw: no folder" 1 "No such file" draw allreduce:ring -n 8 -o /nonexistent/a.svg

# goal: every message has its other end, of the same length, and what is required is there
goal_is_whole()
{
    awk '/^rank/ { rank = $2; split("", known) }
        /: (send|recv|calc)/ { known[$1] = 1 }
        / send / { ends[rank " " $5 " " $7] = $3; sends++ }
        / recv / { takes[$5 " " rank " " $7] = $3; receives++ }
        / requires / && !(($1 ":") in known && ($3 ":") in known) { bad = 1 }
        END { for (e in ends) if (ends[e] != takes[e]) bad = 1
              print sends, receives; exit bad || sends == 0 || sends != receives }' "$1"
}
for case in "scatterv:binomial 8 14" "neighbor_alltoall:direct 9 18" "allreduce:leaders 8 14" "allreduce:ring 8 112" "bcast:double-tree 9 16" "alltoall:bruck 7 21" "allreduce:halving 6 20"; do
    set -- $case
    "$xmpi" plan goal "$1" -n "$2" --bytes 56000 -o "$scratch/goal" 2> "$scratch/out"
    if got=$(goal_is_whole "$scratch/goal") && [ "$got" = "$3 $3" ]; then
        ok "goal: $1"
    else
        not_ok "goal: $1" "$got messages, not $3; $(cat "$scratch/out")"
    fi
done
uneven= # What each rank is sent, to the byte, however unevenly it is cut; and a range that wraps is two messages, as in the plan.
goal_bytes() # messages; what all ranks receive; what the rank does that receives most
{
    awk '/^rank/ { rank = $2 } / recv / { n++; sum += $3; all[rank] += $3 }
        END { for (r in all) if (all[r] > most) most = all[r]; print n + 0, sum + 0, most + 0 }' "$1"
}
for n in 2 3 7 32; do
    for bytes in 1 8 10 1001; do
        for pieces in 1 3; do
            one=$((bytes * (n - 1)))
            for case in "bcast:chain $one $bytes" "bcast:scatter-allgather $one $bytes" "reduce:chain $one $bytes" \
                "allreduce:ring $((2 * one))" "allreduce:circulant $((2 * one))" "reduce_scatter:ring $one" \
                "allgather:circulant $((n * one)) $one" "alltoall:spread $((n * one)) $one" "gather:linear $one $one"; do
                set -- $case
                "$xmpi" plan goal $1 -n $n --bytes $bytes --pieces $pieces -o "$scratch/goal" 2> "$scratch/out"
                got=$(goal_bytes "$scratch/goal")
                case "$(goal_is_whole "$scratch/goal" > /dev/null && echo whole) $got " in
                whole*" $2 ${3:+$3 }"*) continue ;;
                esac
                uneven=wrong
                not_ok "goal: bytes of $1, n=$n bytes=$bytes pieces=$pieces" "$got, not $2 $3; $(cat "$scratch/out")"
            done
        done
    done
done
[ -n "$uneven" ] || ok "goal: no byte is lost or invented"
expect "goal: a piece is cut as it is sent" 0 "l5: send 4b to 1 tag 2" goal bcast:chain -n 3 --bytes 10 --pieces 3 -o -
for case in allreduce:circulant:48 allgather:nhr:30 reduce_scatter:circulant:24 alltoallv:bruck:0; do
    name=${case%:*}
    "$xmpi" plan goal $name -n 7 --bytes 1000 -o "$scratch/goal" 2> "$scratch/out"
    counted=$("$xmpi" plan cost $name -n 7 --bytes 1000 | awk '/messages sent/ { print $4 }')
    got=$(goal_bytes "$scratch/goal")
    [ "${got%% *}" = "$counted" ] && [ "${case##*:}" = 0 -o "${case##*:}" = "$counted" ] && ok "goal: messages of $name" ||
        not_ok "goal: messages of $name" "$got, not $counted; $(cat "$scratch/out")"
done
expect "goal: a fold takes time" 0 "l4: calc 50 l4 requires l3" goal allreduce:ring -n 3 --bytes 3000 -o -
for name in allreduce:ring alltoall:spread allreduce:doubling; do # at once: not after it was said that it may take minutes
    got=$("$xmpi" plan goal $name -n 1000000 --bytes 8 -o "$scratch/goal" 2>&1)
    case $?:$got in
    1:"xmpi plan goal: $name on 1000000 ranks is about "*" steps; at most 8000000 are performed here"*) ok "goal: too much, $name" ;;
    *) not_ok "goal: too much, $name" "$got" ;;
    esac
done
"$xmpi" plan goal allreduce:ring -n 64 --bytes 10 -o - 2> "$scratch/out" > /dev/full
[ "$?:$(cat "$scratch/out")" = "1:xmpi: cannot write: No space left on device" ] && ok "goal: no space" || not_ok "goal: no space" "$(cat "$scratch/out")"
expect "goal: where to" 2 "-o ring.goal" goal allreduce:ring -n 3 --bytes 3000

# import
for name in allreduce_ring allreduce_allpairs allgather_recursive_doubling; do
    expect "import: $name" 0 "is right on 4 ranks" import "$top/test/plan/msccl/$name.xml" -o "$scratch/$name.plan"
done
sed 's/type="rrs"/type="rsr"/' "$top/test/plan/msccl/allreduce_ring.xml" > "$scratch/type.xml"
expect "import: no type" 1 'line 5: type="rsr": there is s, r' import "$scratch/type.xml" -o "$scratch/a.plan"
doubling=$top/test/plan/msccl/allgather_recursive_doubling.xml
sed '4,10s/s="2"/s="1"/; 5d' "$doubling" > "$scratch/lost.xml" # the first send
expect "import: a step lost" 1 "waits for ever" import "$scratch/lost.xml" -o "$scratch/a.plan"
sed 's/s_chunks="0"/s_chunks="9"/; s/type="cpy" srcbuf="i"/type="cpy" srcbuf="s"/' "$top/test/plan/msccl/allgather_recursive_doubling.xml" > "$scratch/far.xml"
expect "import: nobody's chunk" 1 "a chunk that nobody has written" import "$scratch/far.xml" -o "$scratch/a.plan"
sed 's/type="rrs"/type="rcs"/' "$top/test/plan/msccl/allreduce_ring.xml" > "$scratch/sum.xml"
expect "import: not a sum" 1 "sum.xml: line 1: algorithm allreduce-ring is wrong" import "$scratch/sum.xml" -o "$scratch/a.plan"
# What is refused leaves no file, and no damage to the one that was there.
test -e "$scratch/a.plan" && not_ok "import: nothing is left" "$(head -n 3 "$scratch/a.plan")" || ok "import: nothing is left"
for pair in allreduce_ring_4gpus:allreduce-ring_4gpus 4_:x_ a__1-b:a__1-b; do
    sed "s/name=\"allreduce_ring\"/name=\"${pair%:*}\"/" "$top/test/plan/msccl/allreduce_ring.xml" > "$scratch/name.xml"
    expect "import: name ${pair%:*}" 0 "allreduce:${pair#*:} is right on 4 ranks" import "$scratch/name.xml" -o "$scratch/name.plan"
    export XMPI_PLAN="$scratch/name.plan"
    expect "import: the name ${pair#*:} is read" 0 "is right on all" check "allreduce:${pair#*:}" -n 4
    unset XMPI_PLAN
done
cp "$scratch/name.plan" "$scratch/kept.plan"
"$xmpi" plan import "$scratch/sum.xml" -o "$scratch/name.plan" 2> /dev/null
cmp -s "$scratch/name.plan" "$scratch/kept.plan" && ok "import: what was there is kept" ||
    not_ok "import: what was there is kept" "another text is in its place"
expect "import: no room" 1 "cannot write /dev/full: No space left" import "$top/test/plan/msccl/allreduce_ring.xml" -o /dev/full
expect "import: no folder" 1 "cannot write $scratch/none/x: No such file" import "$top/test/plan/msccl/allreduce_ring.xml" -o "$scratch/none/x"
ring=$top/test/plan/msccl/allreduce_ring.xml
sed "s/\"/'/g; s/proto='Simple'/proto='a > b' note='name=\"x\"'/" "$ring" > "$scratch/quotes.xml"
expect "import: single quotes, angles in them" 0 "allreduce:allreduce-ring is right on 4 ranks" import "$scratch/quotes.xml" \
    -o "$scratch/b.plan"
sed '4s/srcoff="0"/srcoff="9999"/' "$ring" > "$scratch/wide.xml"
expect "import: no such chunk" 1 "wide.xml: line 4: chunks 9999 to 9999 of i, but gpu 0 has 4" import "$scratch/wide.xml" \
    -o "$scratch/a.plan"
broken() # wanted text, sed's script: of the allgather
{
    sed "$2" "$doubling" > "$scratch/broken.xml"
    expect "import: $1" 1 "broken.xml: line $1" import "$scratch/broken.xml" -o "$scratch/a.plan"
}
broken '6: s="7", but the next step of this thread block is 2' '6s/s="2"/s="7"/'
broken '7: a thread block inside of another one' '7s/.*/<tb id="1" send="2" recv="2" chan="1">/'
broken '8: thread block 0 of gpu 0 is there twice' '8s/id="1"/id="0"/'
broken '11: </gpu> inside of a thread block' '11d'
broken '13: gpu 0 is there twice' '13s/id="1"/id="0"/'
broken '13: a gpu inside of gpu 0' '12d; 11s,$,\n,'
broken '9: waits for step 2 of thread block 5, which gpu 0 has not' '9s/depid="0"/depid="5"/'
broken '9: waits for step 3 of thread block 0, which gpu 0 has not' '9s/deps="2"/deps="3"/'
lines=$(wc -l < "$ring")
{ cat "$ring"; echo "<algo/>"; } > "$scratch/more.xml"
expect "import: two algorithms" 1 "line $((lines + 1)): something behind </algo>" import "$scratch/more.xml" -o "$scratch/a.plan"
{ cat "$ring"; echo "<!-- end -->"; echo "x"; } > "$scratch/more.xml"
expect "import: text at the end" 1 "line $((lines + 2)): something behind </algo>" import "$scratch/more.xml" -o "$scratch/a.plan"
{ cat "$ring"; echo "<!-- > end -->"; } > "$scratch/more.xml"
expect "import: a comment at the end" 0 "is right on 4 ranks" import "$scratch/more.xml" -o "$scratch/b.plan"
sed '$d' "$ring" > "$scratch/less.xml"
expect "import: cut off" 1 "the file ends before </algo>" import "$scratch/less.xml" -o "$scratch/a.plan"
expect "import: no file" 1 "cannot be read: No such file" import /nonexistent -o "$scratch/a.plan"
expect "import: where to" 2 "-o ring.plan" import "$top/test/plan/msccl/allreduce_ring.xml"

# what cannot work on so many ranks, in the same words whatever is asked of it
for sub in show check "cost --bytes 8" "sim --bytes 8" "goal --bytes 8 -o -" "draw -o $scratch/a.svg"; do
    case $sub in check) remedy= ;; *) remedy="bcast:bine on 3 ranks: " ;; esac
    expect "${sub%% *}: on so many ranks" 2 "${remedy}the number of ranks is not a power of two; take 2 or 4" ${sub%% *} \
        bcast:bine -n 3 $(case $sub in *" "*) echo "${sub#* }" ;; esac)
done
expect "cost: an odd number of ranks" 2 "the number of ranks is odd; take 2" cost allgather:neighbour -n 1 --bytes 8

# one's own
export XMPI_PLAN="$top/examples/plans/ring.plan"
sed 's/^blocks.*/&\nrequire p mod 3 == 0/' "$XMPI_PLAN" > "$scratch/thirds.plan"
expect "check: one's own" 0 "is right on all of 1 to 9 ranks" check allreduce:my-ring -n 1..9
XMPI_PLAN=$scratch/thirds.plan
expect "check: sizes that it excludes" 0 "left out: 5 numbers of ranks, since there a \"require\" of its text" \
    check allreduce:my-ring -n 2..8
expect "check: no size that it serves" 2 "nothing to check on 4 to 5 ranks: a \"require\" of its text says that" \
    check allreduce:my-ring -n 4..5
XMPI_PLAN=$top/examples/plans/ring.plan
for wrong in /nonexistent "$scratch/wrong.plan"; do # as a program is told by its first collective, whatever it uses
    got=$(XMPI_PLAN=$wrong "$xmpi" explain allreduce 8 2>&1)
    case $? in
    1) case $got in *"XMPI_PLAN: "*"$wrong"*) ok "XMPI_PLAN: wrong" ;; *) not_ok "XMPI_PLAN: wrong" "$got" ;; esac ;;
    *) not_ok "XMPI_PLAN: wrong" "no error: $got" ;;
    esac
done
expect "cost: one's own" 0 "rounds 126" cost allreduce:my-ring -n 64 --bytes 1MiB
unset XMPI_PLAN

# What is wrong with one's own, wherever it shows: by the line, never hidden.
own() # wanted text, statement of a plan whose text has it in line 3
{
    printf 'algorithm a for allreduce\nblocks in 1 out 1 tmp 0\n%s\n' "$2" > "$scratch/own.plan"
    export XMPI_PLAN="$scratch/own.plan"
    case $2 in
    require*) expect "check: $1" 2 "nothing to check on 1 to 3 ranks: a \"require\" of its text" check allreduce:a -n 1..3 ;;
    *) expect "check: $1" 1 "allreduce:a is wrong on 1 ranks: rank 0 has no plan: $XMPI_PLAN:3:$1" \
        check allreduce:a -n 1..6 ;;
    esac
    for sub in show "cost --bytes 8" "sim --bytes 8" "draw -o $scratch/own.svg" "goal --bytes 8 -o $scratch/own.goal"; do
        expect "${sub%% *}: $1" 1 "$XMPI_PLAN:3:$1" ${sub%% *} allreduce:a -n 1 ${sub#"${sub%% *}"}
    done
    unset XMPI_PLAN
}
own "11: division by 0" "let x = 1 / (p - p)"
own "11: mod by 0" "let x = 1 mod (p - p)"
own "15: rank 0 of 1: rank 0 is itself" "send in[0] -> me"
own "6: rank 0 of 1: in[7 .. 7], but there are 1 blocks" "send in[7] -> 1"
own "5: rank 0 of 1: more than 1048576 statements" "for i in 0 .. 2000000 { }"
own "9: it does not serve 1 ranks" "require p == 4"
printf 'algorithm a for bcast\nblocks in 0 out 1 tmp 0\nrequire p == 2 and root == 0\nif me == 0 { send out[0] -> 1 }\n%s' \
    'else { recv out[0] <- 0 }' > "$scratch/own.plan"
export XMPI_PLAN="$scratch/own.plan"
expect "check: one root only" 1 "own.plan:3:9: it does not serve 2 ranks when the root is 1, as any may be" \
    check bcast:a -n 2
printf 'algorithm a for allreduce\nblocks in 1 out 1 tmp 2147483647\n' > "$scratch/own.plan"
export XMPI_PLAN="$scratch/own.plan"
expect "check: too many blocks" 1 "own.plan:2:1: 2147483647 blocks of tmp; from 0 to 1048576" check allreduce:a -n 1..6
printf 'algorithm a for allreduce\nblocks in 1 out 1 tmp 0\ncopy out[0] in[0]\nif me == 0 and p > 1 { send in[0] -> 1 }\n' \
    > "$scratch/own.plan"
expect "check: a step" 1 "allreduce:a is wrong on 2 ranks: line 4: " check allreduce:a -n 1..6

long=$(printf '%047d' 0 | tr 0 a) # the longest name there may be: 70 letters and more are no longer cut off
printf 'algorithm %s for allreduce\nblocks in 1 out 1 tmp 0\ncopy out[0] in[0]\n' "$long" > "$scratch/own.plan"
expect "draw: a long name" 0 'viewBox="0 0 652 ' draw allreduce:"$long" -n 1 -o -
XMPI_PLAN=$top/examples/plans/ring.plan
sed 's/my-ring/ring/' "$XMPI_PLAN" > "$scratch/taken.plan"
XMPI_PLAN=$scratch/taken.plan
expect "check: a name of the library" 2 "taken.plan:5: the library has an algorithm ring for allreduce" \
    check allreduce:ring -n 4
unset XMPI_PLAN
sed 's/name="allreduce_ring"/name="ring"/' "$top/test/plan/msccl/allreduce_ring.xml" > "$scratch/taken.xml"
expect "import: a name of the library" 1 "taken.xml: line 1: the library has an algorithm ring for allreduce" \
    import "$scratch/taken.xml" -o "$scratch/a.plan"

# volume: by hand, for 32 layers of width 4096, 64 sequences of 2048 tokens, two bytes per number
size="--layers 32 --hidden 4096 --batch 64"
expect "volume: data" 0 "data allreduce 8 1 12884901888 22548578304" volume $size --dp 8
expect "volume: tensor" 0 "tensor allreduce 4 128 1073741824 206158430208" volume $size --tp 4
expect "volume: pipeline" 0 "pipeline send 4 16 134217728 2147483648" volume $size --pp 4 --micro-batches 8
expect "volume: expert" 0 "expert alltoall 4 128 268435456 25769803776" volume $size --dp 4 --ep 4
expect "volume: experts are shared by few" 0 "data allreduce 2 1 8589934592 8589934592" volume $size \
    --dp 8 --ep 4
expect "volume: dtype" 0 "data allreduce 8 1 25769803776" volume $size --dp 8 --dtype fp32
expect "volume: nothing to send" 0 "1 ranks" volume $size
printf '\357\273\277net latency=1s\n' > "$scratch/machine"
expect "cost: a byte order mark" 0 "1 s" cost bcast:binomial -n 2 --nodes 2 --bytes 8 --machine "$scratch/machine"
printf 'net \033[2J\n' > "$scratch/machine"
expect "cost: garbage" 2 '"\x1b[2J" of a machine is not NAME=VALUE' cost bcast:binomial -n 2 --bytes 8 --machine "$scratch/machine"
expect "volume: too large a number" 2 "--layers 99999999999 is no number from 1 to 2147483647" volume --layers 99999999999
expect "volume: missing" 2 "missing: --hidden (width of a layer)" volume --layers 32 --batch 64
expect "volume: all that is missing" 2 "--layers (layers), --hidden (width of a layer), --batch (sequences" volume --dp 8
expect "volume: uneven" 2 "--layers 32 cannot be shared evenly by --pp 3; take a divisor" volume $size --pp 3
expect "volume: dtype of nothing" 2 "there is fp8, bf16" volume $size --dtype int4
finish

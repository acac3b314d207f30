#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Algorithms of one's own: the examples with data, in place and not, and what is wrong said clearly.
. "${srcdir:-.}/test/lib.sh"
plans=$top/examples/plans

for program in coll_basic coll_inplace coll_nonblocking persistent; do
    compile -I"$top" -o "$scratch/$program" "$top/test/conform/$program.c" -lm > "$scratch/out" 2>&1 ||
        { not_ok "plans/$program" "does not compile"; cat "$scratch/out"; continue; }
    for np in 1 2 3 4 5; do
        case_run "plans/$program ring, tree np=$np" 60 env XMPI_PLAN="$plans/ring.plan,$plans/binomial.plan" \
            XMPI_COLL=allreduce=my-ring,bcast=my-tree:pieces=2 "$XMPIRUN" -np $np "$scratch/$program"
        case_run "plans/$program two levels np=$np" 60 env XMPI_PLAN="$plans/two-level.plan" \
            XMPI_COLL=allreduce=my-levels "$XMPIRUN" -np $np "$scratch/$program"
    done
done

# MSCCL's XML, imported, with data
xmpi=${XMPI_PREFIX:+$XMPI_PREFIX/bin/xmpi}
for name in allreduce_ring allreduce_allpairs allgather_recursive_doubling; do
    what=${name%%_*} own=$(echo "$name" | tr _ -)
    if ! "${xmpi:-$build/tools/xmpi}" plan import "$top/test/plan/msccl/$name.xml" -o "$scratch/own.plan" \
        > "$scratch/out" 2>&1; then
        not_ok "plans/$name" "$(cat "$scratch/out")"
        continue
    fi
    for program in coll_basic coll_inplace persistent; do
        case_run "plans/$program $name" 60 env XMPI_PLAN="$scratch/own.plan" XMPI_COLL=$what=$own \
            "$XMPIRUN" -np 4 "$scratch/$program"
    done
done
got=$(XMPI_PLAN="$scratch/own.plan" XMPI_COLL=allgather=allgather-recursive-doubling timeout 20 "$XMPIRUN" \
    -np 3 "$scratch/coll_basic" 2>&1)
case $got in
*"own.plan:4:9: it does not serve 3 ranks"*) ok "plans: for another number of ranks" ;;
*) not_ok "plans: for another number of ranks" "$got" ;;
esac

refuse() # name, wanted text, XMPI_COLL, file
{
    got=$(XMPI_PLAN=$4 XMPI_COLL=$3 timeout 20 "$XMPIRUN" -np 3 "$scratch/coll_basic" 2>&1)
    [ $? != 0 ] || { not_ok "$1" "the program ran"; return; }
    case $got in
    *"$2"*) ok "$1" ;;
    *) not_ok "$1" "no \"$2\" in: $got" ;;
    esac
}
sed 's/recv out.*//' "$plans/ring.plan" > "$scratch/lost.plan"
refuse "plans: a message that nobody takes" "lost.plan:18: algorithm my-ring is wrong" allreduce=my-ring \
    "$scratch/lost.plan"
sed 's/mod p\] <- left$/mod p + p] <- left/' "$plans/ring.plan" > "$scratch/far.plan"
refuse "plans: a block that is not there" "far.plan:19:10: rank 0 of 3: out[" allreduce=my-ring \
    "$scratch/far.plan"
sed 's/fold out/flod out/' "$plans/ring.plan" > "$scratch/word.plan"
refuse "plans: a wrong word" "word.plan:14:5: expected send" allreduce=my-ring "$scratch/word.plan"
refuse "plans: a wrong name" 'no algorithm "my-rnig"' allreduce=my-rnig "$plans/ring.plan"
refuse "plans: the right names are said" "factored my-ring" allreduce=my-rnig "$plans/ring.plan"
refuse "plans: no file" "cannot read $scratch/none" allreduce=my-ring "$scratch/none"

# Of two of one name, one would never be used.
printf 'algorithm ring for allreduce\nblocks in 1 out 1 tmp 0\ncopy out[0] in[0]\n' > "$scratch/taken.plan"
refuse "plans: a name of the library" "taken.plan:1: the library has an algorithm ring for allreduce" \
    allreduce=ring "$scratch/taken.plan"
cat "$plans/ring.plan" "$plans/ring.plan" > "$scratch/double.plan"
refuse "plans: a name twice in a file" "double.plan:25: there is an algorithm my-ring for allreduce in $scratch/double.plan:5" \
    allreduce=my-ring "$scratch/double.plan"
sed 's/tours/turns/' "$plans/ring.plan" > "$scratch/other.plan"
refuse "plans: a name in two files" "other.plan:5: there is an algorithm my-ring for allreduce in $plans/ring.plan:5" \
    bcast=binomial "$plans/ring.plan,$scratch/other.plan"
cp "$plans/ring.plan" "$scratch/same.plan"
case_run "plans: one text by two paths" 30 env XMPI_PLAN="$plans/ring.plan,$scratch/same.plan" \
    XMPI_COLL=allreduce=my-ring "$XMPIRUN" -np 3 "$scratch/coll_basic"

# It has a price like those of the library: here that of the ring that it is.
price() { XMPI_PLAN="$plans/ring.plan" XMPI_COLL=allreduce=$1 "${xmpi:-$build/tools/xmpi}" explain allreduce 64k -n 4 |
    awk -v name="$1" '$1 == name && / chosen$/ { print $2 }'; }
own=$(price my-ring) theirs=$(price ring)
[ -n "$own" ] && [ "$own" = "$theirs" ] && [ "$own" != - ] && ok "plans: explain has a price" ||
    not_ok "plans: explain has a price" "$own, not $theirs"
got=$(XMPI_EXPLAIN=allreduce XMPI_PLAN="$plans/ring.plan" XMPI_COLL=allreduce=my-ring timeout 30 "$XMPIRUN" -np 3 \
    "$scratch/coll_basic" 2>&1 | grep " chosen$")
case $got in
*my-ring*" -  "* | "") not_ok "plans: XMPI_EXPLAIN has a price" "$got" ;;
*my-ring*) ok "plans: XMPI_EXPLAIN has a price" ;;
*) not_ok "plans: XMPI_EXPLAIN has a price" "$got" ;;
esac

echo "allreduce : my-ring 5us" > "$scratch/table"
case_run "plans: named by a tuning file" 30 env XMPI_PLAN="$plans/ring.plan" XMPI_TUNING="$scratch/table" \
    "$XMPIRUN" -np 3 "$scratch/coll_basic"

# A require of its text, and a text that is wrong, are asked before it is chosen.
cat > "$scratch/pair.plan" <<'PLAN'
algorithm pair for allreduce
blocks in 1 out 1 tmp 0
require p == 2
send in[0] -> 1 - me
fold out[0] in[0] <- 1 - me last
PLAN
explain() # name, wanted code and text, what explain is asked, assignments
{
    name=$1 want=$2 text=$3 asked=$4
    shift 4
    got=$(env XMPI_PLAN="$scratch/pair.plan" "$@" "${xmpi:-$build/tools/xmpi}" explain allreduce 4000 $asked 2>&1)
    code=$?
    case $code:$got in
    $want:*"$text"*) ok "$name" ;;
    *) not_ok "$name" "$code, no \"$text\" in: $got" ;;
    esac
}
echo "allreduce ranks=2..3 : pair 1us, doubling 2us" > "$scratch/table"
explain "plans: a tuning file, where it serves" 0 "on 2 ranks: pair (measured" "-n 2" XMPI_TUNING="$scratch/table"
explain "plans: a tuning file, where it does not" 0 "on 3 ranks: doubling (measured" "-n 3" XMPI_TUNING="$scratch/table"
case_run "plans: a tuning file, where it does not, with data" 30 env XMPI_PLAN="$scratch/pair.plan" \
    XMPI_TUNING="$scratch/table" "$XMPIRUN" -np 3 "$scratch/coll_basic"
echo "allreduce ranks=3..4 : pair 1us, doubling 2us" > "$scratch/table"
explain "plans: a tuning file, where it never serves" 1 \
    "table:1: pair cannot work on so many ranks: $scratch/pair.plan:3:9: it does not serve 4 ranks" "-n 3" \
    XMPI_TUNING="$scratch/table"
explain "plans: forced where it does not serve" 1 "which cannot perform this call: $scratch/pair.plan:3:9: it does not" \
    "-n 3" XMPI_COLL=allreduce=pair
explain "plans: explain of a wrong one" 1 "lost.plan:18: algorithm my-ring is wrong" "-n 3" \
    XMPI_COLL=allreduce=my-ring XMPI_PLAN="$scratch/lost.plan"

# Blocks on their way through scratch: of gatherv their sizes go first, and a root in place has no input.
cat > "$scratch/via.plan" <<'PLAN'
algorithm chain for gatherv
blocks in 1 out p tmp p
if me == root {
    copy out[root] in[0]
    for i in 1 .. p - 1 { recv out[(root + i) mod p] <- (root + 1) mod p }
} else {
    let far = (me - root) mod p
    send in[0] -> (me - 1) mod p
    for i in far + 1 .. p - 1 {
        recv tmp[i] <- (me + 1) mod p
        send tmp[i] -> (me - 1) mod p
    }
}
algorithm stop for gather
blocks in 1 out p tmp p
if me == root {
    copy out[me] in[0]
    for r in 0 .. p - 1 { if r != me {
        recv tmp[r] <- r
        copy out[r] tmp[r]
    } }
} else { send in[0] -> root }
PLAN
for program in coll_inplace coll_vector; do
    compile -I"$top" -o "$scratch/$program" "$top/test/conform/$program.c" -lm > "$scratch/out" 2>&1 ||
        { not_ok "plans/$program" "does not compile"; cat "$scratch/out"; continue; }
    for np in 2 3 4; do
        case_run "plans/$program through scratch np=$np" 60 env XMPI_PLAN="$scratch/via.plan" \
            XMPI_COLL=gatherv=chain,gather=stop "$XMPIRUN" -np $np "$scratch/$program"
    done
done
finish

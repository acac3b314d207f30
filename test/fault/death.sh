#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A rank dies under --keep-going: each survivor gets the error, in each kind of call and amid mixed
# traffic, and nothing is left.  DEATHS=200 for more of the latter.
srcdir=${top:-.}
. "$srcdir/test/lib.sh"
XMPI_SCRATCH=$scratch
. "$top/test/fault/launch.inc"
death=$scratch/dying traffic=$scratch/traffic farewell=$scratch/farewell
compile -o "$death" "$top/test/fault/death.c" &&
    compile -o "$traffic" "$top/test/fault/death_traffic.c" &&
    compile -o "$farewell" "$top/test/fault/farewell.c" ||
    { not_ok "death" "does not compile"; finish; }
mkdir -p "$dir/tmp"
export TMPDIR="$dir/tmp"
shared=$(ls -A /dev/shm 2> /dev/null)

# survivors NAME ATLEAST: the last run ended with code 137 and so many survivors came back
survivors() {
    back=$(grep -c '^back' "$dir/out")
    if [ $code = 137 ] && [ "$back" -ge "$2" ] && ! grep -q '^bad' "$dir/out"; then
        ok "$1"
    else
        not_ok "$1" "exit code $code, $back of $2 survivors came back"
        grep '^bad' "$dir/out" | head -n 5
    fi
}

for call in recv recv_long send_long ssend flood any any_request barrier allreduce allreduce_long \
    alltoall_long iallreduce_long bcast ibarrier waitall probe mprobe dup split survivors sendrecv start precv pready test finalize freed \
    chain late unread again_barrier again_allreduce again_bcast again_gather; do
    run 20 --keep-going -np 4 "$death" $call 1
    survivors "a rank dies while the others are in: $call" 3
done
run 20 --keep-going -np 3 "$death" recv 0
survivors "rank 0 dies" 2
XMPI_POLITE=always run 20 --keep-going -np 3 "$death" barrier 2
survivors "the others sleep" 2
XMPI_SHM_SINGLE_COPY=none run 20 --keep-going -np 3 "$death" send_long 1
survivors "a long message is being copied" 2
XMPI_SHM_SINGLE_COPY=cma run 20 --keep-going -np 3 "$death" send_long 1
survivors "a long message is being read" 2

# over other wires, and with news from other servers
XMPI_SHM=0 run 20 -np 2 "$death"
network=XMPI_SHM=1
if grep -q usage "$dir/out"; then
    network=XMPI_SHM=0
    for call in recv send_long allreduce_long any unread freed; do
        XMPI_SHM=0 run 20 --keep-going -np 3 "$death" $call 1
        survivors "over the network: $call" 2
    done
else
    echo "skip launch: deaths over the network: $(grep -m 1 -o 'messages to other nodes.*' "$dir/err")"
fi

# The last thing that survivors do together, on a communicator of theirs: by slots, in each other's memory, by messages.
farewells() { # NAME MODE "CALL BYTES"...
    what=$1 mode=$2
    shift 2
    for call in "$@"; do
        run 20 --keep-going -np 5 "$farewell" $mode $call
        survivors "$what, $mode: $call" 4
    done
}
for wire in XMPI_SHM=1 XMPI_SHM=0; do
    [ $wire = XMPI_SHM=1 ] || [ $wire = $network ] || continue
    export $wire
    farewells "survivors part, $wire" all "barrier 0" "bcast 8" "bcast 300000" "scatter 8" "scatter 300000" "scan 8" \
        "scan 300000" "reduce 300000" "gather 8" "gather 300000" "allgather 8" "allgather 300000" "allreduce 300000" \
        "ibcast 8" "ibcast 300000" "iallreduce 300000" "dup 0" "split 0" "message 8"
    for mode in vain gone; do
        farewells "one does not come, $wire" $mode "barrier 0" "bcast 300000" "scan 300000" "allreduce 8" \
            "allreduce 1000000" "ibcast 8" "dup 0"
    done
done
unset XMPI_SHM
run 20 --pmix=always -np 2 env -u XMPI_BOOT "$death"
if grep -q usage "$dir/out"; then
    for call in recv barrier; do
        XMPI_POLITE=never run 20 --keep-going -np 3 env -u XMPI_BOOT "$death" $call 1
        survivors "told by PMIx: $call" 2
    done
else
    echo "skip launch: deaths told by PMIx: ranks cannot boot over PMIx here"
fi

# xmpirun does not reap: the others find out by themselves
start --keep-going -np 3 -x DEATH_READY="$dir/ready" "$death" recv 1
while [ ! -e "$dir/ready" ] && kill -0 $pid 2> /dev/null; do sleep 0.01; done
kill -STOP $pid
sleep 3.2
kill -CONT $pid
collect
survivors "xmpirun sleeps meanwhile" 2

# by default the job ends, with the first cause
run 20 -np 3 "$death" barrier 1
check "without --keep-going: the exit code" $code 137
check_says "without --keep-going: the cause" "rank 1 .*signal 9"

i=0 wrong=0
while [ $i -lt "${DEATHS:-20}" ]; do
    i=$((i + 1))
    np=$((3 + i % 4)) victims=$((1 + i % 3 / 2))
    case $((i % 5)) in # over the rings, by the kernel, over the network
    1) wire=XMPI_SHM_SINGLE_COPY=cma ;;
    2) wire=$network ;;
    *) wire=XMPI_SHM=1 ;;
    esac
    run 20 --keep-going -np $np env "$wire" "$traffic" $i $victims
    back=$(grep -c '^back' "$dir/out")
    [ $code = 137 ] && [ "$back" -ge $((np - victims)) ] && continue
    wrong=$((wrong + 1))
    echo "    | seed $i, $np ranks, $wire: exit code $code, $back back"
    grep '^bad' "$dir/out" | head -n 3
done
check "kills amid mixed traffic: survivors that did not come back, of $i jobs" $wrong 0
check "no process is left" "$(leftovers_soon)" 0
check "no file is left" "$(ls -A "$TMPDIR" | wc -l)" 0
# Other jobs of this machine may have begun meanwhile: theirs begin with the pid of a living xmpirun, or go
# with it.
new=0
for name in $(ls -A /dev/shm 2> /dev/null | grep -vxF "$shared" | grep "^xmpi"); do
    owner=${name#xmpi-} && [ -d "/proc/${owner%%-*}" ] || { sleep 1; [ ! -e "/dev/shm/$name" ]; } || new=$((new + 1))
done
check "no shared memory has a name" "$new" 0
finish

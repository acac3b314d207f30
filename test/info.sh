#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The command xmpi: what info prints is there, is right where it can be compared, and is JSON.
. "${srcdir:-.}/test/lib.sh"
xmpi=${XMPI_PREFIX:+$XMPI_PREFIX/bin/xmpi}
xmpi=${xmpi:-$build/tools/xmpi}

expect() # name, exit code, wanted text, command...
{
    name=$1 wanted=$2 text=$3
    shift 3
    got=$(timeout 20 "$@" 2>&1)
    code=$?
    [ $code = "$wanted" ] || { not_ok "$name" "exit code $code instead of $wanted: $got"; return; }
    case $got in
    *"$text"*) ok "$name" ;;
    *) not_ok "$name" "no \"$text\" in: $got" ;;
    esac
}

expect "xmpi without a command" 2 "usage: xmpi COMMAND" "$xmpi"
expect "xmpi with a wrong command" 2 "no command frob" "$xmpi" frob
expect "xmpi help" 0 "info" "$xmpi" help
expect "xmpi help info" 0 "usage: xmpi info" "$xmpi" help info
expect "xmpi help frob" 2 "no command frob" "$xmpi" help frob
expect "xmpi --version" 0 "xmpi " "$xmpi" --version
expect "xmpi --help=man" 0 ".TH XMPI 1" "$xmpi" --help=man
expect "xmpi --help=man: sentences" 0 "
Measures collectives here and writes which algorithms are fastest.
" "$xmpi" --help=man
expect "xmpi info --frob" 2 "not an option" "$xmpi" info --frob
expect "xmpi info: standard" 0 "MPI 5.0" "$xmpi" info
expect "xmpi info: links" 0 "shm" "$xmpi" info
if ldconfig -p 2> /dev/null | grep -q 'libfabric\.so\.1' && "$xmpi" info | grep -q ' used: '; then
    expect "xmpi info: the network" 0 " used: the best provider, and its best address" env \
        -u XMPI_OFI_PROVIDER -u XMPI_OFI_IFACE -u XMPI_OFI_NICS "$xmpi" info
    expect "xmpi info: a network that is named" 0 " used: XMPI_OFI_PROVIDER names it" env \
        XMPI_OFI_PROVIDER=sockets "$xmpi" info
    expect "xmpi info: a network that is not there" 0 "no network with provider (any) and interface \
nosuch0" env XMPI_OFI_IFACE=nosuch0 "$xmpi" info
else
    skip "xmpi info: the network" "libfabric.so.1 is not installed, or built without (Debian: libfabric1)"
fi
# What was asked for is not there when nobody can read it.
lost() # command...
{
    full=$("$@" 2>&1 > /dev/full)
    code=$?
    closed=$("$@" 2>&1 >&-)
    code=$code,$?
    who=$(basename "$1")
    [ "$code" = 1,1 ] && [ "$full" = "$who: cannot write: No space left on device" ] &&
        [ "$closed" = "$who: cannot write: Bad file descriptor" ] && ok "$who lost: $(echo "$*" | sed 's,^[^ ]* ,,')" ||
        not_ok "$who lost: $*" "exit codes $code; $full; $closed"
}
for words in help --help --version --help=man "help info" "info --help" "explain --help" "tune --help" \
    "doctor --help" "status --help" "plan --help" "plan --help=man" "plan volume --help" info "info --json" "info --param EAGER" \
    "explain allreduce 8" "plan list" "plan show allreduce:ring -n 8" "plan check allreduce:ring -n 4" \
    "plan cost allreduce:ring -n 4 --bytes 8" "plan sim allreduce:ring -n 4 --bytes 8" \
    "plan goal allreduce:ring -n 4 --bytes 8 -o -" "plan goal allreduce:ring -n 64 --bytes 8 -o -" \
    "plan draw allreduce:ring -n 4 -o -" "plan volume --layers 2 --hidden 8 --batch 8" doctor; do
    lost "$xmpi" $words
done
for words in --help --version --help=man "--dry-run -np 2 true"; do
    lost "$XMPIRUN" $words
done
for words in --help --version; do
    lost "$(dirname "$XMPIRUN")/xmpid" $words
done
expect "xmpirun: a job without stdout" 1 "xmpirun: cannot write to stdout: it is closed" sh -c '"$0" -np 2 echo hello >&-' "$XMPIRUN"
expect "xmpi info --param" 0 "XMPI_EAGER" "$xmpi" info --param eager
expect "xmpi info --param of nothing" 1 "no setting frob" "$xmpi" info --param frob
expect "xmpi info: default" 0 "origin                 default" env -u XMPI_SPIN "$xmpi" info --param SPIN
expect "xmpi info: environment" 0 "origin                 environment" env XMPI_SPIN=7 "$xmpi" info \
    --param XMPI_SPIN
expect "xmpi info: value" 0 "value                  131072" env XMPI_EAGER=128k "$xmpi" info --param EAGER
expect "xmpi info: bad value" 0 "value                  2000" env XMPI_SPIN=x "$xmpi" info --param SPIN
expect "xmpi info: bad value, whose" 0 "origin                 default" env XMPI_EAGER=abc "$xmpi" info --param EAGER
expect "xmpi info: bad value, whose in JSON" 0 '"origin": "default"' env XMPI_EAGER=abc "$xmpi" info --param EAGER --json
expect "xmpi info: bad value among all" 0 "
  EAGER                  65536
" env XMPI_EAGER=abc "$xmpi" info
# Within a host costs depend on the machine; hosts are names for this one.
export XMPI_LAUNCH_AGENT='sh -c "{cmd}"'
expect "xmpi info --grid" 0 "hop cost reordered     64" "$XMPIRUN" -H a,b "$xmpi" info --grid 2x1
expect "xmpi info --grid: bound ranks" 0 "rank at each place" "$XMPIRUN" -np 4 --bind-to core "$xmpi" \
    info --grid 2x2
expect "xmpi info --torus" 0 "\"hop cost\": 128" "$XMPIRUN" -H a,b "$xmpi" info \
    --torus 2x1 --json
expect "xmpi info --grid: ranks round robin" 0 "hop cost               448" "$XMPIRUN" \
    --map-by node -H a:3,b:3 "$xmpi" info --grid 2x3
cost=$("$XMPIRUN" --map-by node -H a:3,b:3 "$xmpi" info --grid 2x3 | sed -n 's/.*reordered *//p')
if [ "${cost:-448}" -le 256 ]; then # 3 of 7 bonds between the hosts
    ok "xmpi info --grid: neighbours come to one host"
else
    not_ok "xmpi info --grid: neighbours come to one host" "hop cost $cost"
fi
expect "xmpi info --grid: more places than ranks" 2 "has 6 places, the job 2 ranks" "$XMPIRUN" -np 2 \
    "$xmpi" info --grid 2x3
expect "xmpi info --grid without ranks" 2 "xmpirun -np 4 xmpi info" "$xmpi" info --grid 2x2
expect "xmpi info --grid of nothing" 2 "is no grid" "$xmpi" info --grid 2y2
expect "xmpi help: of plan" 0 "list, show, check, cost, sim, draw, goal, import, volume" "$xmpi" help
expect "xmpi help explain" 0 "usage: xmpi explain" "$xmpi" help explain
expect "xmpi explain" 0 "(cheapest by the model)" "$xmpi" explain allreduce 1MiB -n 64 --nodes 8
expect "xmpi explain: on one node" 0 "(rule " "$xmpi" explain allreduce 1MiB -n 4
expect "xmpi explain: why others lost" 0 "slower by " "$xmpi" explain allreduce 1MiB -n 64 --nodes 8
expect "xmpi explain: the split" 0 "latency  bandwidth    compute" "$xmpi" explain bcast 64k -n 4
expect "xmpi explain: hierarchies" 0 "factored (cheapest by the model)" "$xmpi" explain allreduce 64KiB -n 96 \
    --nodes 12
expect "xmpi explain: who cannot" 0 "cannot: the ranks have no shared slots" "$xmpi" explain allreduce 8 \
    -n 64 --nodes 8
expect "xmpi explain: no bytes" 2 "gatherv is chosen without regard to bytes; leave out 100000" \
    "$xmpi" explain gatherv 100000 -n 3
expect "xmpi explain: help, anywhere" 0 "usage: xmpi explain" "$xmpi" explain allreduce 8 --help
expect "xmpi explain: forced" 0 "ring in 4 pieces (forced by XMPI_COLL)" \
    env XMPI_COLL=allreduce=ring:pieces=4 "$xmpi" explain allreduce 8 -n 4
expect "xmpi explain: what cannot be" 1 "the operation does not commute; these can: doubling" \
    env XMPI_COLL=allreduce=ring "$xmpi" explain allreduce 100 --noncommutative
expect "xmpi explain of nothing" 2 "no collective allreduze (did you mean allreduce?); there are: barrier bcast" "$xmpi" explain allreduze
expect "xmpi explain: bytes" 2 "12q is no number" "$xmpi" explain allreduce 12q
expect "xmpi explain: two numbers" 2 "1MiB and 5: one collective and one number" "$xmpi" explain allreduce 1MiB 5
expect "xmpi explain: ranks" 2 "-n 0 is no number from 1 to 16777216" "$xmpi" explain allreduce -n 0
expect "xmpi explain: no number" 2 "-n abc is no number from 1" "$xmpi" explain allreduce 8 -n abc
expect "xmpi explain: too large a number" 2 "-n 2147483648 is no number from 1 to 16777216" "$xmpi" explain \
    allreduce 8 -n 2147483648
expect "xmpi explain: a number is missing" 2 "--nodes wants a number behind it, as in --nodes 4" "$xmpi" explain \
    allreduce 8 --nodes
expect "xmpi explain: nodes" 2 "--nodes 3 are more nodes than ranks, -n 2; give" "$xmpi" explain allreduce -n 2 --nodes 3
printf 'allreduce ranks=4 : circulant 9us, ring 18us\n' > "$scratch/table"
expect "xmpi explain: more ranks than CPUs" 0 "knomial by 8 (rule 5, more ranks than CPUs" "$xmpi" explain allreduce 64k -n 16 --cpus 8
expect "xmpi explain: a CPU each" 0 "attach (rule 7, all ranks on one node" "$xmpi" explain allreduce 64k -n 16 --cpus 16
expect "xmpi explain: a tuning file" 0 "slower by 100 %" env XMPI_TUNING="$scratch/table" "$xmpi" explain \
    allreduce 8 -n 4
printf 'alltoall : spread:throttle=4 2us, pairwise:throttle=2 4us, bruck 1us\n' > "$scratch/table"
expect "xmpi explain: a throttled one that lost" 0 "pairwise, 2 at a time " env XMPI_TUNING="$scratch/table" "$xmpi" explain \
    alltoall 64k -n 4
expect "xmpi explain: a row out of order" 0 "faster by 50 %, but behind it in the row" env XMPI_TUNING="$scratch/table" \
    "$xmpi" explain alltoall 64k -n 4
expect "xmpi explain: one rank has no slots" 0 "allreduce of 8 bytes on 1 ranks: doubling (rule " "$xmpi" explain allreduce 8 -n 1
printf 'allreduce ranks=4 : circulant 9us\nallreduce : rnig\n' > "$scratch/table"
expect "xmpi explain: a wrong tuning file" 1 "table:2: there is no algorithm" \
    env XMPI_TUNING="$scratch/table" "$xmpi" explain allreduce 8 -n 4
expect "xmpi explain: a folder as a tuning file" 1 "cannot read $scratch: Is a directory" env \
    XMPI_TUNING="$scratch" "$xmpi" explain allreduce 8 -n 4
# A file of another machine is obeyed, as it is named, and said to be one, once in a job.
printf 'machine 0 another one\nbarrier : dissemination\nallreduce ranks=4 : circulant 9us\n' > "$scratch/table"
expect "xmpi explain: measured elsewhere" 0 "XMPI_TUNING=$scratch/table was measured on machine 0, this is " \
    env XMPI_TUNING="$scratch/table" "$xmpi" explain allreduce 8 -n 4
expect "xmpi explain: measured elsewhere, obeyed" 0 "circulant (measured, $scratch/table:3)" \
    env XMPI_TUNING="$scratch/table" "$xmpi" explain allreduce 8 -n 4
cat > "$scratch/barrier.c" << 'END'
#include <mpi.h>
int main(void)
{
    MPI_Init(0, 0);
    for (int i = 0; i < 5; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
END
said() # name, wanted text, environment: one line of a job of three has it
{
    name=$1 text=$2
    shift 2
    got=$(timeout 30 env "$@" "$XMPIRUN" -np 3 "$scratch/barrier" 2>&1)
    code=$? lines=$(echo "$got" | grep -cF "$text")
    [ $code = 0 ] && [ "$lines" = 1 ] && ok "$name" || not_ok "$name" "exit code $code, $lines lines with \"$text\" in: $got"
}
compile -o "$scratch/barrier" "$scratch/barrier.c" || not_ok "barrier.c" "does not compile"
said "measured elsewhere: said once" "was measured on machine 0" XMPI_TUNING="$scratch/table"
said "a bad value: said once" "XMPI_SPIN=abc is not a whole number" XMPI_SPIN=abc
said "a number without end: said once" "XMPI_SPIN=99999999999999 is not a whole number" XMPI_SPIN=99999999999999
said "no word of several: said once" "XMPI_POLITE=maybe is none of" XMPI_POLITE=maybe
said "no word of others: said once" "XMPI_CROWDED=3 is none of" XMPI_CROWDED=3
said "no way to copy: said once" "XMPI_SHM_SINGLE_COPY=foo is none of" XMPI_SHM_SINGLE_COPY=foo
said "no error handler: said once" "XMPI_INITIAL_ERRHANDLER=foo is none of" XMPI_INITIAL_ERRHANDLER=foo
said "no kinds of memory: said once" "XMPI_MEMORY_ALLOC_KINDS=zz:: is not" XMPI_MEMORY_ALLOC_KINDS=zz::
said "no library of XPMEM: said once" "XMPI_LIBXPMEM=/no/file is not" XMPI_LIBXPMEM=/no/file
said "no driver of CUDA: said once" "XMPI_LIBCUDA=/no/file: buffers of devices are not supported" XMPI_LIBCUDA=/no/file
said "another library for it: said once" "XMPI_LIBCUDA=libm.so.6 has no cu" XMPI_LIBCUDA=libm.so.6
said "a bad name: said once" "did you mean XMPI_SPIN?" XMPI_SPINN=3
said "too short a window: said once" "XMPI_OFI_WINDOW=10 is too little" XMPI_SHM=0 XMPI_OFI_WINDOW=10
said "XMPI_EXPLAIN: no collective" 'XMPI_EXPLAIN=foo,bcast: there is no collective "foo"' XMPI_EXPLAIN=foo,bcast
got=$(XMPI_EXPLAIN=bcast,barrier timeout 30 "$XMPIRUN" -np 2 "$scratch/barrier" 2>&1)
case $got in
*"no collective"*) not_ok "XMPI_EXPLAIN: known names" "$got" ;;
*"barrier on 2 ranks"*) ok "XMPI_EXPLAIN: known names" ;;
*) not_ok "XMPI_EXPLAIN: known names" "no \"barrier on 2 ranks\" in: $got" ;;
esac
expect "xmpi help status" 0 "usage: xmpi status" "$xmpi" help status
expect "xmpi status: no job" 1 "there is no job 0-none" "$xmpi" status 0-none
expect "xmpi status: no option" 2 "--frob is not understood" "$xmpi" status --frob
expect "xmpi status" 0 ", 2 ranks:" "$XMPIRUN" -np 2 sh -c '[ "$PMIX_RANK" = 1 ] && exec sleep 1; exec "$0" status $PPID' "$xmpi"
expect "xmpi help tune" 0 "usage: xmpi tune" "$xmpi" help tune
expect "xmpi tune --frob" 2 "not an option" "$xmpi" tune --frob 1
expect "xmpi tune: seconds" 2 "is no number above 0" "$xmpi" tune --seconds never
expect "xmpi tune: bytes" 2 "--max-bytes 17M is no number of bytes" "$xmpi" tune --max-bytes 17M
expect "xmpi tune: ranks" 2 '"" is no number of ranks' "$xmpi" tune -np 2,
expect "xmpi tune: collectives" 2 "no collective bcats (did you mean bcast?)" "$xmpi" tune --colls bcats
for what in gatherv scatterv alltoallv alltoallw neighbor_allgather; do
    expect "xmpi tune: $what" 2 "$what cannot be measured, as it is chosen without regard to bytes; these can: barrier " \
        "$xmpi" tune -np 2 --colls barrier,$what -o "$scratch/tuned"
done
expect "xmpi tune: too many ranks" 2 '"4294967298" is no number of ranks' "$xmpi" tune -np 4294967298
expect "xmpi tune: nothing is measured" 1 "cannot write $scratch" "$xmpi" tune -np 2 --colls barrier -o "$scratch"
test -e "$scratch/tuned" && not_ok "xmpi tune: no file" "a failed measurement left one" ||
    ok "xmpi tune: no file"
"$xmpi" tune -np 2,3,02,2 --colls barrier,exscan,barrier --max-bytes 16 --seconds 100 -o "$scratch/tuned" > "$scratch/out" 2>&1
grep -q "4 rows in" "$scratch/out" && ok "xmpi tune" || not_ok "xmpi tune" "$(cat "$scratch/out")"
expect "xmpi tune: what follows" 0 "(measured, $scratch/tuned:" env XMPI_TUNING="$scratch/tuned" "$xmpi" \
    explain exscan 16 -n 3
expect "xmpi tune: what does not follow" 0 "(rule " env XMPI_TUNING="$scratch/tuned" "$xmpi" \
    explain exscan 16 -n 4
"$xmpi" tune -np 3 --colls reduce_scatter,allgatherv --max-bytes 16 --seconds 60 -o "$scratch/listed" > "$scratch/out" 2>&1
grep -q "2 rows in" "$scratch/out" && ok "xmpi tune: with lists of counts" || not_ok "xmpi tune: with lists of counts" "$(cat "$scratch/out")"
for what in reduce_scatter allgatherv; do
    expect "xmpi tune: what follows for $what" 0 "(measured, $scratch/listed:" env XMPI_TUNING="$scratch/listed" "$xmpi" \
        explain $what 16 -n 3
done
# All candidates compete, although those of the collective before had the shared slots until a moment ago.
for turn in 1 2 3; do
    "$xmpi" tune -np 3 --colls allreduce,barrier,reduce_scatter,exscan --max-bytes 16 --seconds 8 -o - 2>> "$scratch/err"
done > "$scratch/slots"
[ "$(grep -c '^[be].*: .*tiny [^#]*$' "$scratch/slots")" = 6 ] && ok "xmpi tune: who works by shared slots competes" ||
    not_ok "xmpi tune: who works by shared slots competes" "$(cat "$scratch/slots" "$scratch/err")"
expect "xmpi tune --help: what is measured" 0 " allgatherv alltoall
" "$xmpi" tune --help
"$xmpi" tune -np 2 --colls allreduce,scan --seconds 1e-6 -o "$scratch/none" > "$scratch/out" 2>&1
grep -q "2 ranks, allreduce: no time for 9 of 9 sizes, which are left out; a longer --seconds" "$scratch/out" &&
    grep -q "2 ranks, scan: no time for 9 of 9 sizes" "$scratch/out" &&
    grep -q "nothing was measured in 1e-6 s: give a longer --seconds" "$scratch/out" &&
    ! ls "$scratch"/none* 2> /dev/null && ok "xmpi tune: no time" || not_ok "xmpi tune: no time" "$(cat "$scratch/out")"
expect "xmpi tune: no folder" 1 "cannot write $scratch/none/x: No such file or directory; give another file with -o" \
    "$xmpi" tune -np 2 --colls barrier -o "$scratch/none/x"
test -e "$scratch/none" && not_ok "xmpi tune: makes no folder" "it is there" || ok "xmpi tune: makes no folder"
# A link stays, and what it leads to is replaced; what is no file is written, and stays what it is.
tune() { timeout 60 "$xmpi" tune -np 2 --colls barrier --seconds 20 "$@" 2> "$scratch/err"; }
mkdir "$scratch/targets"
(
    cd "$scratch/targets" || exit
    mkfifo fifo
    mkdir folder
    echo old > old
    chmod 640 old
    ln -s ../old folder/link
    ln -s new link
    ln -s loop loop
)
cd "$scratch/targets" || exit 99
tune -o folder/link && [ -L folder/link ] && [ ! -L old ] && grep -q "^barrier " old && [ "$(stat -c %a old)" = 640 ] &&
    ok "xmpi tune: a link to a file" || not_ok "xmpi tune: a link to a file" "$(ls -l . folder; cat "$scratch/err")"
tune -o link && [ -L link ] && [ ! -L new ] && grep -q "^barrier " new &&
    ok "xmpi tune: a link to nothing yet" || not_ok "xmpi tune: a link to nothing yet" "$(ls -l; cat "$scratch/err")"
timeout 60 cat fifo > got &
reader=$!
tune -o fifo && wait $reader && [ -p fifo ] && grep -q "^barrier " got && ok "xmpi tune: a FIFO" ||
    not_ok "xmpi tune: a FIFO" "$(ls -l; cat "$scratch/err")"
kill $reader 2> /dev/null
ln -s /proc/self/fd/1 out # as /dev/stdout is, which a mistake must not touch
for out in - out; do
    { echo before; tune -o $out; } > got
    [ "$(sed -n '1p;$p' got | sed 's/ .*//')" = "before
barrier" ] && ok "xmpi tune: -o $out" || not_ok "xmpi tune: -o $out" "$(cat got "$scratch/err")"
done
tune -o - > /dev/full
code=$?
[ $code = 1 ] && grep -q "cannot write -: No space left on device" "$scratch/err" && ok "xmpi tune: a full device" ||
    not_ok "xmpi tune: a full device" "exit code $code; $(cat "$scratch/err")"
for place in "folder:Is a directory" "loop:Too many" "old/:Not a directory" "folder/none/x:No such file"; do
    tune -o "${place%%:*}"
    code=$?
    [ $code = 1 ] && grep -q "cannot write ${place%%:*}: ${place#*:}" "$scratch/err" &&
        ! grep -q "(1 of 1)" "$scratch/err" && ok "xmpi tune: refused at once: ${place%%:*}" ||
        not_ok "xmpi tune: refused at once: ${place%%:*}" "exit code $code; $(cat "$scratch/err")"
done
[ "$(ls | tr '\n' ' ')" = "fifo folder got link loop new old out " ] && ok "xmpi tune: leaves nothing beside" ||
    not_ok "xmpi tune: leaves nothing beside" "$(ls)"
cd "$build" || exit 99
# Stopped while it measures: it has ranks, and a file that is not finished, and leaves neither.
mkdir "$scratch/stopped"
"$xmpi" tune -np 2 --seconds 500 -o "$scratch/stopped/x" > "$scratch/out" 2>&1 &
tuner=$!
tries=0
until grep -q "barrier (1 of " "$scratch/out" || [ $tries = 300 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
kill -TERM $tuner
wait $tuner
code=$?
left=$(ls "$scratch/stopped")
[ $code = 143 ] && [ -z "$left" ] && grep -q "stopped by Terminated" "$scratch/out" && ok "xmpi tune: stopped" ||
    not_ok "xmpi tune: stopped" "exit code $code instead of 143, left: $left; $(cat "$scratch/out")"
XDG_CONFIG_HOME="$scratch/home" "$xmpi" tune -np 2 --colls barrier --seconds 60 > /dev/null 2>&1
expect "xmpi tune: the usual place" 0 "(measured, $scratch/home/xmpi/tuning-" env -u XMPI_TUNING \
    XDG_CONFIG_HOME="$scratch/home" "$xmpi" explain barrier -n 2
# Without a GPU what a file says of one is passed over; the first row for it decides, the environment before.
printf 'device Other : CUDA_IPC=1k\ndevice any : CUDA_IPC=8k, CUDA_PACK=5\ndevice any : CUDA_IPC=2k\n' > "$scratch/table"
device() # NAME SAYS VARIABLE=VALUE...
{
    name=$1 says=$2
    shift 2
    expect "xmpi info: $name" 0 "$says" env XMPI_TUNING="$scratch/table" "$@" "$xmpi" info
}
device "no GPU that was tuned for" "  CUDA_IPC               4096
" XMPI_CUDA=0
if "${XMPI_TEST_CC:-gcc}" -O2 -shared -fPIC -I"$top" -o "$scratch/libcuda.so" "$top"/test/device/fake_*.c \
    -lpthread; then
    device "tuned for a GPU" "  CUDA_IPC               8192  measured, $scratch/table:2" XMPI_LIBCUDA="$scratch/libcuda.so"
    device "tuned for a GPU, all of the row" "  CUDA_PACK              5  measured" XMPI_LIBCUDA="$scratch/libcuda.so"
    device "the environment before what was tuned" "  CUDA_IPC               777  from the environment" \
        XMPI_LIBCUDA="$scratch/libcuda.so" XMPI_CUDA_IPC=777
fi
expect "xmpi tune --device without one" 1 "there is no GPU that CUDA shows" env XMPI_CUDA=0 "$xmpi" tune --device
if cpu=$(taskset -cp $$ 2> /dev/null); then
    cpu=$(echo "$cpu" | sed 's/.*: //; s/[-,].*//')
    expect "xmpi info: affinity" 0 "affinity mask          $cpu
" taskset -c "$cpu" "$xmpi" info
else
    skip "xmpi info: affinity" "needs taskset"
fi

# Every knob of the table is shown.
for name in $(sed -n 's/^PARAM(\([A-Z_]*\),.*/\1/p' "$top/runtime/params.def"); do
    expect "xmpi info: $name" 0 "XMPI_$name" "$xmpi" info --param "$name"
done

python=${PYTHON3:-python3}
if [ "$python" = no ] || ! command -v "$python" > /dev/null; then
    skip "xmpi info --json" "needs python3"
else
    env XMPI_EAGER=4k "$xmpi" info --json > "$scratch/json"
    case_run "xmpi info --json" 20 "$python" -c '
import json, sys
facts = json.load(open(sys.argv[1]))
assert facts["xmpi"]["standard"] == "MPI 5.0"
assert facts["settings"]["EAGER"]["value"] == 4096
assert facts["settings"]["EAGER"]["origin"] == "environment"
assert facts["limits"]["eager bytes"] == 4096
assert facts["links"]["self"]["works"] is True
assert facts["CPUs"]["usable together"] >= 1' "$scratch/json"
fi
finish

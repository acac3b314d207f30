#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Broken programs: each deadlock and mismatch is explained, with its ranks, calls and lines.
srcdir=${top:-.}
. "$srcdir/test/lib.sh"
XMPI_SCRATCH=$scratch
. "$top/test/fault/launch.inc"
hang=$scratch/broken
source=$top/test/fault/hang.c
compile -g -o "$hang" "$source" -pthread || { not_ok "hang" "does not compile"; finish; }
command -v addr2line > /dev/null && lines=yes ||
    { lines=; echo "skip launch: lines of hanging programs: addr2line is not installed"; }

line() { grep -n "// $1\$" "$source" | head -n 1 | cut -d: -f1; }

# The words of `says` are one after the other on one line of what is printed.
says() { # case, words
    if grep -q -- "$2" "$dir/err"; then ok "$1: $2"; else
        not_ok "$1" "no \`$2'"
        sed 's/^/    | /' "$dir/err" | head -n 20
    fi
}
# Of two calls the other one's is named first, and either rank may find it: the one that is late does.
says_both() { # case, what one called, what the other one called, what is said behind
    says "$1" "$2 while $3$4\|$3 while $2$4"
}
at_line() { # case, words of the line in hang.c
    [ -z "$lines" ] || says "$1" "hang.c:$(line "$2") ("
}
# Two seconds are enough, but for machines with ten programs per CPU: those get more.  Nearly all of the time
# is waiting, so the jobs of all lines below that begin with `broken` are run first, six at once.
waited=$scratch/waited
wait_with() { # seconds, name, ranks
    XMPI_HANG=0.4 run 30 --timeout "$1" -np "$3" "$hang" "$2"
}
wait_together() {
    while read -r name ranks; do
        dir=$waited/$name.$ranks
        mkdir -p "$dir"
        { wait_with 2 "$name" "$ranks"; echo $code > "$dir/code"; } &
        jobs="${jobs:-} $!"
        [ $(echo $jobs | wc -w) -lt 6 ] || { wait $jobs; jobs=; }
    done
    wait $jobs
}
sed -n 's/^broken //p' "$0" | (wait_together)
explained() { [ "$code" != 124 ] || grep -q "can never go on" "$dir/err"; }
broken() { # name, ranks
    if [ -d "$waited/$1.$2" ]; then
        code=$(cat "$waited/$1.$2/code")
        mv "$waited/$1.$2/err" "$dir/err"
        rm -r "$waited/$1.$2"
    else # the same once more, with other settings
        wait_with 2 "$1" "$2"
    fi
    explained || wait_with 15 "$1" "$2"
}
# The ranks find it themselves.
refused() { # name, ranks, what they say
    run 30 --timeout 20 -np "$2" "$hang" "$1"
    says "$1" "$3"
    check "$1: an error, no hang" "$code" 16
}

# With the time that users get: begins now, is looked at in the end.
(
    begin=$(now_ms)
    timeout 40 "$XMPIRUN" --timeout 30 -np 2 "$hang" send-send 2>&1 < /dev/null |
        while read -r text; do
            case $text in *"can never go on"*) echo $(($(now_ms) - begin)) ;; esac
        done > "$scratch/took"
) &
patient=$!

broken send-send 2
check "send-send: exit code of the time limit" $code 124
says send-send "2 of 2 ranks can never go on"
says send-send "rank 0 .*MPI_Send to rank 1, tag 5, 4194304 bytes, MPI_COMM_WORLD"
says send-send "0 waits for 1 in MPI_Send, 1 waits for 0 in MPI_Send: both in MPI_Send.*MPI_Sendrecv"
at_line send-send send-send
broken send-send 3
says "send-send of three" "0 waits for 1 in MPI_Send, 1 waits for 2 in MPI_Send, 2 waits for 0"
run 20 -np 3 "$hang" buffered
check "buffered: ends where messages are buffered" "$code" 0
XMPI_EAGER=0 wait_with 2 buffered 3
explained || XMPI_EAGER=0 wait_with 15 buffered 3
says "buffered, XMPI_EAGER=0" "0 waits for 1 in MPI_Send, 1 waits for 2 in MPI_Send, 2 waits for 0 in MPI_Send"
at_line "buffered, XMPI_EAGER=0" buffered
broken recv-recv 2
says recv-recv "0 waits for 1 in MPI_Recv, 1 waits for 0 in MPI_Recv: both in MPI_Recv, and nobody sends"
at_line recv-recv recv-recv
XMPI_SHM=0 broken recv-recv 2
says "recv-recv, each rank a node" "0 waits for 1 in MPI_Recv, 1 waits for 0 in MPI_Recv: both in MPI_Recv"
broken wrong-tag 2
says wrong-tag "rank 1 asks for tag 6 on MPI_COMM_WORLD; what came from rank 0 has tag 5"
says wrong-tag "rank 0 .*MPI_Barrier, collective 1 on MPI_COMM_WORLD; for rank 1"
at_line wrong-tag "wrong tag"
broken wrong-comm 2
says wrong-comm "asks for tag 5 on MPI_COMM_WORLD; what came from rank 0 has tag 5 on other"
at_line wrong-comm "wrong comm"
broken strange-name 2
says strange-name 'tag 5, up to 40 bytes, two\\nlines\\t\\x1b\[31m\\xff ü$'
check "strange-name: is on one line" "$(grep -c '^lines' "$dir/err")" 0
broken missing 3
says missing "rank 1 has to call MPI_Allreduce on MPI_COMM_WORLD, too"
at_line missing missing
broken fold-calls 4
says fold-calls "rank 0 .*MPI_Allreduce, collective 1 on MPI_COMM_WORLD, 16 bytes"
XMPI_COLL=bcast=binomial refused different 3 \
    "rank . called MPI_B[ac][a-z]*.* while rank . called MPI_B[ac][a-z]*.*1st collective of MPI_COMM_WORLD"
broken different-small 2
says_both "different, small" "rank 0 called MPI_Allreduce with MPI_SUM, 4 bytes" "rank 1 called MPI_Barrier" ".*same order"
check "different, small: an error, no hang" "$code" 16
for shm in 1 0; do
    XMPI_SHM=$shm run 30 --timeout 20 -np 3 "$hang" different-long
    says_both "different, long, XMPI_SHM=$shm" "rank 0 called MPI_Allreduce with MPI_SUM, 200000 bytes" \
        "rank [12] called MPI_Allreduce with MPI_SUM, 160000 bytes" ".*number of bytes"
    check "different, long, XMPI_SHM=$shm: an error, no hang" "$code" 16
done
long="called MPI_Allreduce with MPI_SUM" # each host knows its own
XMPI_LAUNCH_AGENT='sh -c "{cmd}"' run 30 --timeout 20 -H a:1,b:1 "$hang" different-long
says "different, long, of two hosts" \
    "$long, another number of bytes while rank . $long, [0-9]*0000 bytes\|$long, [0-9]*0000 bytes while rank . $long, another"
refused roots 3 "rank . called MPI_Reduce with root [01] with MPI_SUM while rank . called MPI_Reduce with root [01]"
XMPI_SHM=0 refused roots 2 "rank . called MPI_Reduce with root [01] with MPI_SUM while rank . called MPI_Reduce with root [01]"
broken irecv 2
says irecv "rank 0 .*MPI_Wait from rank 1, tag 7, up to 40 bytes"
at_line irecv irecv
for shm in 1 0; do
    XMPI_SHM=$shm broken freed 2
    says "freed, XMPI_SHM=$shm" "rank 0 .*MPI_Finalize from rank 1, tag 7, up to 40 bytes, MPI_COMM_WORLD"
    says "freed, XMPI_SHM=$shm" "0 waits for 1 in MPI_Finalize, 1 waits for 0 in MPI_Recv"
done
broken barrier-recv 2
says barrier-recv "0 waits for 1 in MPI_Barrier, 1 waits for 0 in MPI_Recv: rank 1 has to call MPI_Barrier on .*, too, or rank 0 has to send it "
at_line barrier-recv barrier-recv
at_line barrier-recv recv-barrier
broken ssend-self 1
says ssend-self "rank 0 waits for itself in MPI_Ssend"
at_line ssend-self ssend
broken truncate 2
says truncate "rank 1 .*message of 80 bytes from rank 0 with tag 3, the receive buffer holds 40"
at_line truncate truncate
broken finalize 2
says finalize "rank 1 waits in MPI_Recv for rank 0, which has called MPI_Finalize"
at_line finalize finalize
broken finalized 3
grep -q "2 of 3" "$dir/err" || wait_with 2 finalized 3 # when the first was told, the other had waited less
says finalized "2 of 3 ranks can never go on"
says finalized "rank 1 .*has called MPI_Finalize"
says finalized "rank 0 waits in MPI_Recv for rank 1, which has called MPI_Finalize"
says finalized "rank 2 waits in MPI_Recv for rank 1, which has called MPI_Finalize"
at_line finalized finalized
XMPI_SHM=0 broken finalized 2
says "finalized, each rank a node" "rank 0 waits in MPI_Recv for rank 1, which has called MPI_Finalize"
for shm in 1 0; do
    XMPI_SHM=$shm broken unmet 2
    says "unmet, XMPI_SHM=$shm" "rank 0 waits in MPI_Ssend for rank 1, which has called MPI_Finalize"
done
at_line unmet unmet
for program in unmet unmet-dup; do # the other host has ended, too
    XMPI_LAUNCH_AGENT='sh -c "{cmd}"' XMPI_HANG=0.4 run 30 --timeout 10 -H a:1,b:1 "$hang" $program
    mv "$dir/err" "$dir/err.$program"
    echo $code > "$dir/code.$program"
done
mv "$dir/err.unmet" "$dir/err"
says "unmet, of two hosts" "rank 0 waits in MPI_Ssend for rank 1, which has called MPI_Finalize"
check "unmet, of two hosts: who sends ends" "$(cat "$dir/code.unmet-dup")" 0
broken leave 2
says leave "rank 1 .*MPI_Finalize"
refused left-many 3 "rank 0 called MPI_Comm_free while rank [12] called MPI_Barrier, 1st collective"
XMPI_SHM=0 refused left-many 2 "rank 0 called MPI_Comm_free while rank 1 called MPI_Barrier, 1st collective"
broken anybody 2
says anybody "rank 0 waits in MPI_Recv for a message of any rank, and no rank will send"
at_line anybody any
broken ring 3
says ring "0 waits for 1 in MPI_Wait, 1 waits for 2 in MPI_Wait, 2 waits for 0 in MPI_Wait: all in MPI_Wait, and nobody sends"
says ring "rank 2 .*MPI_Wait from rank 0, tag 8, up to 40 bytes, MPI_COMM_WORLD"
at_line ring ring
broken wrong-source 3
says wrong-source "rank 2 asks for a message from rank 1; what came is from rank 0, tag 5"
at_line wrong-source "wrong source"
broken crossed 2
says crossed "rank 0 is in MPI_Allreduce on one, rank 1 in MPI_Allreduce on two; both have to call them in the same order"
at_line crossed "crossed one"
at_line crossed "crossed two"
broken crossed-unnamed 2
says crossed-unnamed "rank 0 is in MPI_Barrier on communicator 0.1 of 2, rank 1 in MPI_Barrier on communicator 0.2 of 2; both"
at_line crossed-unnamed "crossed unnamed"
refused bcast-roots 2 "rank . called MPI_Bcast with root [01] while rank . called MPI_Bcast with root [01]"
broken bcast-roots-small 3
says bcast-roots-small "rank [012] called MPI_Bcast with root [01], 8 bytes while rank [012] called .*1st collective of MPI_COMM_WORLD"
for shm in 1 0; do
    XMPI_SHM=$shm run 30 --timeout 20 -np 2 "$hang" bcast-roots-last
    says bcast-roots-last "xmpi.[01].: rank [01] called MPI_Bcast with root [01], 8 bytes while rank [01] called MPI_Bcast with root [01], 8 bytes, 1st collective"
    XMPI_SHM=$shm run 30 --timeout 20 -np 2 "$hang" iscatter-roots-last
    says iscatter-roots-last "xmpi.[01].: rank [01] called MPI_Iscatter with root [01], 4 bytes while rank [01] called MPI_Iscatter with root [01]"
done
for wish in XMPI_LOG=1 XMPI_LOG=0; do
    env "$wish" "$XMPIRUN" -np 2 "$hang" left-behind 2> "$scratch/left"
    check "left behind, $wish" "$? $(sed -n '/left behind/s/^xmpi.1.: //p' "$scratch/left" | tr '\n' ';')" "0 $(
        [ $wish = XMPI_LOG=0 ] || printf '%s;' \
            "left behind on dup: 2 messages that this rank did not receive; the oldest is from rank 0, tag 5" \
            "left behind: 2 requests neither waited for nor freed (1 receive, 1 send)" \
            "left behind: 1 communicator not freed, dup" "left behind: 1 datatype not freed" \
            "left behind: 1 operation not freed" "left behind: 1 group not freed" \
            "left behind: 1 info object not freed" "left behind: 1 error handler not freed")"
done
run 30 --timeout 20 -np 3 "$hang" unfinished
check "unfinished: a collective that was begun and not waited for" "$code" 0
run 30 --timeout 20 -np 3 "$hang" reduce-last
says reduce-last "rank [012] called MPI_[FR].* while rank [012] called MPI_[FR].*1st collective of MPI_COMM_WORLD"
XMPI_COLL=bcast=binomial refused bcast-roots-kept 2 \
    "MPI_Barrier: rank . called MPI_Bcast with root [01] while rank . called MPI_Bcast with root [01], 6th collective of MPI_COMM_WORLD"
XMPI_SHM=0 run 30 --timeout 20 -np 2 "$hang" bcast-roots-before
says bcast-roots-before "rank [01] called MPI_Bcast with root [01], 8 bytes while rank [01] called MPI_Bcast with root [01], 8 bytes, 2nd collective of MPI_COMM_WORLD"
XMPI_COLL=bcast=binomial refused bcast-allreduce 3 \
    "rank . called MPI_[AB].*while rank . called MPI_[AB].*1st collective of MPI_COMM_WORLD"
broken slots-missing 2
says slots-missing "0 waits for 1 in MPI_Wait, 1 waits for 0 in MPI_Recv: rank 1 has to call MPI_Iallreduce on MPI_COMM_WORLD, too"
at_line slots-missing slots
broken slots-differ 2
says slots-differ "rank [01] called MPI_I[ab][al][lr].* while rank [01] called MPI_I[ab].*1st collective of MPI_COMM_WORLD"
check "slots-differ: an error, no hang" "$code" 16
broken init-differs 2
says_both init-differs "rank 0 called MPI_Allreduce_init with MPI_SUM, 4 bytes" "rank 1 called MPI_Allreduce with MPI_SUM, 4 bytes" ", 1st collective"
broken operations 2
says operations "rank [01] called MPI_Allreduce with MPI_[MS][AU][XM], 400 bytes while rank [01] called MPI_Allreduce with MPI_[MS][AU][XM].*1st collective of MPI_COMM_WORLD"
check "operations: an error, no hang" "$code" 16
broken bytes 3
says bytes "rank . called MPI_Allreduce with MPI_SUM, .00 bytes while .* [24]00 bytes, 1st collective.*the same number of bytes"
check "bytes: an error, no hang" "$code" 16
broken kinds 2
says_both kinds "rank 0 called MPI_Bcast with root 0, 400 bytes of floating-point numbers" "rank 1 called .* 400 bytes of integers" ", 1st collective"
check "kinds: an error, no hang" "$code" 16
broken bytes-alike 2
says bytes-alike "1st collective.*the same number of bytes"
refused bytes-long 3 "rank . called MPI_Alltoall.* while rank . called MPI_Alltoall.*the same number of bytes"
broken waitall 2
says waitall "rank 0 .*MPI_Waitall from rank 1, tag 2, up to 40 bytes, MPI_COMM_WORLD"
says waitall "0 waits for 1 in MPI_Waitall, 1 waits for 0 in MPI_Barrier"
at_line waitall waitall
broken probe 2
says probe "rank 0 asks for tag 3 on MPI_COMM_WORLD; what came from rank 1 has tag 2"
at_line probe probe
broken unready 2
says unready "rank 0 .*MPI_Wait for MPI_Pready of partition 1 to rank 1, tag 6, MPI_COMM_WORLD"
says unready "rank 1 .*MPI_Wait from rank 0, tag 6, up to 8 bytes, MPI_COMM_WORLD"
says unready "rank 0 waits in MPI_Wait until partition 1 is sent, and has to call MPI_Pready"
at_line unready unready

broken early 3
says early "0 waits for 1 in MPI_Barrier, 1 waits for 0 in MPI_Recv: rank 1 has to call MPI_Barrier on MPI_COMM_WORLD, too"
says early "rank 0 .*MPI_Barrier, collective 8 on MPI_COMM_WORLD; for rank 1"
at_line early early
at_line early returned
broken threads 2
says threads "2 of 2 ranks can never go on"
says threads "another thread: MPI_Recv from rank [01], tag [12]"
at_line threads "first thread"
at_line threads "second thread"
broken detach 2
says detach "rank 0 .*MPI_Buffer_detach to rank 1, tag 1, 100000 bytes, MPI_COMM_WORLD"
says detach "0 waits for 1 in MPI_Buffer_detach, 1 waits for 0 in MPI_Recv"
at_line detach detach
at_line detach detached
# A thread outside of MPI may call it, so nothing is said unasked.
XMPI_HANG=0.4 run 30 --timeout 4 -np 2 "$hang" threads-joined
grep -q "can never go on" "$dir/err" && not_ok "threads-joined" "taken for a deadlock" ||
    ok "threads-joined: not certain"
says threads-joined "unless threads of these ranks that are outside of MPI now call it"
says threads-joined "0 waits for 1 in MPI_Recv, 1 waits for 0 in MPI_Recv"
# Those who ask again and again wait, too.
broken test-ring 3
says test-ring "perhaps a deadlock: 3 of 3 ranks can never go on, unless those that test do something else"
says test-ring "rank 0 .*MPI_Test from rank 1, tag 5, up to 40 bytes, MPI_COMM_WORLD"
says test-ring "asked for again and again for [0-9.]* s"
says test-ring "0 waits for 1 in MPI_Test, 1 waits for 2 in MPI_Test, 2 waits for 0 in MPI_Test: all in MPI_Test, and nobody sends"
at_line test-ring test-ring
XMPI_SHM=0 broken test-ring 2
says "test-ring, each rank a node" "0 waits for 1 in MPI_Test, 1 waits for 0 in MPI_Test"
broken test-all 2
says test-all "rank 0 .*MPI_Testall from rank 1, tag 2, up to 4 bytes, MPI_COMM_WORLD"
says test-all "0 waits for 1 in MPI_Testall, 1 waits for 0 in MPI_Barrier"
at_line test-all all-barrier
broken iprobe 2
says iprobe "rank 0 .*MPI_Iprobe from any rank, tag 3, MPI_COMM_WORLD"
says iprobe "rank 0 waits in MPI_Iprobe for a message of any rank, and no rank will send"
at_line iprobe iprobe
broken test-both 3
says test-both "rank 0 .*; or from rank [12], .*; or from rank [12], " # in any order: where a look found it
says test-both "rank 0 .*from rank 1, tag 4, up to"
says test-both "rank 0 .*from rank 1, tag 6, MPI"
says test-both "rank 0 .*from rank 2, tag 4, up to"
says test-both "0 waits for [12] in MPI_[TI][a-z]*, [12] waits for 0 in MPI_Barrier"

# Ranks that were told different algorithms.
cat > "$scratch/ways" << 'END'
#!/bin/sh
[ "$RANK" = 1 ] && XMPI_COLL=allreduce=doubling
export XMPI_COLL="${XMPI_COLL:-allreduce=ring}"
exec "$@"
END
chmod +x "$scratch/ways"
XMPI_HANG=0.5 run 30 --timeout 15 -np 3 "$scratch/ways" "$hang" ways
says ways "rank [01] and rank [12] perform it by different algorithms; XMPI_COLL, XMPI_TUNING, XMPI_PLAN and info keys"
at_line ways ways

# No deadlock is seen where there is none.
for case in computes tests threads-late rare-tests close-tests test-either; do
    [ $case = test-either ] && ranks=3 || ranks=2
    XMPI_HANG=0.5 run 30 -np $ranks "$hang" $case
    check "$case: the job ends well" $code 0
    grep -q "can never go on" "$dir/err" && not_ok "$case" "taken for a deadlock" ||
        ok "$case: no deadlock"
done

# What is not certain is said, but nobody stops looking for what is.
XMPI_HANG=0.5 start -np 2 "$hang" later
await 30 grep -q "xmpirun: deadlock: 2 of 2 ranks can never go on;" "$dir/err"
says later "xmpirun: deadlock: 2 of 2 ranks can never go on;"
kill -TERM $pid
collect

# Wait until --status says this, then keep what it says.
status_says() { "$XMPIRUN" --status $pid | grep -q "$1"; }
await_status()
{
    await 30 status_says "$1"
    "$XMPIRUN" --status $pid > "$dir/status"
}

# Stopped ranks may be continued: those who wait for them are not stuck.
for shm in 1 0; do
    XMPI_SHM=$shm XMPI_HANG=0.5 start -np 2 "$hang" stopped
    await_status "which is stopped by a signal: kill -CONT"
    check "stopped, XMPI_SHM=$shm: --status tells" "$(grep -c 'stopped by a signal$' "$dir/status")" 1
    check "stopped, XMPI_SHM=$shm: and who waits for it" \
        "$(grep -c '=> one rank waits for rank [01], which is stopped' "$dir/status")" 1
    sleep 2
    grep -q "can never go on" "$dir/err" && not_ok "stopped, XMPI_SHM=$shm" "taken for a deadlock" ||
        ok "stopped, XMPI_SHM=$shm: no deadlock"
    for rank in $(sed -n 's/.*(pid \([0-9]*\)).*/\1/p' "$dir/status"); do kill -CONT "$rank"; done
    collect
    check "stopped, XMPI_SHM=$shm: goes on" $code 0
done
XMPI_HANG=0.5 run 30 -np 2 "$hang" slow
check "a slow rank: the job ends well" $code 0
says "a slow rank" "no rank has called or received anything"
grep -q "can never go on" "$dir/err" && not_ok "a slow rank" "taken for a deadlock" ||
    ok "a slow rank: no deadlock"
run 30 -np 2 "$hang" slow
check "a slow rank: silence" "$code $(wc -c < "$dir/err")" "0 0"

# Asked from outside: by pid and by job, with a signal; the job goes on.
XMPI_HANG=0 start -np 2 "$hang" recv-recv
await_status "both in MPI_Recv"
job=$(sed -n 's/^job \([^ ]*\) .*/\1/p' "$dir/status")
check "--status PID" "$? $(grep -c 'rank [01] (pid .*MPI_Recv' "$dir/status")" "0 2"
check "--status JOB" "$("$XMPIRUN" --status "$job" | grep -c 'rank [01] (pid .*MPI_Recv')" 2
"$XMPIRUN" --status 1-none > /dev/null 2>&1
check "--status of no job" $? 1
"$XMPIRUN" --status "$pid-none" > /dev/null 2>&1
check "--status of a job whose name begins as a pid does" $? 1
kill -QUIT $pid
await 30 grep -q "state of the ranks" "$dir/err"
check_says "SIGQUIT" "both in MPI_Recv"
kill -0 $pid 2> /dev/null && ok "SIGQUIT: the job goes on" || not_ok "SIGQUIT" "the job has ended"
kill -TERM $pid
collect
check "nothing is left" "$(leftovers_soon)" 0

# Whoever looks up lines of the program may be slow; who wants the job to end is answered meanwhile.
mkdir "$scratch/slow"
printf '#!/bin/sh\n: > "%s/asked"\nexec sleep 30\n' "$scratch" > "$scratch/slow/addr2line"
chmod +x "$scratch/slow/addr2line"
usual_path=$PATH
PATH=$scratch/slow:$PATH XMPI_HANG=0 start -np 2 "$hang" recv-recv
PATH=$usual_path
await_status "both in MPI_Recv"
kill -QUIT $pid
await 30 test -e "$scratch/asked"
began=$(now_ms)
kill -TERM $pid
collect
took=$(($(now_ms) - began))
check "a slow addr2line: SIGTERM is answered" "$code $([ $took -lt 1500 ] && echo soon || echo $took ms)" "143 soon"

wait $patient
took=$(head -n 1 "$scratch/took")
[ "${took:-99999}" -lt 15000 ] && ok "unasked: explained within 15 s" ||
    not_ok "unasked" "took ${took:-for ever} ms"
finish

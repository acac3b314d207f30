#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The launcher's exit codes and messages, with ordinary programs.
. "$(dirname "$0")/launch.inc"

run 10 -np 4 true
check "all ranks end with 0" $code 0
check "nothing is said about success" "$(cat "$dir/err")" ""

XMPI_HANG=soon run 10 -np 1 true
check_says "an XMPI_HANG that is no number is told" "XMPI_HANG=soon is not a number of seconds"

run 10 -np 4 sh -c 'exit $((RANK == 2 ? 7 : 0))'
check "exit code of the rank that failed" $code 7
check_says "the rank that failed is named" "rank 2 .*exited with code 7"

run 10 -np 3 sh -c '[ $RANK = 1 ] && exit 3; sleep 0.4; [ $RANK = 2 ] && exit 5; exit 0'
check "exit code of the first of several failures" $code 3
for hosts in "-np 3" "-H a:1,b:1,c:1"; do
    XMPI_LAUNCH_AGENT='sh -c "{cmd}"' run 20 --print-all-exitcodes $hosts sh -c 'exit $((3 * RANK))'
    check "exit codes of all ranks are told: $hosts" "$(grep '^rank' "$dir/err" | sort | tr '\n' ';')" \
        "rank 0: exit code 0;rank 1: exit code 3;rank 2: exit code 6;"
done
run 10 -n 1 sh -c 'sleep 0.3; exit 4' : -n 1 sh -c 'exit 3'
check "first failure in time of an MPMD job" $code 3

run 10 -np 3 sh -c '[ $RANK = 0 ] && exit 1; sleep 0.3; echo done'
check "a failed program without MPI does not stop the others" "$(wc -l < "$dir/out")" 2

for signal in 9 11 15; do
    run 10 -np 3 sh -c "[ \$RANK = 1 ] && kill -$signal \$\$; exec sleep 30"
    check "a rank killed by signal $signal" $code $((128 + signal))
    check_says "signal $signal is named" "rank 1 .*killed by signal $signal"
done
check "the others are gone" "$(leftovers_soon)" 0

# nohup: HUP is ignored before, and stays so
(trap "" HUP; exec env "$mark" "$XMPIRUN" -np 1 sh -c "echo > $dir/runs; exec sleep 1") & launcher=$!
until [ -e "$dir/runs" ]; do sleep 0.05; done
kill -HUP $launcher
wait $launcher
check "a HUP that was ignored still is" $? 0

echo 'echo $#' > "$dir/script"
chmod +x "$dir/script"
run 10 -np 1 "$dir/script" $(seq 40000)
check "a script without #!, with many arguments" "$code $(cat "$dir/out")" "0 40000"

run 10 -np 4 ./no-such-program
check "program not found" $code 127
check "one message about it" "$(wc -l < "$dir/err")" 1
run 10 -np 4 no-such-program
check_says "it says where it looked" "/bin"
echo text > "$dir/plain"
run 10 -np 4 "$dir/plain"
check "program not executable" $code 126
check "one message about that" "$(wc -l < "$dir/err")" 1
run 10 -np 2 /
check "a directory is no program" $code 126
printf '#!/no/such/interpreter\n' > "$dir/script" && chmod +x "$dir/script"
run 10 -np 2 "$dir/script"
check "interpreter of a script missing" $code 127
check_says "that is explained" interpreter
printf 'echo script $1\n' > "$dir/script"
run 10 -np 1 "$dir/script" works
check "a script without #! runs" "$(cat "$dir/out")" "script works"

run 10 -np 2 --timeout 0.5 sleep 30
check "time limit" $code 124
check_says "time limit is named" "time limit"
MPIEXEC_TIMEOUT=1 run 10 -np 2 sleep 30
check "time limit by MPIEXEC_TIMEOUT" $code 124
MPIEXEC_TIMEOUT=soon run 10 -np 2 true
check "an MPIEXEC_TIMEOUT that is no number" $code 2
check_says "it is named" "MPIEXEC_TIMEOUT=soon: expected a number of seconds"
run 10 -np 2 : -np 1 true
check_says "a section without a program is named" "section 1 of 2 names no program"
run 10 -np 2 sh -c 'trap "" INT; [ $RANK = 1 ] && sleep 0.2 && kill -INT $PPID; sleep 4'
check_says "an interrupt that ranks ignore" "2 of 2 ranks still run"

run 10 --no-such-option
check "unknown option" $code 2
run 10 --oversubscibe -np 2 true
check_says "a typo is recognised" "did you mean --oversubscribe"
run 10 -np x true
check "not a number" $code 2
run 10 -np
check_says "missing value" "a value is missing"
run 10
check "no program" $code 2
run 10 -np 2 --launch-agent 'echo unknown {host} >&2; exit 9; {cmd}' -host no.such.host true
check "a host that cannot be reached" $code 1
check_says "it is named, with the agent's words" "host no.such.host: .*code 9 .*unknown no.such.host"

run 10 --mca btl tcp --allow-run-as-root --oversubscribe -iface lo -np 2 true
check "options of other launchers are ignored" "$code $(cat "$dir/err")" "0 "
run 10 -v --mca btl tcp -np 2 true
check_says "and mentioned with -v" "mca is ignored"
run 10 --nproc_per_node 3 sh -c 'echo $WORLD_SIZE'
check "torchrun's spelling" "$(sort -u "$dir/out")" 3
run 10 -np=2 -- sh -c 'echo $LOCAL_RANK/$LOCAL_WORLD_SIZE'
check "local rank" "$(sort "$dir/out" | tr '\n' ' ')" "0/2 1/2 "

# Ctrl-C, TERM, and other signals to xmpirun
rm -f "$dir/there"
start -np 3 sh -c "echo >> $dir/there; exec sleep 30"
await_lines "$dir/there" 3
kill -INT $pid
collect
check "interrupt is passed on" $code 130
start -np 2 sh -c "trap '' INT; echo >> $dir/there; sleep 30; sleep 30"
await_lines "$dir/there" 5
kill -INT $pid
await_taken
begin=$(now_ms)
kill -INT $pid
collect
check "a second interrupt kills" $code 130
[ $(($(now_ms) - begin)) -lt 1000 ] && ok "at once" || not_ok "at once" "it took longer than 1 s"
start -np 2 sh -c "trap 'echo got; exit 0' TERM; echo >> $dir/there; while :; do sleep 0.05; done"
await_lines "$dir/there" 7
kill -TERM $pid
collect
check "TERM ends the job" $code 143
check "ranks can clean up" "$(grep -c got "$dir/out")" 2
start -np 2 sh -c "trap 'echo usr1; exit 0' USR1; echo >> $dir/there; while :; do sleep 0.05; done"
await_lines "$dir/there" 9
kill -USR1 $pid
collect
check "USR1 is passed on" "$code $(grep -c usr1 "$dir/out")" "0 2"
start -np 2 sh -c "echo >> $dir/there; sleep 1; echo end"
await_lines "$dir/there" 11
kill -TSTP $pid
sleep 0.3
state=$(sed 's/.*) \(.\).*/\1/' /proc/$pid/stat)
check "TSTP stops" "$state" T
kill -CONT $pid
collect
check "CONT continues" "$code $(grep -c end "$dir/out")" "0 2"
(ulimit -f 100; run 10 -np 2 true; exit $code)
check "a limit of file sizes is an error, not a signal" $? 1
check_says "and says what to do" "ulimit -f"
run 20 -np 99999 true
check "more ranks than a node can have are refused" $code 2
check_says "with the number and the remedy" "-np 99999: 99999 ranks .* the 16384 .* -H or --hostfile"
(ulimit -n 300; run 20 -np 200 true; exit $code)
check "more ranks than the limit of open files has room for are refused" $? 2
check_says "with the limit and the remedy" "-np 200: .* limit is 300.*ulimit -n"
(ulimit -n 300; run 20 -np 100 true; exit $code)
check "and no fewer" $? 0
start -np 2000 sleep 100
await 20 grep -qs '[0-9] [0-9]' "/proc/$pid/task/$pid/children"
begin=$(now_ms)
kill -TERM $pid
collect
check "TERM while ranks are being started" $code 143
took=$(($(now_ms) - begin))
[ $took -lt 1500 ] && ok "and no more are" || not_ok "and no more are" "$took ms"
# a control group with little memory, where we may make one and go into it; sets group
group_open() {
    for place in /sys/fs/cgroup/memory:memory.limit_in_bytes:memory.swappiness /sys/fs/cgroup:memory.max:memory.swap.max; do
        group=${place%%:*}/xmpi-test-$$ limit=${place#*:}
        mkdir "$group" 2> /dev/null || continue
        if [ -w "$group/${limit%:*}" ] && echo 256M > "$group/${limit%:*}" &&
            sh -c 'echo $$ > "$0/cgroup.procs"' "$group"; then
            [ ! -w "$group/${limit#*:}" ] || echo 0 > "$group/${limit#*:}"
            return 0
        fi
        rmdir "$group"
    done 2> /dev/null
    return 1
}
if group_open; then
    printf '#!/bin/sh\necho $$ > "%s/cgroup.procs" || exit 99\nexec "%s" "$@"\n' "$group" "$XMPIRUN" > "$dir/inside"
    chmod +x "$dir/inside"
    whole=$XMPIRUN
    XMPIRUN=$dir/inside run 20 -np 2 sh -c '[ $RANK = 0 ] && exec sleep 15; ulimit -v 2000000; exec tail /dev/zero'
    XMPIRUN=$whole
    check "out of memory: exit code" $code 137
    check_says "and that is said" "rank 1 .*signal 9.*the kernel ran out of memory"
    leftovers_soon > /dev/null
    rmdir "$group"
else
    echo "skip launch: out of memory: no control group with a limit can be made here"
fi
check "nothing is left" "$(leftovers_soon)" 0
finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# PMIx_Spawn: jobs that start while another one runs, with the same xmpirun and PMIx server.
. "${srcdir:-.}/test/lib.sh"
XMPI_SCRATCH=${XMPI_SCRATCH:-$scratch}
. "$(dirname "$0")/launch.inc"
here=$(dirname "$0")

if ! pkg-config --exists pmix 2> /dev/null; then
    echo "skip launch: PMIx_Spawn: no pmix.pc (Debian: libpmix-dev)"
    exit 0
fi
client=$dir/client left=$dir/left
compile_client() { gcc -std=gnu11 -g -O1 -Wall -Wextra "$1" -o "$2" $(pkg-config --cflags --libs pmix); }
if ! compile_client "$here/pmix_spawn.c" "$client" 2> "$dir/err" ||
    ! compile_client "$here/pmix_left.c" "$left" 2> "$dir/err"; then
    not_ok "a PMIx client that spawns compiles" "gcc failed"
    finish
fi
if ! "$client" say > /dev/null 2>&1 && [ $? = 127 ]; then
    echo "skip launch: PMIx_Spawn: libpmix.so.2 cannot be loaded (Debian: libpmix2)"
    exit 0
fi
ring=$dir/ring
compile "$here/pmix_mpi.c" -o "$ring" 2> "$dir/err" || not_ok "an MPI program compiles" "failed"

export XDG_RUNTIME_DIR="$dir/run"
mkdir -p "$XDG_RUNTIME_DIR"
nothing_left()
{
    await 10 is_empty "$XDG_RUNTIME_DIR"
    check "nothing is left behind by $1" "$(ls -A "$XDG_RUNTIME_DIR") $(leftovers_soon 5)" " 0"
}

# ---- jobs that end well ----

run 60 -np 2 "$client" all
check "spawned and first job: identity, data, names, connection, fence" "$code: $(cat "$dir/out" "$dir/err")" "0: "
run 60 -np 3 "$client" twice
check "several at the same time" "$code: $(cat "$dir/out" "$dir/err")" "0: "
run 60 -np 1 "$client" many 20
check "many, one after the other" "$code: $(cat "$dir/out" "$dir/err")" "0: "
run 60 -np 2 "$client" run "$ring" 2
check "a spawned MPI program has a world of its own" "$code: $(grep -c good "$dir/out")" "0: 2"
run 60 -np 2 "$client" run "$(command -v true)"
check "an ordinary program can be spawned" "$code: $(cat "$dir/out" "$dir/err")" "0: "
run 60 -np 2 "$client" end "$dir/end"
check "xmpirun stays until spawned jobs have ended" "$code $(wc -l < "$dir/end")" "0 2"
nothing_left "jobs that end well"

# ---- output ----

lines() { sort "$dir/out" | tr '\n' ';'; }
run 60 -np 2 "$client" say
check "output of both jobs" "$code: $(lines)" "0: line 0 of 0 of first;line 0 of 0 of spawned;line 0 of 1 of first;line 0 of 1 of spawned;line 1 of 0 of first;line 1 of 0 of spawned;line 1 of 1 of first;line 1 of 1 of spawned;"
run 60 --tag-output -np 1 "$client" say
check "tags tell jobs apart" "$(lines)" "[1,0]<stdout>:line 0 of 0 of first;[1,0]<stdout>:line 1 of 0 of first;[2,0]<stdout>:line 0 of 0 of spawned;[2,0]<stdout>:line 1 of 0 of spawned;[2,1]<stdout>:line 0 of 1 of spawned;[2,1]<stdout>:line 1 of 1 of spawned;"
run 60 -l -np 1 "$client" say
check "short tags do, too" "$(grep -c '^\[0\] .*of 0 of first' "$dir/out") $(grep -c '^\[2,1\] .*of 1 of spawned' "$dir/out")" "2 2"
run 60 --output-filename "$dir/files" -np 1 "$client" say
check "files of both jobs" "$(cat "$dir/files/1/rank.0/stdout" "$dir/files/2/rank.1/stdout" | tr '\n' ';')" "line 0 of 0 of first;line 1 of 0 of first;line 0 of 1 of spawned;line 1 of 1 of spawned;"
run 60 -outfile-pattern "$dir/pattern.%r" -np 1 "$client" say
check "files by a pattern" "$(cat "$dir/pattern.0" "$dir/pattern.0.2" | tr '\n' ';')" "line 0 of 0 of first;line 1 of 0 of first;line 0 of 0 of spawned;line 1 of 0 of spawned;"
run 60 -np 2 "$client" run "$(command -v seq)" 100000
check "much output is complete, and no line is torn" "$code: $(sort -n "$dir/out" | uniq -c | awk '$1 != 2' | wc -l) $(wc -l < "$dir/out")" "0: 0 200000"

# ---- what cannot be ----

export XMPI_LAUNCH_AGENT='case {host} in elsewhere*) echo no route >&2; exit 9;; esac; sh -c "{cmd}"'
run 60 -np 1 "$client" refused
check "what cannot be spawned: the caller gets an error and lives" "$code: $(cat "$dir/out")" "0: "
check_says "a missing program is named" "job 2: cannot find the program /there/is/no/such/program"
check_says "a missing directory is named" "cannot enter the working directory /there/is/no/such/directory"
check_says "a directive nobody knows is named" "test.unheard-of is required and not supported"
check_says "another host is named, with its agent's words" "job [0-9]*: host elsewhere.invalid: the launch agent exited with code 9 .*: no route"
run 60 --nooversubscribe -H localhost:2 -np 1 "$client" say
check_says "slots are those of all jobs: error" "3 ranks, but 2 slots here, and --nooversubscribe was given"
run 60 --nooversubscribe -H localhost:3 -np 1 "$client" say
check "slots are those of all jobs: enough" "$code" 0
nothing_left "what cannot be spawned"

# ---- several hosts: names for this machine ----

export TEST_HOSTS=yes
for hosts in a:1,b:1 a:2,b:1,c:2; do
    run 60 -np 2 -H $hosts "$client" all
    check "hosts $hosts: identity, data, names, connection, fence" "$code: $(cat "$dir/out" "$dir/err")" "0: "
done
run 60 -np 2 "$client" chain 2 a:1,b:1
check "from one host onto others, and from there" "$code: $(cat "$dir/out" "$dir/err")" "0: "
run 60 -np 2 -H a:1,b:1 "$client" chain 2 localhost:8
check "from several hosts onto one" "$code: $(cat "$dir/out" "$dir/err")" "0: "
run 60 --fanout 1 -np 2 -H a:1,b:1,c:1 "$client" chain 3 b:1,c:1,d:1
check "hosts that hosts have started, each generation again" "$code: $(cat "$dir/out" "$dir/err")" "0: "
run 60 -np 3 -H a:2,b:1 "$client" twice
check "hosts: several at the same time" "$code: $(cat "$dir/out" "$dir/err")" "0: "
run 60 -np 1 "$client" leave 1
check "nobody waits for a job on this host that has ended" "$code: $(cat "$dir/out" "$dir/err")" "0: "
for repetition in 1 2 3 4 5; do
    run 60 -np 2 -H a:1,b:1 "$client" past
    [ "$code" = 0 ] || break
done
check "hosts: who asks for data of a job that ends has an answer" "$code: $(cat "$dir/out" "$dir/err")" "0: "
run 60 -np 2 -H a:1,b:1 "$client" run "$ring" 2
check "hosts: a spawned MPI program has a world of its own" "$code: $(grep -c good "$dir/out")" "0: 2"
run 60 -np 2 -H a:1,b:1 "$client" run "$(command -v seq)" 100000
check "hosts: much output is complete, and no line is torn" "$code: $(sort -n "$dir/out" | uniq -c | awk '$1 != 2' | wc -l) $(wc -l < "$dir/out")" "0: 0 200000"
run 60 -np 2 -H a:1,b:1 "$client" run "$(command -v printenv)" MASTER_PORT
check "hosts: all ranks of a spawned job know where to meet" "$code: $(wc -l < "$dir/out") $(sort -u "$dir/out" | wc -l)" "0: 2 1"
run 60 --nooversubscribe -np 2 -H a:2,b:2 --prepend-pattern '%h ' "$client" say
check "slots that are free come first" "$code $(grep -c '^a line . of . of first' "$dir/out") $(grep -c '^b line . of . of spawned' "$dir/out")" "0 4 4"
run 60 --nooversubscribe -np 2 -H a:1,b:1 "$client" say
check_says "slots of all hosts are those of all jobs" "4 ranks, but 2 slots here, and --nooversubscribe was given"
run 60 --nooversubscribe -np 2 -H a:2,b:2,c:2 "$client" chain 2
check "slots of several spawned jobs: enough" "$code: $(cat "$dir/out" "$dir/err")" "0: "
run 60 --nooversubscribe -np 2 -H a:2,b:2 "$client" chain 2
check_says "slots of several spawned jobs: error" "6 ranks, but 4 slots here, and --nooversubscribe was given"
run 60 -np 2 -H a:1,b:1 "$client" refused
check "hosts: what cannot be spawned: the callers get an error and live" "$code: $(cat "$dir/out")" "0: "
nothing_left "jobs on several hosts"
run 60 -np 2 -H a:2,b:2 "$client" killed
check "hosts: a killed spawned rank ends all" "$code $(head -n 1 "$dir/err" | grep -c "job 2: b: rank 1 .* was killed by signal 9")" "137 1"
run 60 -np 2 -H a:2,b:2 "$client" abort 42
check "hosts: PMIx_Abort in a spawned job" "$code $(head -n 1 "$dir/err" | grep -c "job 2: b: rank 1 called PMIx_Abort(42): out of cheese")" "42 1"
run 60 -np 2 -H a:2,b:2 "$client" silent
check "hosts: a spawned client that ends without PMIx_Finalize" "$code $(head -n 1 "$dir/err" | grep -c "job 2: b: rank 1 .*without calling")" "1 1"
rm -f "$dir/file"
run 60 -np 2 -H a:2,b:2 "$client" die "$dir/file"
check "hosts: a killed parent ends the spawned" "$code $(grep -c spawned "$dir/file")" "137 2"
run 60 --keep-going -np 2 -H a:1,b:1 "$client" run "$(command -v false)"
check "hosts, --keep-going: the first job goes on" "$code $(grep -c 'job 2, which was spawned, has failed (exit code 1); going on' "$dir/err")" "1 1"
nothing_left "jobs on several hosts that end badly"
cat > "$dir/agent" << 'EOF'
#!/bin/sh
# HOST COMMAND: host d is lost soon after it was begun
[ "$1" = d ] || { shift && exec sh -c "$*"; }
shift
exec 3<&0
(eval "exec $*") <&3 3<&- &
sleep "$LIFE"
kill -9 $!
EOF
chmod +x "$dir/agent"
agent=$XMPI_LAUNCH_AGENT ends=
for life in 0.01 0.03 0.05 0.07 0.09 0.12; do
    export LIFE=$life XMPI_LAUNCH_AGENT="$dir/agent {host} {cmd}"
    run 60 --keep-going -np 2 -H a:1,b:1 "$client" chain 1 a:1,d:1
    [ "$code" != 124 ] || ends=late
done
export XMPI_LAUNCH_AGENT="$agent"
check "hosts, --keep-going: a host lost while a job is spawned: the caller has its answer" "$ends" ""
run 60 --keep-going -np 2 -H a:1,b:1 "$left" data
check "hosts, --keep-going: who asks for data of another job's lost host has an answer" "$code $(sort "$dir/out" | tr '\n' ';')" \
    "1 first 0: data: error;first 0: fence: error;first 1: data: error;first 1: fence: error;spawned 0: fence: error;"
for end in partner gone; do
    run 60 --keep-going -np 2 -H a:1,b:1 "$left" $end
    check "hosts, --keep-going: who waits for a job that has failed has an answer: $end" "$code $(sort "$dir/out" | tr '\n' ';')" \
        "3 spawned 0: fence: error;spawned 1: fence: error;"
done
nothing_left "hosts that are lost"
unset TEST_HOSTS

# ---- bad ends ----

run 60 -np 2 "$client" killed
check "a killed spawned rank ends all: exit code" $code 137
check "it is the first cause" "$(head -n 1 "$dir/err" | grep -c "job 2: rank 1 .* was killed by signal 9")" 1
run 60 -np 2 "$client" abort 42
check "PMIx_Abort in a spawned job" $code 42
check_says "who and why" "job 2: rank 1 called PMIx_Abort(42): out of cheese"
run 60 -np 2 "$client" silent
check "a spawned client that ends without PMIx_Finalize" $code 1
check_says "it is named" "job 2: rank 1 .*without calling"
run 60 -np 2 "$client" code 7
check "exit codes of spawned jobs count" $code 7
run 60 -np 2 "$client" run "$ring" 2 && run 60 -np 2 "$client" run "$(command -v false)"
check "those of ordinary programs, too" $code 1
rm -f "$dir/file"
run 60 -np 2 "$client" die "$dir/file"
check "a killed parent ends the spawned" "$code $(grep -c spawned "$dir/file")" "137 2"
for after in 0 200 400 600 800 1000 1500 2000 3000; do
    run 60 -np 2 "$client" hasty 7 $after
    [ $code = 7 ] || break
done
check "who spawns ends badly while the launcher of the spawned is being started" $code 7
rm -f "$dir/heard" "$dir/foreign"
TEST_FILE=$dir/heard TEST_FOREIGN=$dir/foreign run 60 -np 2 "$client" quiet
check "news of a death" "$code $(grep -c "spawned 0" "$dir/heard")" "137 1"
check "it says in which job" "$(sort -u "$dir/foreign" | tr '\n' ' ')" "first 0 first 1 "
run 60 --keep-going -np 2 "$client" run "$(command -v false)"
check "--keep-going: the first job goes on" "$code $(grep -c 'job 2, which was spawned, has failed (exit code 1); going on' "$dir/err")" "1 1"
rm -f "$dir/file"
run 60 --timeout 1 -np 2 "$client" wait "$dir/file"
check "the time limit is for all jobs" $code 124
nothing_left "jobs that end badly"

# ---- signals, kill -9 ----

begin() { rm -f "$dir/file"; start -np 2 "$client" wait "$dir/file"; await_lines "$dir/file" 2; }
spawned_launcher() # its process id: a child of xmpirun that runs xmpirun
{
    for child in $(cat "/proc/$pid/task/$pid/children"); do
        grep -qa -- --spawned "/proc/$child/cmdline" && echo "$child"
    done
}

begin
check "a command line, which may hold what a -configfile holds, is not for all to read" "$(tr '\0' '\n' < "/proc/$(spawned_launcher)/cmdline" | sed 's/[0-9][0-9]*/N/g' | tr '\n' ' ')" "xmpirun --spawned N,N,N "
kill -INT "$pid"
collect
check "Ctrl-C ends all jobs" $code 130
nothing_left "Ctrl-C"
begin
kill -TERM "$pid"
collect
check "SIGTERM ends all jobs" $code 143
begin
kill -QUIT "$pid"
await 60 grep -q "xmpirun: job 2: .*state of the ranks" "$dir/err"
check "SIGQUIT tells of all jobs" "$(grep -c "state of the ranks" "$dir/err")" 2
kill -STOP "$(spawned_launcher)"
kill -INT "$pid"
await_taken
kill -INT "$pid"
collect
check "a launcher that does not listen is killed" $code 130
nothing_left "a launcher that does not listen"
begin
kill -KILL "$(spawned_launcher)"
collect
check "a killed launcher of a spawned job ends all" $code 137
check_says "it is named as the cause" "job 2, which was spawned, has failed (its launcher was killed by signal 9)"
nothing_left "a killed launcher of a spawned job"
start --keep-going -np 1 "$client" run "$(command -v yes)" "a line of a few words"
await 60 test -s "$dir/out"
launcher=$(spawned_launcher)
kill -STOP "$pid"
sleep 0.3 # its pipe is full, to somewhere in a line
kill -KILL "$launcher"
kill -CONT "$pid"
collect
check "a killed launcher's last line has an end" "$(tail -c 1 "$dir/out" | wc -l)" 1
begin
kill -KILL "$pid"
collect
nothing_left "a killed xmpirun"
for after in 10 20 30 40 50 60 80; do
    rm -f "$dir/file"
    start -np 2 "$client" wait "$dir/file"
    sleep 0.$(printf %03d $after)
    kill -9 "$pid" 2> /dev/null
    collect
done
nothing_left "xmpirun killed at any time"
finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The PMIx server of a job: plain PMIx clients, and xmpi's own library when it boots over PMIx.
. "${srcdir:-.}/test/lib.sh"
XMPI_SCRATCH=${XMPI_SCRATCH:-$scratch}
. "$(dirname "$0")/launch.inc"
here=$(dirname "$0")

if ! pkg-config --exists pmix 2> /dev/null; then
    echo "skip launch: PMIx: no pmix.pc (Debian: libpmix-dev)"
    exit 0
fi
client=$dir/client
if ! gcc -std=gnu11 -g -O1 -Wall -Wextra "$here/pmix_client.c" -o "$client" \
    $(pkg-config --cflags --libs pmix) 2> "$dir/err"; then
    not_ok "a PMIx client compiles" "gcc failed"
    finish
fi
if ! "$client" version > /dev/null 2>&1 && [ $? = 127 ]; then
    echo "skip launch: PMIx: libpmix.so.2 cannot be loaded (Debian: libpmix2)"
    exit 0
fi

# All that a server leaves behind would be in here.
export XDG_RUNTIME_DIR="$dir/run"
mkdir -p "$XDG_RUNTIME_DIR"
nothing_left() { check "nothing is left behind by $1" "$(ls -A "$XDG_RUNTIME_DIR")" ""; }

for np in 1 2 4 8; do
    run 60 -np $np "$client"
    check "PMIx client, np $np" "$code: $(cat "$dir/out")" "0: "
done
EXPECT_BOUND=1 run 20 -np 1 --bind-to core "$client"
check "a bound PMIx client knows its place" $code 0
run 20 -np 2 "$client" program 0 : -np 2 "$client" program 1
check "PMIx clients of two programs" "$code: $(cat "$dir/out")" "0: "
run 20 --pmix=never -np 1 "$client"
check "--pmix=never: there is no server" $code 97
nothing_left "jobs that end well"

# ---- bad ends ----

run 20 -np 4 "$client" abort 42
check "PMIx_Abort: exit code" $code 42
check_says "PMIx_Abort: who and why" "rank 1 called PMIx_Abort(42): out of cheese"
check "PMIx_Abort: in one line" "$(grep -c '^$' "$dir/err")" 0
run 20 -np 3 "$client" silent
check "a client that ends without PMIx_Finalize" $code 1
check_says "it is named" "rank 1 .*without calling"
run 20 -np 3 "$client" again 7
check "one that fails when it is a client for the second time ends all" $code 7

soon=no # libpmix with its own settings takes 40 ms
for try in 1 2 3; do
    run 20 -np 4 "$client" death
    [ "$(sed -n 's/.*dead after \([0-9]*\) us/\1/p' "$dir/out" | sort -n | head -n 1)" -lt 20000 ] &&
        soon=yes && break
done
check "a killed client: exit code" $code 137
check "a killed client: all others are told" "$(grep -c "rank 3 is dead" "$dir/out")" 3
check "a killed client: they are told at once" $soon yes
run 20 -np 3 sh -c "\"$client\" death; sleep 20"
check "a client killed below a wrapper" $code 1
check_says "it is named, too" "rank 2 .*below a wrapper"
nothing_left "jobs that end badly"
check "no process is left" "$(leftovers_soon)" 0

# ---- several hosts ----

export XMPI_LAUNCH_AGENT='sh -c "{cmd}"' EXPECT_NODES=2
run 60 -H a:2,b:2 "$client"
check "PMIx clients on two hosts" "$code: $(cat "$dir/out")" "0: "
EXPECT_NODES=3 run 60 --fanout 1 -np 6 --map-by node -H "$(hostname),b,c" "$client"
check "PMIx clients on three, dealt around" "$code: $(cat "$dir/out")" "0: "
run 20 -H a:1,b:2 "$client" left
check "data of who has left are not waited for" "$code: $(cat "$dir/out")" "0: "
run 20 -H a:1,b:2 "$client" mute
check "nor data that never came" "$code: $(cat "$dir/out")" "0: "
run 20 -H a:1,b:1 "$client" patience
check "a lookup elsewhere that waits gives up in time" "$code: $(cat "$dir/out")" "0: "
long=$(printf '%060d' 0 | tr 0 n)
run 60 -H "$long:2,b$long:1" "$client"
check "hosts whose names are long and have no digit" "$code: $(cat "$dir/out")" "0: "
for mib in 40 70; do # together, and alone
    run 60 -H a:1,b:1 "$client" bulky $mib
    check "a fence of ranks with $mib MiB each is refused" "$code: $(cat "$dir/out")" "0: "
    check_says "it is said why ($mib)" "PMIx data at once are too much"
done
run 60 -H a:1,b:2 "$client" program 0 : -np 2 "$client" program 1
check "two programs on two hosts" "$code: $(cat "$dir/out")" "0: "
run 20 -H a:2,b:2 "$client" abort 42
check "PMIx_Abort on two hosts" "$code $(grep -c "a: rank 1 called PMIx_Abort(42): out of cheese" "$dir/err")" "42 1"
run 20 -H a:2,b:2 "$client" death
check "a killed client: hosts tell each other" "$code $(grep -c "rank 3 is dead" "$dir/out")" "137 3"
run 20 --keep-going -H a:1,b:2 sh -c "\"$client\" death; sleep 3"
check "a client killed below a wrapper that goes on: hosts tell each other, and soon" \
    "$(sed -n 's/^rank 0 knows that rank 2 is dead after \([0-9]*\) us/\1/p' "$dir/out" | awk '{ print $1 < 2000000 }')" 1
run 20 --keep-going -H a:2,b:1 "$client" alone
check "nobody waits for a host whose clients are dead" "$code: $(cat "$dir/out")" "137: "
run 20 --keep-going -H a:1,b:1 "$client" heir
check "names of processes go with their host" "$code: $(cat "$dir/out")" "1: "
run 20 -H a:2,b:1 "$client" early
check "nor for one whose clients have ended well" "$code: $(cat "$dir/out")" "0: "
run 20 -H a:2,b:1,c:1 --fanout 1 "$client" early
check "nor for one further down" "$code: $(cat "$dir/out")" "0: "
run 20 --pmix=always -H a:2,b:2 env -u XMPI_BOOT true
check "other programs on two hosts" "$code: $(cat "$dir/out" "$dir/err")" "0: "
nothing_left "several hosts"
check "no process of theirs is left" "$(leftovers_soon)" 0

# ---- xmpi's own library over PMIx ----

ring=$dir/ring
compile "$here/pmix_mpi.c" -o "$ring" 2> "$dir/err" || not_ok "an MPI program compiles" "failed"
run 20 --pmix=always -H a:2,b:2 env -u XMPI_BOOT "$ring" 4
check "MPI over PMIx on two hosts" "$code: $(grep -c good "$dir/out")" "0: 4"
for np in 1 2 4; do
    run 20 --pmix=always -np $np env -u XMPI_BOOT "$ring" $np
    check "MPI over PMIx, np $np" "$code: $(grep -c good "$dir/out")" "0: $np"
done
run 20 -np 4 env -u XMPI_BOOT "$ring" 4 5
check "MPI_Abort over PMIx" $code 5
run 20 -np 4 env -u XMPI_BOOT "$ring" 4 kill
check "an MPI process killed over PMIx" $code 137

run 20 -v -np 2 "$ring" 2
check "an MPI program needs no server" "$(grep -c "PMIx server" "$dir/err")" 0
run 20 -v -np 2 "$(command -v true)"
check "an ordinary program needs no server" "$(grep -c "PMIx server" "$dir/err")" 0
run 20 -v --pmix=always -np 2 "$ring" 2
check "--pmix=always: there is a server" "$(grep -c "PMIx server" "$dir/err")" 1
check "MPI beside a PMIx server" "$code: $(grep -c good "$dir/out")" "0: 2"
nothing_left "MPI jobs"

# ---- tools ----

tool=$dir/tool
gcc -std=gnu11 -g -O1 -Wall -Wextra "$here/pmix_tool.c" -o "$tool" $(pkg-config --cflags --libs pmix) 2> "$dir/err" ||
    not_ok "a PMIx tool compiles" "failed"
mkdir -p "$dir/tmp"
# begin_with_tools ARGUMENTS: a job whose ranks wait for $dir/go; $at is the file that tools read
begin_with_tools()
{
    rm -f "$dir/go" "$dir/who"
    TMPDIR=$dir/tmp start "$@" sh -c 'echo $RANK $$ >> '"$dir"'/who; while [ ! -e '"$dir"'/go ]; do sleep 0.05; done'
    await_lines "$dir/who" "$nranks"
    tries=0
    until grep -q "PMIx tools find" "$dir/err" || [ $tries -gt 100 ]; do sleep 0.05; tries=$((tries + 1)); done
    at=$(sed -n 's/.*or by the file //p' "$dir/err")
}
# What the tool says of the processes, and what they have said themselves.
table() { sed -n "s/^$1 rank \([0-9]*\) pid \([0-9]*\) of sh on .* runs\$/\1 \2/p" "$dir/said" | sort; }
truth() { sort "$dir/who"; }

nranks=3
begin_with_tools --tools -np 3
TMPDIR=$dir/tmp timeout 20 "$tool" pid "$pid" > "$dir/said" 2>&1
check "a tool finds the job by process id" "$? $(grep -c '^namespace xmpi-' "$dir/said")" "0 1"
check "its table of processes" "$(table all)" "$(truth)"
check "those of this host" "$(table here)" "$(truth)"
timeout 20 "$tool" file "$at" > "$dir/said" 2>&1
check "a tool with the file" "$? $(table all)" "0 $(truth)"
check "its folder is private" "$(stat -c %a "$dir"/tmp/xmpi-*)" 700
check "it lies where tools look" "$(ls "$XDG_RUNTIME_DIR")" ""
: > "$dir/go"
collect
check "the job goes on" $code 0
check "nothing is left behind by tools" "$(ls -A "$dir/tmp")" ""

nranks=4
XMPI_LAUNCH_AGENT='sh -c "{cmd}"' begin_with_tools --tools -H "a:2,b:2"
TMPDIR=$dir/tmp timeout 20 "$tool" pid "$pid" > "$dir/said" 2>&1
check "a tool sees the ranks of all hosts" "$? $(table all)" "0 $(truth)"
check "and where they are" "$(sed -n 's/^all .* on \(.*\) runs$/\1/p' "$dir/said" | sort | uniq -c | tr -s ' \n' ' ')" " 2 a 2 b "
timeout 20 "$tool" file "$at" b > "$dir/said" 2>&1
check "those of one host" "$(table here)" "$(truth | tail -n 2)"
: > "$dir/go"
collect
check "that job goes on, too" "$code $(ls -A "$dir/tmp")" "0 "

nranks=2
begin_with_tools --tools --keep-going -np 2
victim=$(sed -n 's/^1 //p' "$dir/who")
kill -9 "$victim"
tool_says_killed()
{
    timeout 20 "$tool" file "$at" > "$dir/said" 2>&1
    grep -q "rank 1 .*was killed" "$dir/said"
}
await 10 tool_says_killed
check "a dead process is said to be dead" "$(grep -c "^all rank 1 pid $victim of sh on .* was killed\$" "$dir/said")" 1
kill -9 "$pid"
collect
await 10 is_empty "$dir/tmp"
check "nothing is left behind by a killed launcher with tools" "$(ls -A "$dir/tmp")" ""

XMPI_LAUNCH_AGENT='sh -c "{cmd}"' begin_with_tools --tools --keep-going -H a:1,b:1
victim=$(sed -n 's/^1 //p' "$dir/who")
kill -9 "$(ps -o ppid= -p "$victim")"
tool_says_ended()
{
    timeout 20 "$tool" file "$at" > "$dir/said" 2>&1
    grep -q "all rank 1 .*ended" "$dir/said"
}
await 10 tool_says_ended
check "and those of a lost host have ended" "$(grep -c "^all rank 1 pid $victim of sh on b ended\$" "$dir/said") $(grep -c "^all rank 0 .* runs\$" "$dir/said")" "1 1"
: > "$dir/go"
collect

begin_with_tools --pmix=always -np 2
check "without --tools: no file for them" "$(ls "$XDG_RUNTIME_DIR"/*/ "$dir/tmp" | grep -c tool)" 0
TMPDIR=$dir/tmp timeout 20 "$tool" pid "$pid" > "$dir/said" 2>&1
check "without --tools: they do not find us" $? 97
: > "$dir/go"
collect

# ---- kill -9 ----

start --pmix=always -H a:1,b:1 sh -c "echo >> \"$dir/far\"; exec sleep 30"
await_lines "$dir/far" 2
daemon=$(for process in $(grep -lsa "$mark" /proc/[0-9]*/environ | sed 's|/proc/||; s|/environ||'); do
    [ "$(cat "/proc/$process/comm")" = xmpid ] && echo "$process" # not its guardian
done 2> /dev/null | head -n 1)
kill -9 "$daemon"
collect
await 10 is_empty "$XDG_RUNTIME_DIR"
nothing_left "a killed xmpid"

start --pmix=always -np 2 sh -c 'echo >> "$PMIX_SERVER_TMPDIR/file"; mkdir "$PMIX_SERVER_TMPDIR/d$RANK";
                                 echo >> '"$dir"'/there; exec sleep 30'
await_lines "$dir/there" 2
check "ranks may put files into their directory" "$(ls "$XDG_RUNTIME_DIR"/*/ | wc -l)" 3
kill -9 "$pid"
collect
await 10 is_empty "$XDG_RUNTIME_DIR"
nothing_left "a killed launcher"
for after in 2 4 6 8 10 12 15 20 30 50; do
    start -np 4 "$client" silent
    sleep 0.0$(printf %02d $after)
    kill -9 "$pid" 2> /dev/null
    collect
done
await 10 is_empty "$XDG_RUNTIME_DIR"
nothing_left "launchers killed at any time"
check "no process of theirs is left" "$(leftovers_soon)" 0
finish

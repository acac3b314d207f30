#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# kill -9 of everything: nothing may survive, in the process table, /tmp or /dev/shm.
. "$(dirname "$0")/launch.inc"
rounds=${KILLS:-20}
# Files of jobs whose xmpirun is gone: xmpi-<pid>-...
orphans() {
    for f in /tmp/xmpi-[0-9]* /dev/shm/xmpi-[0-9]* "${XDG_RUNTIME_DIR:-/nowhere}"/xmpi-[0-9]*; do
        owner=${f##*/xmpi-}
        [ -e "$f" ] && ! kill -0 "${owner%%-*}" 2> /dev/null && echo "$f"
    done
}
before=$(orphans)
# Those that were not here before, and stay: other tests kill launchers as well, whose guards take a moment.
left_soon() {
    for i in 1 2 3 4 5 6 7 8 9 10; do
        left=
        for f in $(orphans); do
            case " $(echo $before) " in *" $f "*) ;; *) left="$left $f" ;; esac
        done
        [ "$left" ] || break
        sleep 0.3
    done
    echo $left
}

# a rank below a wrapper, in a group and a session of its own, and a background process
cat > "$dir/wrap.sh" <<'END'
sleep 100 &
setsid sleep 100 > /dev/null 2>&1 &
echo >> "$there"
sh -c 'sleep 100; true'
true
END
export there="$dir/there"

fresh() { # a job of wrappers, all running
    rm -f "$there"
    : > "$there"
    start -np 3 sh "$dir/wrap.sh"
    await_lines "$there" 3
    sleep 0.05
}
of_job() { # pids of the job's processes whose command matches
    for p in $(grep -lsa "$mark" /proc/[0-9]*/environ 2> /dev/null); do
        p=${p%/environ}
        tr '\0' ' ' < "$p/cmdline" 2> /dev/null | grep -q "$1" && echo "${p#/proc/}"
    done
}
leftovers_pids() { grep -lsa "$mark" /proc/[0-9]*/environ 2> /dev/null | sed 's/[^0-9]//g'; }
guardian() { # pid of the guardian of xmpirun $pid
    for p in $(cat /proc/"$pid"/task/"$pid"/children 2> /dev/null); do
        [ "$(cat /proc/"$p"/comm 2> /dev/null)" = xmpirun-guard ] && echo "$p"
    done
}

fresh
kill -9 "$pid"
collect
check "xmpirun killed: wrappers and what is below them are gone" "$(leftovers_soon)" 0
check_says "and that is said" "launcher was killed"

# an environment of half a megabyte
fill=$(head -c 100000 /dev/zero | tr '\0' x)
export BIG_1="$fill" BIG_2="$fill" BIG_3="$fill" ZBIG_4="$fill" ZBIG_5="$fill"
fresh
kill -9 "$pid"
collect
check "the same with a large environment" "$(leftovers_soon)" 0
kill -9 $(leftovers_pids) 2> /dev/null
unset BIG_1 BIG_2 BIG_3 ZBIG_4 ZBIG_5 fill

# as on kernels before 5.9, and in sandboxes; strace stops at each system call where it cannot filter, and
# the guardian reads what belongs to thousands of processes
inject="strace -f -qq -o /dev/null -e trace=close_range -e inject=close_range:error=ENOSYS"
$inject --seccomp-bpf true 2> /dev/null && inject="$inject --seccomp-bpf"
if $inject true 2> /dev/null; then
    rm -f "$there"
    : > "$there"
    env "$mark" $inject "$XMPIRUN" -np 3 sh "$dir/wrap.sh" > "$dir/out" 2> "$dir/err" < /dev/null &
    pid=$!
    await_lines "$there" 3
    kill -9 $(cat /proc/"$pid"/task/"$pid"/children)
    check "the same without close_range" "$(leftovers_soon 10)" 0
    kill -9 $(leftovers_pids) 2> /dev/null
    collect
else
    echo "skip launch: the same without close_range: no strace here"
fi

fresh
kill -9 "$(of_job wrap.sh | head -n 1)"
begin=$(now_ms)
collect
check "a rank killed" $code 137
[ $(($(now_ms) - begin)) -lt 1000 ] && ok "gone within 1 s" || not_ok "gone within 1 s" "longer"
check "nothing is left" "$(leftovers_soon)" 0

fresh
first=$(guardian)
kill -9 "$first"
sleep 0.2
second=$(guardian)
[ -n "$second" ] && [ "$second" != "$first" ] && ok "a killed guardian is replaced" ||
    not_ok "a killed guardian is replaced" "there is none"
kill -9 "$pid"
collect
check "xmpirun killed after its guardian" "$(leftovers_soon)" 0

fresh
kill -TERM "$pid"
collect
check "TERM ends everything below wrappers" "$code $(leftovers_soon)" "143 0"

run 10 -np 2 sh -c 'sleep 100 & setsid sleep 100 & exit 0'
check "a rank that leaves processes behind" "$code $(leftovers_soon)" "0 0"
run 10 -np 2 sh -c '(sleep 0.2; echo late) & exit 0'
check "their output is waited for a moment" "$code $(grep -c late "$dir/out")" "0 2"

seed=$$
i=0 bad=0
while [ $i -lt "$rounds" ]; do
    i=$((i + 1))
    fresh
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    # any process of the job, xmpirun and its guardian included
    victim=$(grep -lsa "$mark" /proc/[0-9]*/environ 2> /dev/null | sed 's/[^0-9]//g' |
        awk -v s=$seed '{ line[NR] = $0 } END { print line[1 + int(s / 65536) % NR] }')
    what=$(tr '\0' ' ' < "/proc/$victim/cmdline" 2> /dev/null)
    kill -9 "$victim" 2> /dev/null
    sleep 0.1
    # killing what is not a rank does not end a job of plain programs
    kill -0 "$pid" 2> /dev/null && kill -9 "$pid"
    collect
    left=$(leftovers_soon)
    [ "$left" = 0 ] || { bad=$((bad + 1)); echo "    | $left left after killing $what"; }
done
check "nothing is left after $rounds random kills" $bad 0

check "nothing is left in /tmp and /dev/shm" "$(left_soon)" ""

begin=$(now_ms)
bad=0 i=0
while [ $i -lt "${STARTS:-100}" ]; do
    i=$((i + 1))
    run 10 -np 32 true
    [ $code = 0 ] || bad=$((bad + 1))
done
check "${STARTS:-100} times -np 32 true" $bad 0
echo "    ($(($(now_ms) - begin)) ms)"
finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that were started with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT alone meet at a store of
# rank 0.  Nodes are PID namespaces where those can be made.
. "${srcdir:-.}/test/lib.sh"
for name in p2p coll_basic; do
    compile -I"$top" -o "$scratch/$name" "$top/test/conform/$name.c" -lm || { not_ok store "does not compile"; finish; }
done
compile -I"$top" -o "$scratch/ends" "$top/test/network/hosts.c" -lm
export MASTER_ADDR=127.0.0.1

# A MASTER_PORT whose neighbour, where ranks meet, is free.
new_port()
{
    MASTER_PORT=$("${PYTHON3:-python3}" -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); p = s.getsockname()[1]
print(p - 700 if p > 2000 else 64700 + p)')
    export MASTER_PORT
}

# The command that starts rank $1; parts of the test define it anew.
starts() { shift && "$@"; }

# meet SIZE COMMAND...: what foreign launchers do; sets codes, leaves their output in $scratch/all.
meet()
{
    size=$1 pids= codes=
    shift
    new_port
    for rank in $(seq 0 $((size - 1))); do
        RANK=$rank WORLD_SIZE=$size starts $rank timeout -k 5 60 "$@" > "$scratch/out.$rank" 2>&1 < /dev/null &
        pids="$pids $!"
    done
    for pid in $pids; do
        wait "$pid"
        codes="$codes $?"
    done
    cat "$scratch"/out.* > "$scratch/all"
    rm -f "$scratch"/out.*
}
check() # name got expected
{
    if [ "$2" = "$3" ]; then
        ok "store: $1"
    else
        not_ok "store: $1" "got \`$2', expected \`$3'"
        sed 's/^/    | /' "$scratch/all" | head -n 10
    fi
}
says() # name words
{
    grep -q -- "$2" "$scratch/all" && ok "store: $1" || { not_ok "store: $1" "no \`$2'"; sed 's/^/    | /' "$scratch/all" | head -n 10; }
}
who() { sort "$scratch/all" | tr '\n' ';'; }

meet 3 "$scratch/ends"
check "one node" "$codes $(who)" " 0 0 0 rank 0 of 3, 3 here;rank 1 of 3, 3 here;rank 2 of 3, 3 here;"
meet 4 "$scratch/p2p"
check "conform/p2p" "$codes" " 0 0 0 0"
XMPI_SHM=0 meet 3 "$scratch/p2p"
check "each rank a node" "$codes" " 0 0 0"
meet 1 "$scratch/ends"
check "one rank alone" "$codes $(who)" " 0 rank 0 of 1, 1 here;"

# Late ranks are waited for, in whatever order they come.
starts() { sleep $(($1 == 0)); shift && "$@"; }
meet 3 "$scratch/ends"
check "rank 0 comes last" "$codes" " 0 0 0"
starts() { shift && "$@"; }

# Mistakes are told by whoever finds them.
starts() { [ "$1" != 1 ] || export RANK=0; shift && "$@"; }
XMPI_STORE_TIMEOUT=2 meet 2 "$scratch/ends"
says "two ranks with one number" "two processes with RANK=0\|cannot listen on port"
starts() { [ "$1" != 1 ] || export WORLD_SIZE=3; shift && "$@"; }
XMPI_STORE_TIMEOUT=2 meet 2 "$scratch/ends"
says "sizes that differ" "rank 1 says WORLD_SIZE=3, rank 0 says 2"
says "who has not come" "of 2 ranks these have not come within 2 s: 1"
starts() { [ "$1" != 1 ] || export RANK=one; shift && "$@"; }
XMPI_STORE_TIMEOUT=1 meet 2 "$scratch/ends"
says "a rank that is no number" "RANK=one: expected a number from 0 to 1"
starts() { [ "$1" = 1 ] && return 0; shift && "$@"; }
XMPI_STORE_TIMEOUT=1 meet 2 "$scratch/ends"
says "a rank that never comes" "of 2 ranks these have not come within 1 s: 1"
starts() { shift && "$@"; }
# Rank 0 has fewer files than ranks that might be there, and fewer than are.
meet 4 sh -c 'ulimit -n 40; "$0"' "$scratch/ends"
check "few files" "$codes" " 0 0 0 0"
XMPI_STORE_TIMEOUT=3 meet 7 sh -c '([ "$RANK" != 0 ] || ulimit -n 11; exec "$0"); times > "$1.$RANK"' "$scratch/ends" "$scratch/times"
check "too few files are told, once" "$(grep -c 'cannot answer the other ranks: Too many open files' "$scratch/all")" 1
check "rank 0 rests until there may be more" \
    "$(awk 'NR == 2 { gsub(/[ms]/, " "); print ($1 * 60 + $2 + $3 * 60 + $4 < 1 ? "it does" : $0) }' "$scratch/times.0")" "it does"
meet 2 sh -c '"$0"; "$0"' "$scratch/ends"
check "one program after the other" "$codes $(who)" " 0 0 rank 0 of 2, 2 here;rank 0 of 2, 2 here;rank 1 of 2, 2 here;rank 1 of 2, 2 here;"

# A program that a rank of xmpirun starts without XMPI_BOOT is a job of its own.
MASTER_PORT=29500 timeout 30 "$XMPIRUN" -np 2 --pmix=never env -u XMPI_BOOT "$scratch/ends" > "$scratch/all" 2>&1
check "below xmpirun" "$(who)" "rank 0 of 1, 1 here;rank 0 of 1, 1 here;"

# Strangers at the port do no harm.
starts()
{
    if [ "$1" = 1 ]; then
        "${PYTHON3:-python3}" -c 'import os, socket, time
port = int(os.environ["MASTER_PORT"]) + 700
for what in (b"GET / HTTP/1.0\r\n\r\n" * 9, b"\0" * 5000, b"", b"spmstore" * 20):
    for attempt in range(100):
        try:
            s = socket.create_connection(("127.0.0.1", port), 5)
            s.sendall(what)
            break
        except OSError:
            time.sleep(0.05)
s = socket.create_connection(("127.0.0.1", port), 5)  # says nothing, and stays
' 2> /dev/null
    fi
    shift && "$@"
}
meet 2 "$scratch/ends"
check "strangers at the port" "$codes" " 0 0"

# As many connections that say nothing as there may be of strangers take no place of a rank: all ranks may have
# connected before the first one speaks.
starts()
{
    if [ "$1" = 1 ]; then
        shift
        exec "${PYTHON3:-python3}" -c 'import os, socket, sys, time
port, held = int(os.environ["MASTER_PORT"]) + 700, []
while len(held) < 64:
    try:
        held.append(socket.create_connection(("127.0.0.1", port), 5))
        held[-1].set_inheritable(True)
    except OSError:
        time.sleep(0.05)
time.sleep(0.2)
os.execvp(sys.argv[1], sys.argv[1:])' "$@"
    fi
    shift && "$@"
}
meet 2 "$scratch/ends"
check "many connections that say nothing" "$codes" " 0 0"
starts() { shift && "$@"; }

if unshare --pid --fork true 2> "$scratch/err"; then
    starts() { half=$(($1 % 2)); shift; [ $half = 0 ] && "$@" || unshare --pid --fork "$@"; }
    meet 3 "$scratch/ends"
    check "nodes" "$codes $(who)" " 0 0 0 rank 0 of 3, 2 here;rank 1 of 3, 1 here;rank 2 of 3, 2 here;"
    meet 4 "$scratch/coll_basic"
    check "conform/coll_basic on three nodes" "$codes" " 0 0 0 0"
else
    skip "store: nodes" "cannot make PID namespaces: $(head -n 1 "$scratch/err")"
fi
finish

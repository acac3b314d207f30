#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The network link: messages over libfabric between ranks of one machine (XMPI_SHM=0), of one
# machine that plays several nodes (XMPI_NODE), and between network namespaces where the kernel
# lets us make them.   ONLY="errors nodes"   parts
. "${srcdir:-.}/test/lib.sh"

if ! ldconfig -p 2> /dev/null | grep -q 'libfabric\.so\.1'; then
    skip network "libfabric.so.1 is not installed (Debian: libfabric1)"
    finish
fi
for program in network/traffic network/lazy network/flood network/rush network/full network/away network/cuts network/silent network/files network/deaf network/halves network/again network/parting network/sessions network/unreadable fault/cancel_left plan/forced thread/p2p; do
    compile -I"$top" -o "$scratch/${program#*/}" "$top/test/$program.c" -lpthread -ldl > "$scratch/out" 2>&1 || {
        not_ok "$program" "does not compile"
        sed 's/^/    | /' "$scratch/out" | head -n 15
        finish
    }
done

# wrong NAME TEXT COMMAND...: it must fail, soon, and say TEXT (a pattern of grep -E).
wrong()
{
    name=$1 text=$2
    shift 2
    timeout -k 5 40 "$@" > "$scratch/out" 2>&1 < /dev/null
    code=$?
    if [ $code = 0 ] || [ $code = 124 ]; then
        not_ok "$name" "exit code $code"
    elif tr '\n' ' ' < "$scratch/out" | grep -Eq "$text"; then
        ok "$name"
    else
        not_ok "$name" "does not say $text"
    fi
    [ $failures = 0 ] || sed 's/^/    | /' "$scratch/out" | tail -n 15
}

part_alone() # nobody needs it: nobody loads it
{
    case_run "network/not loaded on one node" 30 "$XMPIRUN" -np 2 "$scratch/lazy" none
    XMPI_SHM=0 case_run "network/loaded by who needs it" 30 "$XMPIRUN" -np 4 "$scratch/lazy" talk
    XMPI_SHM=0 case_run "network/a message before the receiver is there" 30 "$XMPIRUN" -np 2 "$scratch/lazy" early "$scratch/early"
    XMPI_SHM=0 case_run "network/messages of who computes then" 30 "$XMPIRUN" -np 2 "$scratch/lazy" gone "$scratch/gone"
    for first in "met 60" "alone 60" "alone 4"; do # 60: more than a connection takes that nobody reads from
        XMPI_SHM=0 XMPI_OFI_WINDOW=16M case_run "network/messages for the next session, $first" 30 \
            "$XMPIRUN" -np 2 "$scratch/sessions" $first
    done
    XMPI_SHM=0 case_run "network/a message for who has left" 30 "$XMPIRUN" -np 2 "$scratch/lazy" late "$scratch/late"
}

# No buffer is used again that half a packet lies in: nothing would be left of that one, and it would
# have to be sent again.
half_packets()
{
    rm -f "$scratch/half"
    XMPI_SHM=0 XMPI_OFI_WINDOW=16M XMPI_LOG=1 case_run "network/half a packet" 60 "$XMPIRUN" -np 4 \
        "$scratch/halves" "$scratch/half" 8
    if grep -q 'network: .* 0 resent' "$scratch/out" && ! grep -q ' [1-9][0-9]* resent' "$scratch/out"; then
        ok "network/the other half finds it"
    else
        not_ok "network/the other half finds it" "$(grep -o '[1-9][0-9]* resent' "$scratch/out" | head -n 1)"
    fi
}

# Sends to who has left end when they are cancelled, whether or not its address is known.
part_cancelled()
{
    printf '#!/bin/sh\nXMPI_NODE=n$RANK exec "$@"\n' > "$scratch/on_two"
    chmod +x "$scratch/on_two"
    for when in before met question race full session; do
        for bytes in 0 5000 60000 300000; do
            for end in "" ends; do
                rm -f "$scratch/shared"
                name="network/cancelled, $when, $bytes bytes${end:+, and it ends}"
                if [ $bytes = 5000 ]; then
                    case_run "$name, two nodes" 30 "$XMPIRUN" -np 2 "$scratch/on_two" "$scratch/cancel_left" $when \
                        $bytes "$scratch/shared" $end
                else
                    XMPI_SHM=0 case_run "$name" 30 "$XMPIRUN" -np 2 "$scratch/cancel_left" $when $bytes \
                        "$scratch/shared" $end
                fi
            done
        done
    done
}

part_traffic()
{
    for np in 2 3 5; do
        XMPI_SHM=0 case_run "network/traffic np=$np" 60 "$XMPIRUN" -np $np "$scratch/traffic" 10
    done
    for np in 2 3; do
        XMPI_SHM=0 case_run "network/nothing allocated for the next start np=$np" 60 "$XMPIRUN" -np $np "$scratch/again"
    done
    XMPI_SHM=0 XMPI_OFI_WINDOW=1 case_run "network/a window that no message fits into" 60 \
        "$XMPIRUN" -np 2 "$scratch/traffic" 2
    for window in 64 512; do
        XMPI_SHM=0 XMPI_OFI_WINDOW=${window}k case_run "network/flood by 8, $window KiB each" 60 \
            "$XMPIRUN" -np 9 "$scratch/flood" $window
    done
    XMPI_SHM=0 case_run "network/more at once than is received" 60 "$XMPIRUN" -np 20 "$scratch/rush" 2
    half_packets
    XMPI_SHM=0 NP="2 8" THREADS=4 ONLY="p2p wildcard requests waiting" srcdir=$top sh "$top/test/threads.sh" \
        > "$scratch/threads" 2>&1 || failures=$((failures + 1))
    sed 's,\(ok\|skip\) thread/,\1 network/thread/,' "$scratch/threads"
    XMPI_SHM=0 XMPI_EAGER=0 case_run "network/always asked" 60 "$XMPIRUN" -np 3 \
        "$scratch/traffic" 5
    XMPI_SHM=0 XMPI_EAGER=8M XMPI_OFI_WINDOW=32M case_run "network/never asked" 60 \
        "$XMPIRUN" -np 3 "$scratch/traffic" 5
    for provider in 'tcp;ofi_rxm' sockets; do
        XMPI_SHM=0 XMPI_OFI_PROVIDER=$provider case_run "network/provider $provider" 90 \
            "$XMPIRUN" -np 2 "$scratch/traffic" 3
        XMPI_SHM=0 XMPI_OFI_PROVIDER=$provider case_run "network/many at once, provider $provider" 90 \
            "$XMPIRUN" -np 12 "$scratch/rush" 2
    done
    for bytes in 200 4096; do
        FI_OFI_RXM_BUFFER_SIZE=$bytes XMPI_SHM=0 XMPI_OFI_PROVIDER='tcp;ofi_rxm' case_run \
            "network/packets of $bytes bytes at most" 60 "$XMPIRUN" -np 2 "$scratch/traffic" 3
    done
    # Its addresses look like those of TCP, but nobody listens there.
    XMPI_SHM=0 XMPI_OFI_PROVIDER='udp;ofi_rxd' XMPI_OFI_TIMEOUT=2 case_run \
        "network/who computes is not lost, provider udp;ofi_rxd" 60 "$XMPIRUN" -np 2 "$scratch/away" 6
}

# Collectives of short vectors where no more may go to a peer unasked.
part_full()
{
    for np in 2 3; do
        XMPI_SHM=0 XMPI_HANG=5 case_run "network/collectives behind messages np=$np" 60 "$XMPIRUN" -np $np "$scratch/full" \
            sends 8000 400
        XMPI_SHM=0 XMPI_HANG=5 case_run "network/many edges np=$np" 60 "$XMPIRUN" -np $np "$scratch/full" edges 8000 200
        XMPI_SHM=0 XMPI_HANG=5 XMPI_OFI_WINDOW=4096 case_run "network/a window for one message np=$np" 60 "$XMPIRUN" \
            -np $np "$scratch/full" sends 3000 3
        XMPI_SHM=0 XMPI_HANG=5 XMPI_OFI_WINDOW=4096 case_run "network/two edges, a window for one message np=$np" 60 \
            "$XMPIRUN" -np $np "$scratch/full" edges 3000 2
    done
    case_run "network/collectives behind messages in shared memory" 60 "$XMPIRUN" -np 3 "$scratch/full" sends 8000 1000
    XMPI_COLL=alltoall=spread,barrier=dissemination case_run "network/and no slots" 60 "$XMPIRUN" -np 3 \
        "$scratch/full" sends 8000 1000
}

# Nothing is lost, doubled or overtaken when connections break, a hundred times under traffic.
part_cuts()
{
    seed=${SEED:-1}
    for np in 2 4; do
        XMPI_SHM=0 XMPI_OFI_TIMEOUT=20 case_run "network/100 connections cut np=$np (seed $seed)" \
            110 "$XMPIRUN" -np $np "$scratch/cuts" 100 "$seed"
        XMPI_SHM=0 XMPI_OFI_TIMEOUT=4 XMPI_LOG=1 case_run "network/nobody connects to one of $np" \
            60 "$XMPIRUN" -np $np "$scratch/deaf"
        grep -q 'takes no reads' "$scratch/out" && ok "network/long messages of who is deaf, np=$np" ||
            not_ok "network/long messages of who is deaf, np=$np" "nothing was said of reads"
    done
    XMPI_SHM=0 XMPI_OFI_TIMEOUT=16 case_run "network/one who refuses connections for a while is not lost" 60 \
        "$XMPIRUN" -np 2 "$scratch/deaf" 30 5
    XMPI_SHM=0 XMPI_OFI_TIMEOUT=8 case_run "network/connections that end without a word" 60 \
        "$XMPIRUN" -np 2 "$scratch/silent" 8
}

# Who computes accepts no connections: that his kernel has room for few must not make him look lost.
few_connections()
{
    if ! unshare -n true 2> /dev/null; then
        skip "network/a peer that computes and has room for few connections" "no network namespaces here"
        return
    fi
    XMPI_SHM=0 XMPI_OFI_TIMEOUT=4 case_run "network/a peer that computes and has room for few connections" 60 \
        unshare -n sh -c 'ip link set lo up && echo 1 > /proc/sys/net/core/somaxconn && exec "$@"' sh \
        "$XMPIRUN" -np 2 "$scratch/away" 16
}

# Whose last word is lost was not lost itself.
part_watch()
{
    XMPI_SHM=0 XMPI_OFI_TIMEOUT=2 case_run "network/one who leaves over broken connections" 60 \
        "$XMPIRUN" -np 3 "$scratch/parting" 5
    few_connections
}

# Algorithms that go by the nodes must find these: none may say that it cannot.
node_collectives()
{
    for word in bcast=levels reduce=levels allreduce=levels allreduce=factored alltoall=leaders; do
        name="network/$word on nodes np=$1"
        XMPI_COLL=$word case_run "$name" 60 "$XMPIRUN" -np "$1" "$scratch/on_nodes" \
            "$scratch/forced" "${word%%=*}" > "$scratch/line"
        if grep -q 'cannot:' "$scratch/out"; then
            not_ok "$name" "$(sed -n 's/.*cannot: //p' "$scratch/out" | head -n 1)"
        else
            cat "$scratch/line"
        fi
    done
}

part_nodes() # two nodes of two ranks: both links in one job
{
    printf '#!/bin/sh\nXMPI_NODE=n$((RANK / 2)) exec "$@"\n' > "$scratch/on_nodes"
    chmod +x "$scratch/on_nodes"
    case_run "network/two nodes of two" 60 "$XMPIRUN" -np 4 "$scratch/on_nodes" "$scratch/traffic" 10
    node_collectives 4
    node_collectives 5
    printf '#!/bin/sh\nXMPI_NODE=n$((RANK %% 2)) exec "$@"\n' > "$scratch/on_nodes"
    wrong "network/nodes that are torn apart" 'give each node consecutive ranks' \
        "$XMPIRUN" -np 4 "$scratch/on_nodes" "$scratch/traffic" 1
}

part_errors()
{
    XMPI_SHM=0 XMPI_OFI_PROVIDER=nosuch wrong "network/unknown provider" \
        'rank [0-9]+ on .*provider nosuch.*there are: ' "$XMPIRUN" -np 2 "$scratch/traffic" 1
    XMPI_SHM=0 XMPI_OFI_PROVIDER=shm wrong "network/a provider for one node" \
        'XMPI_OFI_PROVIDER=shm is no network.*there are: ' "$XMPIRUN" -np 2 "$scratch/traffic" 1
    XMPI_SHM=0 XMPI_OFI_PROVIDER=tcp case_run "network/a provider without its layers" 60 \
        "$XMPIRUN" -np 2 "$scratch/traffic" 3
    XMPI_SHM=0 XMPI_OFI_NICS=lo, wrong "network/a name that is missing" \
        'XMPI_OFI_NICS=lo,: a name is missing' "$XMPIRUN" -np 2 "$scratch/traffic" 1
    XMPI_SHM=0 XMPI_OFI_NICS=lo,lo wrong "network/an interface twice" \
        'XMPI_OFI_NICS=lo,lo: lo is there twice' "$XMPIRUN" -np 2 "$scratch/traffic" 1
    XMPI_SHM=0 XMPI_OFI_IFACE=nosuch0 wrong "network/unknown interface" \
        'rank [0-9]+ on .*interface nosuch0.*there are: ' "$XMPIRUN" -np 2 "$scratch/traffic" 1
    XMPI_SHM=0 XMPI_OFI_TIMEOUT=4 wrong "network/no more open files" \
        'rank 0 .*rank 2 .*lost: no packets could be sent for [0-9]+ s: Too many open files, at .*interface ' \
        "$XMPIRUN" -np 3 "$scratch/files"
    for bytes in 70000 3000000; do
        for what in none end; do
            XMPI_SHM=0 wrong "network/$bytes bytes that cannot be read, $what" 'rank 0 .*signal 11' \
                "$XMPIRUN" -np 2 "$scratch/unreadable" $what $bytes
        done
        XMPI_SHM=0 XMPI_OFI_TIMEOUT=2 wrong "network/$bytes bytes that cannot be read, hole" \
            'rank 0 .*(signal 11|lost: nothing of a long message has come for [0-9]+ s)' \
            "$XMPIRUN" -np 2 "$scratch/unreadable" hole $bytes
    done
    FI_OFI_RXM_BUFFER_SIZE=64 XMPI_SHM=0 XMPI_OFI_PROVIDER='tcp;ofi_rxm' wrong "network/buffers for no packet" \
        'provider tcp;ofi_rxm.*its buffers are too short for a packet' "$XMPIRUN" -np 2 "$scratch/traffic" 1
    if unshare -n true 2> /dev/null; then
        XMPI_SHM=0 wrong "network/a loopback interface that is down" 'rank [0-9]+ on .*loopback interface, which is down' \
            unshare -n "$XMPIRUN" -np 2 "$scratch/traffic" 1
    else
        skip "network/a loopback interface that is down" "no network namespaces here"
    fi
    printf '#!/bin/sh\n[ $RANK = 0 ] || export XMPI_OFI_PROVIDER=sockets\nexec "$@"\n' \
        > "$scratch/mixed"
    chmod +x "$scratch/mixed"
    XMPI_SHM=0 wrong "network/providers that differ" \
        'rank [0-9]+ on .* uses libfabric .* with provider .*XMPI_OFI_PROVIDER' \
        "$XMPIRUN" -np 2 "$scratch/mixed" "$scratch/traffic" 1
    if grep -qs '^0*1 .* lo$' /proc/net/if_inet6; then
        printf '#!/bin/sh\n[ $RANK = 0 ] && export XMPI_OFI_IFACE=127.0.0.1 || export XMPI_OFI_IFACE=::1\nexec "$@"\n' \
            > "$scratch/families"
        chmod +x "$scratch/families"
        XMPI_SHM=0 wrong "network/addresses of IPv4 and IPv6" \
            'rank [01] on .* has an address of another kind \(lo [0-9.:]+\) than .*XMPI_OFI_IFACE' \
            "$XMPIRUN" -np 2 "$scratch/families" "$scratch/traffic" 1
    else
        skip "network/addresses of IPv4 and IPv6" "loopback has no address of IPv6"
    fi
    if unshare -u sh -c 'echo name > /proc/sys/kernel/hostname' 2> /dev/null; then
        XMPI_SHM=0 wrong "network/hosts with long names are named" \
            'rank [0-9]+ on ip-172-31-24-105.us-west[^ ]* uses .*this rank on ip-172-31-24-105.us-west[^ ]* uses' \
            unshare -u sh -c 'echo ip-172-31-24-105.us-west-2.compute.internal > /proc/sys/kernel/hostname
                exec "$@"' sh "$XMPIRUN" -np 2 "$scratch/mixed" "$scratch/traffic" 1
    else
        skip "network/hosts with long names are named" "host names cannot be unshared here"
    fi
    mkdir -p "$scratch/broken" && echo nothing > "$scratch/broken/libfabric.so.1"
    XMPI_SHM=0 LD_LIBRARY_PATH=$scratch/broken wrong "network/no libfabric" \
        'cannot be opened.*Debian: libfabric1' "$XMPIRUN" -np 2 "$scratch/traffic" 1
    LD_LIBRARY_PATH=$scratch/broken case_run "network/no libfabric, and one node" 30 \
        "$XMPIRUN" -np 2 "$scratch/traffic" 3
}

# Two nodes that a PMIx server knows: Open MPI's launcher, with a shell in place of ssh.  By hand
# (ONLY=pmix): that launcher itself falls over now and then.
part_pmix()
{
    if ! command -v mpirun.openmpi > /dev/null; then
        skip "network/two nodes of a PMIx job" "mpirun.openmpi is not there (Debian: openmpi-bin)"
        return
    fi
    printf '#!/bin/sh\nshift\nexec sh -c "$*"\n' > "$scratch/no_ssh"
    chmod +x "$scratch/no_ssh"
    TMPDIR=$scratch OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        case_run "network/two nodes of a PMIx job" 60 mpirun.openmpi \
        --mca plm_rsh_agent "$scratch/no_ssh" --host node1:2,node2:2 -np 4 "$scratch/traffic" 10
}

# ---- two network namespaces, with two cables between them ----

namespaces_open()
{
    left=xmpi-$$-l right=xmpi-$$-r
    ip netns add $left 2> "$scratch/netns" && ip netns add $right 2>> "$scratch/netns" || return 1
    for cable in 0 1; do
        ip link add xl$$$cable type veth peer name xr$$$cable || return 1
        ip link set xl$$$cable netns $left name cable$cable
        ip link set xr$$$cable netns $right name cable$cable
        ip -n $left addr add 10.77.$cable.1/24 dev cable$cable
        ip -n $right addr add 10.77.$cable.2/24 dev cable$cable
        ip -n $left link set cable$cable up
        ip -n $right link set cable$cable up
    done 2>> "$scratch/netns"
    for node in $left $right; do ip -n $node link set lo up; done
    cat > "$scratch/on_nodes" << END
#!/bin/sh
node=$left iface=\${LEFT_IFACE:-cable0}
[ \$RANK -lt \$HALF ] || node=$right iface=\${RIGHT_IFACE:-cable0}
XMPI_NODE=\$node XMPI_OFI_IFACE=\$iface exec ip netns exec \$node "\$@"
END
    chmod +x "$scratch/on_nodes"
}

namespaces_close()
{
    ip netns del $left 2> /dev/null
    ip netns del $right 2> /dev/null
    rm -rf "$scratch"
}

# while_talking COMMAND...: run it when the ranks have begun to talk.
while_talking()
{
    for i in $(seq 300); do
        [ ! -e "$scratch/talking" ] || break
        sleep 0.1
    done
    "$@"
}

cable() { ip -n "$left" link set "cable${2:-0}" "$1"; }
pull_for_a_while() { cable down; sleep 2; cable up; }
cut_connections()
{
    for i in $(seq 25); do
        ip netns exec "$left" ss -K dst 10.77.0.2
        sleep 0.1$((i * 7 % 10))
    done
}

# traffic_while NAME COMMAND: 8 s of traffic, during which something happens.
traffic_while()
{
    rm -f "$scratch/talking"
    while_talking "$2" > /dev/null 2>&1 &
    HALF=1 XMPI_LOG=1 case_run "$1" 60 "$XMPIRUN" -np 2 "$scratch/on_nodes" \
        "$scratch/traffic" 10 6 "$scratch/talking"
    wait
}

part_namespaces()
{
    trap namespaces_close EXIT
    if ! namespaces_open; then
        skip "network/namespaces" "$(tail -n 1 "$scratch/netns")"
        return
    fi
    HALF=2 case_run "network/two namespaces, two ranks each" 60 "$XMPIRUN" -np 4 \
        "$scratch/on_nodes" "$scratch/traffic" 10
    HALF=2 case_run "network/two namespaces, four threads each" 60 "$XMPIRUN" -np 4 \
        "$scratch/on_nodes" "$scratch/p2p" 4 -
    HALF=1 XMPI_OFI_TIMEOUT=2 case_run "network/a peer that computes is not lost" 60 \
        "$XMPIRUN" -np 2 "$scratch/on_nodes" "$scratch/away" 6
    HALF=1 XMPI_OFI_TIMEOUT=2 XMPI_OFI_NICS=cable0,cable1 case_run "network/nor one that is read from over two cables" 60 \
        "$XMPIRUN" -np 2 "$scratch/on_nodes" "$scratch/away" 6
    HALF=1 LEFT_IFACE=lo XMPI_OFI_TIMEOUT=4 wrong "network/an interface that leads nowhere" \
        'rank 0 .*lost: no (answer|packets could be sent) for [0-9]+ s.* at 10.77.0.2 port [0-9]+ on .*interface lo 127.0.0.1 of rank 0' \
        "$XMPIRUN" -np 2 "$scratch/on_nodes" "$scratch/lazy" answer
    HALF=1 RIGHT_IFACE=lo XMPI_OFI_TIMEOUT=4 wrong "network/an address that leads nowhere" \
        'rank 0 .*lost: nobody accepts connections, at 127.0.0.1 port [0-9]+ on .*interface cable0' \
        "$XMPIRUN" -np 2 "$scratch/on_nodes" "$scratch/lazy" answer
    HALF=1 case_run "network/messages of who computes then, two namespaces" 30 "$XMPIRUN" -np 2 \
        "$scratch/on_nodes" "$scratch/lazy" gone "$scratch/gone"
    both_cables
    traffic_while "network/cable pulled and put back" pull_for_a_while
    if ip netns exec "$left" ss -K dst 10.77.0.2 > /dev/null 2>&1; then
        traffic_while "network/connections cut" cut_connections
        if grep -q 'network: .* [1-9][0-9]* resent' "$scratch/out"; then
            ok "network/what was lost is sent again"
        else
            not_ok "network/what was lost is sent again" "nothing was"
        fi
    else
        skip "network/connections cut" "this kernel's ss cannot cut connections"
    fi
    second_cable_gone
    cable_gone
}

# Bytes that have come out of a cable, as the kernel counts them.
carried() { ip netns exec "$left" sed -n "s/^ *cable$1: *\([0-9]*\).*/\1/p" /proc/net/dev; }

# Long messages are divided: each cable carries between a third and two.
both_cables()
{
    before0=$(carried 0) before1=$(carried 1)
    HALF=1 XMPI_OFI_NICS=cable0,cable1 case_run "network/two cables" 60 \
        "$XMPIRUN" -np 2 "$scratch/on_nodes" "$scratch/traffic" 20
    first=$(($(carried 0) - before0)) second=$(($(carried 1) - before1))
    share=$((100 * first / (first + second + 1)))
    if [ $share -ge 33 ] && [ $share -le 67 ]; then
        ok "network/each cable carries its part"
    else
        not_ok "network/each cable carries its part" "the first one carried $share % of $first + $second"
    fi
}

# Packets go over the first one, so the peer is heard as ever; long messages stop.
second_cable_gone()
{
    rm -f "$scratch/talking"
    while_talking cable down 1 &
    HALF=1 XMPI_OFI_TIMEOUT=4 XMPI_OFI_NICS=cable0,cable1 wrong "network/second cable pulled" \
        'rank [01] .*lost: nothing more of a long message for [0-9]+ s, at 10.77.1.[12] port [0-9]+ on .*interface cable1' \
        "$XMPIRUN" -np 2 "$scratch/on_nodes" "$scratch/traffic" 10 60 "$scratch/talking"
    wait
    cable up 1
}

cable_gone()
{
    rm -f "$scratch/talking"
    while_talking cable down &
    HALF=1 XMPI_OFI_TIMEOUT=8 wrong "network/cable pulled" \
        'rank [01] .*lost: no answer for [0-9]+ s, at 10.77.0.[12] port [0-9]+ on .*provider .*interface cable0' \
        "$XMPIRUN" -np 2 "$scratch/on_nodes" "$scratch/traffic" 10 60 "$scratch/talking"
    wait
    seconds=$(($(date +%s) - $(stat -c %Y "$scratch/talking")))
    if [ $seconds -le 10 ]; then
        ok "network/said within the time-out"
    else
        not_ok "network/said within the time-out" "it took $seconds s"
    fi
}

parts="alone cancelled traffic full cuts watch nodes errors namespaces"
[ -z "${DISTCHECK_SHORT:-}" ] || parts=alone # what was installed works; the rest ran
for part in ${ONLY:-$parts}; do
    "part_$part"
done
finish

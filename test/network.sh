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
for program in traffic maps flood; do
    compile -I"$top" -o "$scratch/$program" "$top/test/network/$program.c" > "$scratch/out" 2>&1 || {
        not_ok "network/$program" "does not compile"
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
    case_run "network/not loaded on one node" 30 "$XMPIRUN" -np 2 "$scratch/maps" no
    XMPI_SHM=0 case_run "network/loaded when needed" 30 "$XMPIRUN" -np 2 "$scratch/maps" yes
}

part_traffic()
{
    for np in 2 3 5; do
        XMPI_SHM=0 case_run "network/traffic np=$np" 60 "$XMPIRUN" -np $np "$scratch/traffic" 10
    done
    XMPI_SHM=0 XMPI_OFI_WINDOW=64k case_run "network/flood" 60 "$XMPIRUN" -np 3 "$scratch/flood"
    XMPI_SHM=0 XMPI_EAGER=0 case_run "network/always asked" 60 "$XMPIRUN" -np 3 \
        "$scratch/traffic" 5
    XMPI_SHM=0 XMPI_EAGER=8M XMPI_OFI_WINDOW=32M case_run "network/never asked" 60 \
        "$XMPIRUN" -np 3 "$scratch/traffic" 5
    for provider in 'tcp;ofi_rxm' sockets; do
        XMPI_SHM=0 XMPI_OFI_PROVIDER=$provider case_run "network/provider $provider" 90 \
            "$XMPIRUN" -np 2 "$scratch/traffic" 3
    done
}

part_nodes() # two nodes of two ranks: both links in one job
{
    printf '#!/bin/sh\nXMPI_NODE=n$((RANK / 2)) exec "$@"\n' > "$scratch/on_nodes"
    chmod +x "$scratch/on_nodes"
    case_run "network/two nodes of two" 60 "$XMPIRUN" -np 4 "$scratch/on_nodes" "$scratch/traffic" 10
    printf '#!/bin/sh\nXMPI_NODE=n$((RANK %% 2)) exec "$@"\n' > "$scratch/on_nodes"
    wrong "network/nodes that are torn apart" 'give each node consecutive ranks' \
        "$XMPIRUN" -np 4 "$scratch/on_nodes" "$scratch/traffic" 1
}

part_errors()
{
    XMPI_SHM=0 XMPI_OFI_PROVIDER=nosuch wrong "network/unknown provider" \
        'rank [0-9]+ on .*provider nosuch.*there are: ' "$XMPIRUN" -np 2 "$scratch/traffic" 1
    XMPI_SHM=0 XMPI_OFI_IFACE=nosuch0 wrong "network/unknown interface" \
        'rank [0-9]+ on .*interface nosuch0.*there are: ' "$XMPIRUN" -np 2 "$scratch/traffic" 1
    printf '#!/bin/sh\n[ $RANK = 0 ] || export XMPI_OFI_PROVIDER=sockets\nexec "$@"\n' \
        > "$scratch/mixed"
    chmod +x "$scratch/mixed"
    XMPI_SHM=0 wrong "network/providers that differ" \
        'rank [0-9]+ on .* uses libfabric .* with provider .*XMPI_OFI_PROVIDER' \
        "$XMPIRUN" -np 2 "$scratch/mixed" "$scratch/traffic" 1
    mkdir -p "$scratch/broken" && echo nothing > "$scratch/broken/libfabric.so.1"
    XMPI_SHM=0 LD_LIBRARY_PATH=$scratch/broken wrong "network/no libfabric" \
        'cannot be opened.*Debian: libfabric1' "$XMPIRUN" -np 2 "$scratch/traffic" 1
}

part_conform() # some of the conformance suite; all of it: XMPI_SHM=0 test/conform.sh
{
    for program in p2p cancel coll_basic comm inter mpi4 part; do
        compile -I"$top" -o "$scratch/$program" "$top/test/conform/$program.c" -lm \
            > "$scratch/out" 2>&1 || not_ok "network/$program" "does not compile"
        XMPI_SHM=0 case_run "network/conform/$program np=3" 60 "$XMPIRUN" -np 3 "$scratch/$program"
    done
}

for part in ${ONLY:-alone traffic nodes errors conform}; do
    "part_$part"
done
finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Shared memory: how much of it, that none of it has a name, and containers with little of it or
# without the right to read the memory of others.
srcdir=${top:-.}
. "$srcdir/test/lib.sh"
program=$scratch/memory
compile -o "$program" "$top/test/fault/memory.c" || { not_ok memory "does not compile"; finish; }

# Half of what 200 MiB allow for 128 ranks, whose rings take a third of that.
before=$(ls /dev/shm)
said=$(timeout 120 "$XMPIRUN" -np 64 "$program" 2>&1)
mib=$(echo "$said" | sed -n 's/^memory: \([0-9]*\) MiB shared, 0 names$/\1/p')
if [ "${mib:-1000}" -le 75 ]; then ok "64 ranks, all to all: $mib MiB"
else not_ok "64 ranks, all to all" "$said"
fi
if [ "$before" = "$(ls /dev/shm)" ]; then ok "nothing in /dev/shm"
else not_ok "nothing in /dev/shm" "$(ls /dev/shm)"
fi

case_run "memory of others may not be read" 60 "$XMPIRUN" -np 4 "$program" refuse
case_run "it may not, and was asked for" 60 env XMPI_SHM_SINGLE_COPY=cma "$XMPIRUN" -np 4 \
    "$program" refuse

small='mount -t tmpfs -o size=64k none /dev/shm && exec "$@"'
if unshare -m sh -c "$small" - true 2> /dev/null; then
    case_run "hardly any /dev/shm" 60 unshare -m sh -c "$small" - "$XMPIRUN" -np 8 "$program"
else
    skip "hardly any /dev/shm" "file systems cannot be mounted here"
fi
finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Shared memory: how much of it, that none of it has a name, and containers with little of it or
# without the right to read the memory of others.
srcdir=${top:-.}
. "$srcdir/test/lib.sh"
program=$scratch/memory
compile -o "$program" "$top/test/fault/memory.c" || { not_ok memory "does not compile"; finish; }
compile -o "$scratch/denied" "$top/test/network/denied.c" || { not_ok memory "does not compile"; finish; }

# 128 ranks, every pair: within 200 MiB, the ranks' own memory included (without sanitizers, which keep
# what is freed); shared memory is bounded by its form.
said=$(timeout 120 sh -c 'echo $$ > "$2/launcher"; exec "$0" -np 128 "$1"' "$XMPIRUN" "$program" "$scratch" 2>&1)
shared=$(echo "$said" | sed -n 's/^memory: \([0-9]*\) MiB shared, [0-9]* MiB private, 0 names$/\1/p')
private=$(echo "$said" | sed -n 's/^memory: .* \([0-9]*\) MiB private, 0 names$/\1/p')
[ -z "${XMPI_TEST_SANITIZE:-}" ] || private=0
if [ "${shared:-1000}" -le 134 ] && [ $((${shared:-1000} + ${private:-1000})) -le 200 ]; then
    ok "128 ranks, all to all: $shared + $private MiB"
else
    not_ok "128 ranks, all to all" "$said"
fi
left=$(ls /dev/shm | grep "xmpi-$(cat "$scratch/launcher")-") # other jobs have theirs
if [ -z "$left" ]; then ok "nothing in /dev/shm"; else not_ok "nothing in /dev/shm" "$left"; fi

case_run "memory of others may not be read" 60 "$XMPIRUN" -np 4 "$scratch/denied" "$program"
case_run "it may not, and was asked for" 60 env XMPI_SHM_SINGLE_COPY=cma "$XMPIRUN" -np 4 \
    "$scratch/denied" "$program"

cat > "$scratch/narrow.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
int main(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu", &pages) != 1 || fclose(file) != 0)
        return 99;
    rlim_t bytes = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (256 << 10);
    setrlimit(RLIMIT_AS, &(struct rlimit){ bytes, bytes });
    return MPI_Init(NULL, NULL);
}
END
compile -o "$scratch/narrow" "$scratch/narrow.c" || { not_ok memory "does not compile"; finish; }
said=$(timeout 60 "$XMPIRUN" -np 2 "$scratch/narrow" 2>&1)
case $said in
*"no room for what the ranks of this node share"*"ulimit -v"*) ok "a limit of addresses is told" ;;
*) not_ok "a limit of addresses is told" "$said" ;;
esac

small='mount -t tmpfs -o size=64k none /dev/shm && exec "$@"'
if unshare -m sh -c "$small" - true 2> /dev/null; then
    case_run "hardly any /dev/shm" 60 unshare -m sh -c "$small" - "$XMPIRUN" -np 8 "$program"
else
    skip "hardly any /dev/shm" "file systems cannot be mounted here"
fi
finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Numbers of processes that are not what they seem: xmpirun as process 1 of a container, ranks that have
# numbers of their own, ranks whose number is free again when xmpirun looks; and a filter that is strict.
srcdir=${top:-.}
. "$srcdir/test/lib.sh"
XMPI_SCRATCH=$scratch
. "$top/test/fault/launch.inc"
ends=$scratch/ends
compile -o "$ends" "$top/test/fault/ends.c" || { not_ok "contained" "does not compile"; finish; }

# under WRAPPER ARGUMENTS...: xmpirun below a wrapper of its own, whose words are not quoted
under() {
    wrapper=$1
    shift
    env "$mark" timeout -k 1 30 $wrapper "$XMPIRUN" "$@" > "$dir/out" 2> "$dir/err" < /dev/null
    code=$?
}

# Who aborts below a wrapper is gone before xmpirun has looked at it.
late="strace -f -qq -o /dev/null -e trace=pidfd_open -e inject=pidfd_open:delay_enter=500000"
if $late true 2> /dev/null; then
    under "$late" -np 1 sh -c "$ends abort 0; sleep 100"
    check "MPI_Abort below a wrapper, and xmpirun is late: exit code" $code 9
    check_says "MPI_Abort below a wrapper, and xmpirun is late: the cause" "rank 0.*MPI_Abort"
else
    echo "skip launch: MPI_Abort below a wrapper, and xmpirun is late: no strace here"
fi

# A container whose filter of system calls is too strict.
strict="strace -f -qq -o /dev/null -e trace=memfd_create -e inject=memfd_create:error=EPERM"
if $strict true 2> /dev/null; then
    under "$strict" -np 2 "$ends" none 0
    check "no memfd_create: exit code" $code 1
    check_says "no memfd_create: what to do" "not permitted; memfd_create is refused: .*seccomp"
else
    echo "skip launch: no memfd_create: no strace here"
fi

container="unshare --pid --fork --mount-proc"
if ! $container true 2> /dev/null; then
    echo "skip launch: xmpirun in a container: cannot make PID namespaces here"
    finish
fi

XMPI_HANG=0 under "$container" -np 1 sh -c "$ends abort 0; sleep 100"
check "xmpirun is process 1: MPI_Abort below a wrapper" $code 9

# Rank 1 is inside MPI, with a number that nobody has where xmpirun is; then rank 0 makes xmpirun look.
: > "$dir/there"
cat > "$dir/rank.sh" << EOF
. "$top/test/await.inc"
if [ \$RANK = 0 ]; then
    await 20 test -s "$dir/there"
    $ends none 0
else
    unshare --pid --fork sh -c 'i=0; while [ \$((i += 1)) -lt 300 ]; do (:) & wait; done
        $ends none 0 "$dir/there"; code=\$?; sleep 1; exit \$code'
fi
exit \$?
EOF
printf '"$@"\nexit $?\n' > "$dir/first.sh" # is process 1, and xmpirun another one
under "$container sh $dir/first.sh" -np 2 sh "$dir/rank.sh"
check "ranks with numbers of their own" "$code $(grep -c finished "$dir/out")" "0 2"
finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Conformance: every program of test/conform on several rank counts.
#   NP="1 2 3 4 8"   rank counts      ONLY="p2p comm"   programs
#   HOSTS="a:2,b:2 a,b,c"   instead of NP: hosts, as xmpirun -H has them, all at the same time
#   XMPI_TEST_MEMORY=device   every buffer that MPI gets lies on a device, a pretended one, whose
#                             memory no processor can touch (test/device); mixed: those of every
#                             other rank
#   XMPI_TEST_MEMORY=cuda     every buffer is copied to memory of a GPU for the time of the operation
#                             (test/device/shadow.h): that of XMPI_LIBCUDA, or of this machine
#   XMPI_TEST_XPMEM=yes   long messages and collectives in memory that is mapped, by a library that
#                         pretends (test/xpmem)
#   XMPI_TEST_LARGE=yes   every call of MPI_X is one of MPI_X_c where there is such a form
#                         (test/large); some programs, which call every one of them
# A line `conform-options: ...` in a program asks for a second run with these options of xmpirun,
# `conform-device: why` says that it is not for memory of a device, `conform-shadow: why` not for copies.
. "${srcdir:-.}/test/lib.sh"

wrap= label= with=
[ -z "${XMPI_TEST_MEMORY:-}" ] || [ -z "${XMPI_TEST_LARGE:-}" ] ||
    { echo "not ok conform: XMPI_TEST_MEMORY and XMPI_TEST_LARGE both wrap the calls: one at a time"; exit 99; }
if [ "${XMPI_TEST_MEMORY:-}" = cuda ]; then
    wrap=$scratch/wrap.c label="cuda "
    "${PYTHON3:-python3}" "$top/test/device/shadow.py" "$top/test/api/functions.txt" > "$wrap" || exit 99
elif [ -n "${XMPI_TEST_MEMORY:-}" ]; then
    XMPI_LIBCUDA=$scratch/libcuda.so wrap=$scratch/wrap.c label="$XMPI_TEST_MEMORY "
    export XMPI_LIBCUDA
    "${PYTHON3:-python3}" "$top/test/device/wrap.py" "$top/test/api/functions.txt" > "$wrap" &&
        "${XMPI_TEST_CC:-gcc}" -O2 -shared -fPIC -I"$top" -o "$XMPI_LIBCUDA" \
            "$top"/test/device/fake_*.c -lpthread || exit 99
fi
if [ -n "${XMPI_TEST_XPMEM:-}" ]; then
    fake=$scratch/libxpmem.so label="mapped "
    "${XMPI_TEST_CC:-gcc}" -O2 -shared -fPIC -o "$fake" "$top/test/xpmem/fake_xpmem.c" || exit 99
    with="env LD_PRELOAD=$fake XMPI_LIBXPMEM=$fake XMPI_SHM_SINGLE_COPY=xpmem"
fi
if [ -n "${XMPI_TEST_LARGE:-}" ]; then
    XMPI_TEST_CALLED=$scratch/called wrap=$scratch/large.c label="large counts "
    export XMPI_TEST_CALLED
    "${PYTHON3:-python3}" "$top/test/large/wrap.py" > "$wrap" || exit 99
    [ -n "${ONLY:-}" ] || all=yes
    ONLY="${ONLY:-bsend coll_inplace coll_inter coll_random coll_vector external32 mpi4 neighbor neighbor_random ops \
        p2p p2p_random part part_random persistent probe request_kinds types types_again}"
fi

if [ -n "$wrap" ]; then # once for all programs
    compile -I"$top" -I"$top/test/device" -I"$top/test/large" -c -o "$scratch/wrap.o" "$wrap" || exit 99
    wrap=$scratch/wrap.o
fi

chosen=
for source in "$top"/test/conform/*.c; do
    program=$(basename "$source" .c)
    case " ${ONLY:-$program} " in *" $program "*) ;; *) continue ;; esac
    why=$(sed -n 's/.*conform-device: //p' "$source")
    [ "${XMPI_TEST_MEMORY:-}" != cuda ] || [ -n "$why" ] || why=$(sed -n 's/.*conform-shadow: //p' "$source")
    if [ -n "${XMPI_TEST_MEMORY:-}" ] && [ -n "$why" ]; then
        skip "conform/$program ${label% }" "$why"
        continue
    fi
    chosen="$chosen $program"
done
# shellcheck disable=SC2086 # $wrap may be nothing
compile_all "$top/test/conform" "$chosen" -I"$top" -I"$top/test/device" -I"$top/test/large" \
    $wrap -lm -ldl -lpthread

# at WHERE HOW...: the program on so many ranks or on these hosts
at()
{
    where=$1
    shift
    # shellcheck disable=SC2086 # several words
    case_run "conform/$program $label$where" "${LIMIT:-60}" "$XMPIRUN" "$@" $with "$binary"
    # shellcheck disable=SC2086
    test -z "$options" || case_run "conform/$program $options $label$where" "${LIMIT:-60}" \
        "$XMPIRUN" $options "$@" $with "$binary"
}

# on_all HOSTS...: on each of these at the same time
on_all()
{
    places=
    for hosts in "$@"; do
        {
            scratch=$scratch/$hosts failures=0
            mkdir -p "$scratch"
            at "on $hosts" -H "$hosts" > "$scratch/said"
            exit $failures
        } &
        places="$places $!"
    done
    for place in $places; do wait "$place" || failures=$((failures + $?)); done
    for hosts in "$@"; do cat "$scratch/$hosts/said"; done
}

for program in $chosen; do
    compiled "conform/$program" "$program" || continue
    binary=$scratch/$program
    options=$(sed -n 's/.*conform-options: //p' "$top/test/conform/$program.c")
    if [ -n "${HOSTS:-}" ]; then
        # shellcheck disable=SC2086 # several words
        on_all $HOSTS
    else
        for np in ${NP:-1 2 4}; do at "np=$np" -np "$np"; done
    fi
done

if [ "${all:-}" = yes ]; then
    missed=$("${PYTHON3:-python3}" "$top/test/large/wrap.py" --names | while read -r name; do
        grep -qx "$name" "$scratch/called" || echo "$name"
    done)
    [ -z "$missed" ] && ok "conform/large counts: every function was called" ||
        not_ok "conform/large counts" "not called: $missed"
fi
finish

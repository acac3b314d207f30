#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Memory of other ranks that is mapped: long messages and collectives are right, whatever XPMEM refuses, and
# are made in mapped memory when it refuses nothing.  The library is one that pretends (test/xpmem).
. "${srcdir:-.}/test/lib.sh"

fake=$scratch/libxpmem.so
"${XMPI_TEST_CC:-gcc}" -O2 -shared -fPIC -o "$fake" "$top/test/xpmem/fake_xpmem.c" || exit 99
compile -o "$scratch/maps" "$top/test/xpmem/maps.c" -ldl > "$scratch/out" 2>&1 ||
    { not_ok xpmem/maps "does not compile"; sed 's/^/    | /' "$scratch/out" | head -n 15; finish; }

maps() # NAME RANKS CASE WANTED [VARIABLE=VALUE...]
{
    name=$1 np=$2 case=$3 wanted=$4
    shift 4
    case_run "xpmem/$name, np=$np" 120 "$XMPIRUN" -np "$np" env LD_PRELOAD="$fake" XMPI_LIBXPMEM="$fake" "$@" \
        "$scratch/maps" "$case" "$wanted"
}

for np in 1 2 3 4; do
    wanted=mapped
    [ $np = 1 ] && wanted=unmapped
    maps "messages" $np messages $wanted XMPI_SHM_SINGLE_COPY=xpmem
    maps "collectives" $np collectives $wanted XMPI_SHM_SINGLE_COPY=xpmem
done
for np in 2 3; do
    maps "the faster means are taken" $np messages any
    maps "the faster means are taken in collectives" $np collectives any
    maps "both sides copy" $np messages any XMPI_SHM_SINGLE_COPY=both
done
maps "messages of one way" 2 one-way mapped XMPI_SHM_SINGLE_COPY=xpmem
maps "addresses are used again" 2 again mapped XMPI_SHM_SINGLE_COPY=xpmem
maps "both sides copy, to addresses used again" 2 again any XMPI_SHM_SINGLE_COPY=both
for np in 2 3; do
    maps "windows are given back" $np windows mapped XMPI_SHM_SINGLE_COPY=xpmem
done
maps "windows are given back, both sides copy" 2 windows any XMPI_SHM_SINGLE_COPY=both
maps "one system call less is not wanted" 2 collectives unmapped XMPI_SHM_SINGLE_COPY=cma
maps "nothing is to be read" 2 messages unmapped XMPI_SHM_SINGLE_COPY=none
for wish in auto xpmem; do
    maps "attachments are slow, $wish" 2 collectives any FAKE_XPMEM=slow XMPI_SHM_SINGLE_COPY=$wish
    maps "every second attachment is refused, $wish" 3 collectives any FAKE_XPMEM=sometimes \
        XMPI_SHM_SINGLE_COPY=$wish
    for case in messages collectives; do
        maps "no memory may be shared, $case, $wish" 2 $case unmapped FAKE_XPMEM=no-make \
            XMPI_SHM_SINGLE_COPY=$wish
        maps "nobody may ask, $case, $wish" 2 $case unmapped FAKE_XPMEM=no-get XMPI_SHM_SINGLE_COPY=$wish
        maps "nothing is attached, $case, $wish" 3 $case unmapped FAKE_XPMEM=no-attach \
            XMPI_SHM_SINGLE_COPY=$wish
        maps "what is attached is gone, $case, $wish" 3 $case any FAKE_XPMEM=gone XMPI_SHM_SINGLE_COPY=$wish
    done
done

# Why memory is not mapped is told: to those who asked for it, and to those who log.
told() # NAME TEXT [VARIABLE=VALUE...]
{
    name=$1 text=$2
    shift 2
    timeout -k 5 60 env "$@" "$XMPIRUN" -np 2 env LD_PRELOAD="$fake" "$scratch/maps" again unmapped > "$scratch/out" 2>&1
    if grep -q "$text" "$scratch/out"; then
        ok "xpmem/$name"
    else
        not_ok "xpmem/$name" "no \"$text\""
        sed 's/^/    | /' "$scratch/out" | tail -n 15
    fi
}
told "says that there is no library" "no memory is mapped: .*nowhere" XMPI_LIBXPMEM=/nowhere XMPI_SHM_SINGLE_COPY=xpmem
told "logs that there is no library" "no memory is mapped: .*nowhere" XMPI_LIBXPMEM=/nowhere XMPI_LOG=1
told "logs that nobody may ask" "cannot be mapped: Permission denied" XMPI_LIBXPMEM="$fake" FAKE_XPMEM=no-get \
    XMPI_LOG=1

[ -n "${XMPI_PREFIX:-}" ] && xmpi=$XMPI_PREFIX/bin/xmpi || xmpi=$build/tools/xmpi
case_run "xpmem/xmpi info" 20 sh -c 'env LD_PRELOAD=$1 XMPI_LIBXPMEM=$1 "$0" info | grep -q "mapped memory *works: XPMEM"' \
    "$xmpi" "$fake"
case_run "xpmem/xmpi info: no library" 20 sh -c 'XMPI_LIBXPMEM=/nowhere "$0" info |
    grep -q "mapped memory *does not work: /nowhere"' "$xmpi"
case_run "xpmem/xmpi info: nothing is attached" 20 sh -c 'env LD_PRELOAD=$1 XMPI_LIBXPMEM=$1 FAKE_XPMEM=no-attach "$0" info |
    grep -q "mapped memory *does not work: .*attached"' "$xmpi" "$fake"
case_run "xpmem/xmpi doctor: no library" 20 sh -c 'XMPI_LIBXPMEM=/nowhere "$0" doctor |
    grep "mapped memory" | grep -q /nowhere' "$xmpi"

# The owner dies, its memory first, while others read: they hear of it, and nothing is left.
for case in dies-sending dies-reducing; do
    for wish in xpmem both auto; do
        timeout -k 5 60 "$XMPIRUN" --keep-going -np 3 env LD_PRELOAD="$fake" XMPI_LIBXPMEM="$fake" \
            XMPI_SHM_SINGLE_COPY=$wish "$scratch/maps" $case > "$scratch/out" 2>&1
        code=$? back=$(grep -c '^back' "$scratch/out")
        if [ $code = 137 ] && [ "$back" = 2 ] && ! grep -q '^bad' "$scratch/out"; then
            ok "xpmem/$case, $wish"
        else
            not_ok "xpmem/$case, $wish" "exit code $code, $back of 2 survivors came back"
            sed 's/^/    | /' "$scratch/out" | tail -n 15
        fi
    done
done
finish

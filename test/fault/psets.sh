#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Process sets: --pset, one per program, through the boot segment and through PMIx.
srcdir=${top:-.}
. "$srcdir/test/lib.sh"
XMPI_SCRATCH=$scratch
. "$top/test/fault/launch.inc"

compile -o "$dir/psets" "$top/test/fault/psets.c" || { not_ok "process sets" "does not compile"; finish; }

programs() { # options of xmpirun, and what stands before the program
    options=$1
    before=$2
    # shellcheck disable=SC2086 # several words
    run 30 $options --pset ocean -np 2 $before "$dir/psets" ocean : \
        --pset atm --pset both -np 1 $before "$dir/psets" atm both : \
        --pset both -np 2 $before "$dir/psets" both
}
programs "" ""
check "process sets of three programs" "$code: $(grep -c good "$dir/out")" "0: 5"
[ "$code" = 0 ] || sed 's/^/    | /' "$dir/out"
programs "--bind-to core" ""
check "process sets of bound ranks" "$code: $(grep -c good "$dir/out")" "0: 5"
if ldconfig -p 2> /dev/null | grep -q libpmix.so.2; then
    programs "--pmix=always" "env -u XMPI_BOOT"
    check "process sets over PMIx" "$code: $(grep -c good "$dir/out")" "0: 5"
else
    echo "skip launch: process sets over PMIx: no libpmix.so.2 (Debian: libpmix2)"
fi
run 10 --pset "mpi://MINE" -np 1 true
check "the standard's names are taken" $code 2
run 10 --pset "a b" -np 1 true
check "blanks are no part of a name" $code 2
check_says "the user is told" "a name without blanks"
finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Faults and launching: the scripts of test/fault, each printing its own ok and not ok lines.
. "${srcdir:-.}/test/lib.sh"

one() { XMPI_SCRATCH=$scratch top=$top timeout -k 5 "${LIMIT:-300}" sh "$1" 2>&1; } # script

# The broken programs of hang.sh wait nearly all of their time, as many seconds as all other scripts take
# together: they do so meanwhile.
scripts="$top"/test/fault/*.sh beside=$top/test/fault/hang.sh
[ -z "${DISTCHECK_SHORT:-}" ] || scripts="$top"/test/fault/launch_*.sh beside=
if [ -n "$beside" ]; then
    one "$beside" > "$scratch/beside" &
    waiting=$!
fi
for script in $scripts; do
    [ "$script" = "$beside" ] || one "$script" || failures=$((failures + 1))
done
if [ -n "$beside" ]; then
    wait "$waiting" || failures=$((failures + 1))
    cat "$scratch/beside"
fi
finish

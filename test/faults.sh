#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Faults and launching: the scripts of test/fault, each printing its own ok and not ok lines.
. "${srcdir:-.}/test/lib.sh"

one() { XMPI_SCRATCH=$scratch top=$top timeout -k 5 "${LIMIT:-300}" sh "$1" 2>&1; } # script

# The broken programs of these wait nearly all of their time, as many seconds as all other scripts take
# together: they do so meanwhile.
scripts="$top"/test/fault/*.sh beside="hang mismatch"
[ -z "${DISTCHECK_SHORT:-}" ] || scripts="$top"/test/fault/launch_*.sh beside=
for name in $beside; do
    one "$top/test/fault/$name.sh" > "$scratch/beside.$name" &
    waiting="${waiting:-} $!"
done
for script in $scripts; do
    name=$(basename "$script" .sh)
    case " $beside " in *" $name "*) ;; *) one "$script" || failures=$((failures + 1)) ;; esac
done
for job in ${waiting:-}; do wait "$job" || failures=$((failures + 1)); done
for name in $beside; do cat "$scratch/beside.$name"; done
finish

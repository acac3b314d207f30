#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Conformance: every program of test/conform on several rank counts.
#   NP="1 2 3 4 8"   rank counts      ONLY="p2p comm"   programs
. "${srcdir:-.}/test/lib.sh"

for source in "$top"/test/conform/*.c; do
    program=$(basename "$source" .c)
    case " ${ONLY:-$program} " in *" $program "*) ;; *) continue ;; esac
    if ! compile -I"$top" -o "$scratch/$program" "$source" -lm > "$scratch/out" 2>&1; then
        not_ok "conform/$program" "does not compile"
        sed 's/^/    | /' "$scratch/out" | head -n 15
        continue
    fi
    for np in ${NP:-1 2 4}; do
        case_run "conform/$program np=$np" "${LIMIT:-60}" "$XMPIRUN" -np "$np" "$scratch/$program"
    done
done
finish

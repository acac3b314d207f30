#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Conformance: every program of test/conform on several rank counts.
#   NP="1 2 3 4 8"   rank counts      ONLY="p2p comm"   programs
. "${srcdir:-.}/test/lib.sh"

for source in "$top"/test/conform/*.c; do
    name=$(basename "$source" .c)
    case " ${ONLY:-$name} " in *" $name "*) ;; *) continue ;; esac
    if ! compile -I"$top" -o "$scratch/$name" "$source" -lm > "$scratch/out" 2>&1; then
        not_ok "conform/$name" "does not compile"
        sed 's/^/    | /' "$scratch/out" | head -n 15
        continue
    fi
    for np in ${NP:-1 2 4}; do
        case_run "conform/$name np=$np" "${LIMIT:-60}" "$XMPIRUN" -np "$np" "$scratch/$name"
    done
done
finish

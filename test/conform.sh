#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Conformance: every program of test/conform on several rank counts.
#   NP="1 2 3 4 8"   rank counts      ONLY="p2p comm"   programs
# A line `conform-options: ...` in a program asks for a second run with these options of xmpirun.
. "${srcdir:-.}/test/lib.sh"

for source in "$top"/test/conform/*.c; do
    program=$(basename "$source" .c)
    case " ${ONLY:-$program} " in *" $program "*) ;; *) continue ;; esac
    if ! compile -I"$top" -o "$scratch/$program" "$source" -lm > "$scratch/out" 2>&1; then
        not_ok "conform/$program" "does not compile"
        sed 's/^/    | /' "$scratch/out" | head -n 15
        continue
    fi
    options=$(sed -n 's/.*conform-options: //p' "$source")
    for np in ${NP:-1 2 4}; do
        case_run "conform/$program np=$np" "${LIMIT:-60}" "$XMPIRUN" -np "$np" "$scratch/$program"
        # shellcheck disable=SC2086 # several words
        test -z "$options" || case_run "conform/$program $options np=$np" "${LIMIT:-60}" \
            "$XMPIRUN" $options -np "$np" "$scratch/$program"
    done
done
finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# MPI_THREAD_MULTIPLE: every program of test/thread with several numbers of threads and ranks.
#   NP="1 2 4"   rank counts    THREADS="4 8"    ONLY="p2p fair"   programs    STORM=1   seconds
# The long one, by hand: NP=4 THREADS=8 ONLY=storm STORM=60 LIMIT=900
# With a library built by configure --enable-sanitizers=thread, and XMPI_TEST_SANITIZE=-fsanitize=thread
# for the programs (they crash without), the first race found ends a program;
# reports that are suppressed have their reason in test/thread/tsan.supp.
. "${srcdir:-.}/test/lib.sh"
supp=$top/test/thread/tsan.supp
TSAN_OPTIONS="halt_on_error=1 suppressions=$supp ${TSAN_OPTIONS:-}"
export TSAN_OPTIONS

for source in "$top"/test/thread/*.c; do
    program=$(basename "$source" .c)
    case " ${ONLY:-$program} " in *" $program "*) ;; *) continue ;; esac
    if ! compile -I"$top" -o "$scratch/$program" "$source" -lpthread > "$scratch/out" 2>&1; then
        not_ok "thread/$program" "does not compile"
        sed 's/^/    | /' "$scratch/out" | head -n 15
        continue
    fi
    case $program in
    levels) variants="0 1 2 3" ;;
    storm) variants=${STORM:-1} ;;
    *) variants=- ;;
    esac
    for np in ${NP:-1 2 4}; do
        for threads in ${THREADS:-4 8}; do
            for variant in $variants; do
                case_run "thread/$program np=$np threads=$threads $variant" "${LIMIT:-60}" \
                    "$XMPIRUN" -np "$np" "$scratch/$program" "$threads" "$variant"
            done
        done
    done
done
finish

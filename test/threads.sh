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

program_run() # program variants, under the name $label
{
    for np in $NP; do
        for threads in $THREADS; do
            for variant in $2; do
                case_run "thread/$label$1 np=$np threads=$threads $variant" "${LIMIT:-60}" \
                    "$XMPIRUN" -np "$np" "$scratch/$1" "$threads" "$variant"
            done
        done
    done
}

: "${NP:=1 2 4}" "${THREADS:=4 8}"
built=
for source in "$top"/test/thread/*.c; do
    program=$(basename "$source" .c)
    case " ${ONLY:-$program} " in *" $program "*) ;; *) continue ;; esac
    if ! compile -I"$top" -o "$scratch/$program" "$source" -lpthread > "$scratch/out" 2>&1; then
        not_ok "thread/$program" "does not compile"
        sed 's/^/    | /' "$scratch/out" | head -n 15
        continue
    fi
    built="$built $program"
    case $program in
    levels) variants="0 1 2 3" ;;
    storm) variants=${STORM:-1} ;;
    engines) variants="1 4" ;;
    folding) variants="circulate look" ;;
    *) variants=- ;;
    esac
    label=
    program_run "$program" "$variants"
done

# Not the default: several engines; and long messages by way of both sides, as where memory cannot be read.
label=engines/ NP=2 THREADS=${THREADS%% *}
export XMPI_ENGINES=4 XMPI_SHM_SINGLE_COPY=none
for program in $built; do
    case $program in
    engines) program_run engines 4 ;;
    storm) program_run storm "${STORM:-1}" ;;
    folding) program_run folding "circulate look" ;;
    p2p | requests | waiting | wildcard) program_run "$program" - ;;
    esac
done
finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The face of the library: wrong arguments, error handlers, handles, calls at the wrong time.
. "${srcdir:-.}/test/lib.sh"

build_program() # NAME [OPTIONS]
{
    program=$1
    shift
    compile -o "$scratch/$program" "$top/test/api/$program.c" "$@" > "$scratch/out" 2>&1 && return
    not_ok "api/$program" "does not compile"
    sed 's/^/    | /' "$scratch/out" | head -n 15
    return 1
}

if [ "${PYTHON3:-python3}" = no ] || ! command -v "${PYTHON3:-python3}" > /dev/null; then
    skip "api/wrong" "python3 is needed to write its cases"
else
    "${PYTHON3:-python3}" "$top/test/api/cases.py" > "$scratch/cases.h" ||
        not_ok "api/cases" "cannot be written"
    build_program wrong -I"$scratch" && case_run "api/wrong" 60 "$XMPIRUN" -np 1 "$scratch/wrong"
    "${PYTHON3:-python3}" "$top/test/api/fuzz.py" > "$scratch/fuzz_cases.h" ||
        not_ok "api/fuzz_cases" "cannot be written"
    build_program fuzz -I"$scratch" && case_run "api/fuzz" 120 "$XMPIRUN" -np 1 "$scratch/fuzz"
    case_run "api/every argument of every function" 60 "${PYTHON3:-python3}" \
        "$top/test/api/cover.py" "$scratch/cases.h" "$scratch/fuzz_cases.h" \
        "$top/test/api/values.c"
fi
for suite in errors handles bodies values arrays; do
    build_program $suite || continue
    case_run "api/$suite alone" 30 "$scratch/$suite"
    for np in 1 2; do
        case_run "api/$suite np=$np" 30 "$XMPIRUN" -np $np "$scratch/$suite"
    done
done

# dies WHICH CODE WORDS [WHO]: the job ends with this exit code and says so; xmpirun adds its name
# and the rank (for errors before MPI_Init, which it hears of too late, nothing) and no more
dies()
{
    for np in 0 1 2; do
        run= who=
        [ $np = 0 ] || run="$XMPIRUN -np $np" who=$4
        timeout 30 $run "$scratch/deadly" "$1" > "$scratch/out" 2>&1 < /dev/null
        code=$?
        if [ $code = "$2" ] && grep -q "$who$3" "$scratch/out"; then
            ok "api/deadly $1 np=$np"
        else
            not_ok "api/deadly $1 np=$np" "exit code $code, wanted $2 and: $who$3"
            sed 's/^/    | /' "$scratch/out" | head -n 10
        fi
    done
}
if build_program deadly; then
    dies early 16 "MPI_Send was called before MPI_Init"
    dies late 16 "MPI_Barrier was called after MPI_Finalize"
    dies tag 4 "MPI_Send: argument tag is -7; tags run from 0 to" \
        "^xmpirun: rank [01]\( of 2\)*: "
    dies abort-handler 4 "MPI_Send: argument tag is -7" "^xmpirun: rank [01]\( of 2\)*: "
    dies unbuilt 55 "MPI_Win_create: not built yet in xmpi"
fi
finish

# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the test scripts: finds the library under test, compiles against it, reports.
#
# With XMPI_PREFIX set the installed xmpicc and xmpirun of that prefix are tested, otherwise the
# build tree in the current directory.  Each case prints one line: `ok`, `not ok` or `skip`, then
# its name and, for the last two, why.
top=$(CDPATH= cd "${srcdir:-.}" && pwd)
build=$(pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/xmpi-test.XXXXXX") || exit 99
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
failures=0
. "$top/test/await.inc"

if [ -n "${XMPI_PREFIX:-}" ]; then
    XMPIRUN=$XMPI_PREFIX/bin/xmpirun
    compile() { "$XMPI_PREFIX/bin/xmpicc" ${XMPI_TEST_SANITIZE:-} -g -O1 -Wall -Wextra "$@"; }
    library=$XMPI_PREFIX/lib/libmpi_abi.so.1
else
    XMPIRUN=$build/launcher/xmpirun
    compile()
    {
        ${XMPI_TEST_CC:-gcc} ${XMPI_TEST_SANITIZE:-} -g -O1 -Wall -Wextra -I"$top/include" \
            -I"$top/src/generated" "$@" -L"$build/.libs" -Wl,-rpath,"$build/.libs" -lmpi_abi
    }
    library=$build/.libs/libmpi_abi.so.1
fi
export XMPIRUN
export XMPI_TUNING="${XMPI_TUNING:-none}" # not what somebody measured here
[ -x "$XMPIRUN" ] || { echo "not ok: $XMPIRUN is not there: build first"; exit 99; }

ok() { echo "ok $1"; }
not_ok() { failures=$((failures + 1)); echo "not ok $1: $2"; }
skip() { echo "skip $1: $2"; }

# case NAME SECONDS COMMAND...: runs it with a time limit; its output is shown when it fails.  A program
# that cannot test here what it is for prints a line "skip: why".
case_run()
{
    name=$1 limit=$2
    shift 2
    if timeout -k 5 "$limit" "$@" > "$scratch/out" 2>&1 < /dev/null; then
        why=$(sed -n 's/^skip: //p' "$scratch/out" | head -n 1)
        [ -z "$why" ] && ok "$name" || skip "$name" "$why"
    else
        code=$?
        [ $code = 124 ] && why="no end within $limit s" || why="exit code $code"
        not_ok "$name" "$why"
        sed 's/^/    | /' "$scratch/out" | tail -n 25
    fi
}

# compile_all DIRECTORY PROGRAMS OPTION...: each DIRECTORY/PROGRAM.c becomes $scratch/PROGRAM, two at a time.
compile_all()
{
    directory=$1 programs=$2 compiling=
    shift 2
    for program in $programs; do
        compile -o "$scratch/$program" "$directory/$program.c" "$@" > "$scratch/$program.said" 2>&1 &
        [ -z "$compiling" ] || wait "$compiling"
        compiling=$!
    done
    [ -z "$compiling" ] || wait "$compiling"
}

# compiled CASE PROGRAM: compile_all has made the program; else the case fails.
compiled()
{
    [ ! -x "$scratch/$2" ] || return 0
    not_ok "$1" "does not compile"
    sed 's/^/    | /' "$scratch/$2.said" | head -n 15
    return 1
}

# A port that nobody listens on now, at 127.0.0.1 or the address $1.
free_port()
{
    "${PYTHON3:-python3}" -c 'import socket, sys
s = socket.socket(); s.bind((sys.argv[1], 0)); print(s.getsockname()[1])' "${1:-127.0.0.1}"
}

finish() { [ $failures = 0 ]; exit $?; }

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The wrappers and the examples, as a user meets them.  Needs an installed tree (XMPI_PREFIX).
. "${srcdir:-.}/test/lib.sh"
if [ -z "${XMPI_PREFIX:-}" ]; then
    skip programs "needs an installed tree: set XMPI_PREFIX, or use ./run-tests"
    exit 0
fi
cc=$XMPI_PREFIX/bin/xmpicc cxx=$XMPI_PREFIX/bin/xmpicxx
cd "$scratch" || exit 99

expect() # name, wanted text, command...
{
    name=$1 want=$2
    shift 2
    got=$(timeout 60 "$@" 2>&1)
    case $got in
    *"$want"*) ok "$name" ;;
    *) not_ok "$name" "no \"$want\" in: $got" ;;
    esac
}

for example in hello ring pi cg mesh heat; do
    libs=-lm
    [ $example = heat ] && libs="-lpng -lm"
    case_run "xmpicc examples/$example.c" 60 "$cc" -Wall -Wextra -Werror -O2 -o $example \
        "$top/examples/$example.c" $libs
done
expect "hello np=4" "rank 3 of 4" "$XMPIRUN" -np 4 ./hello
expect "ring np=5" "(right)" "$XMPIRUN" -np 5 ./ring 20
expect "pi np=3" "pi = 3.14159265" "$XMPIRUN" -np 3 ./pi 100000
expect "cg np=4" "1600 unknowns" "$XMPIRUN" -np 4 ./cg "$top/examples/data/poisson.mtx"
expect "mesh np=16" "16 ranks = dp 4 x pp 1 x tp 4" "$XMPIRUN" -np 16 ./mesh 4 1 4
for np in 1 2 3 6; do
    case_run "heat np=$np" 60 "$XMPIRUN" -np $np ./heat "$top/examples/data/island.png" \
        heat$np.png 200
    cmp -s heat1.png heat$np.png && ok "heat np=$np same picture as np=1" ||
        not_ok "heat np=$np" "the picture differs from np=1"
done
expect "singleton" "rank 0 of 1" ./hello

cat > both.cc <<'EOF'
#include <mpi.h>
#include <vector>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    std::vector<int> all(1);
    int one = 1;
    MPI_Allreduce(&one, all.data(), 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Finalize();
    return all[0] == size ? 0 : 1;
}
EOF
for std in 98 11 17 20; do
    data=$([ $std = 98 ] && echo '\&all[0]' || echo 'all.data()')
    sed "s/all.data()/$data/" both.cc > both$std.cc
    case_run "xmpicxx -std=c++$std" 60 "$cxx" -std=c++$std -Wall -Wextra -pedantic -Werror \
        -o both both$std.cc
done
case_run "C++ np=3" 30 "$XMPIRUN" -np 3 ./both
case_run "static library" 60 "$cc" -static-mpi -O2 -o hello_static "$top/examples/hello.c"
expect "static np=2" "rank 1 of 2" "$XMPIRUN" -np 2 ./hello_static
if ldd ./hello_static | grep -q mpi_abi; then
    not_ok "static needs no shared library" "$(ldd ./hello_static | grep mpi_abi)"
else
    ok "static needs no shared library"
fi
expect "-show" "-lmpi_abi" "$cc" -show -O2 a.c -o a
expect "-showme:compile" "-I$XMPI_PREFIX/include" "$cc" -showme:compile
expect "-showme:link" "-L$XMPI_PREFIX/lib" "$cc" -showme:link
expect "-show-incdir" "$XMPI_PREFIX/include" "$cc" -show-incdir
expect "-show-libs" "mpi_abi" "$cc" -show-libs
expect "unknown question" "unknown question" "$cc" -showme:nonsense
printf '#include <stdio.h>\nint main(void){puts(SAY);return 0;}\n' > quote.c
case_run "arguments with blanks and quotes" 30 "$cc" '-DSAY="it'\''s \"two\" words"' -o quote quote.c
expect "arguments arrive unchanged" "it's \"two\" words" ./quote
for name in mpicc mpicxx mpiexec mpirun; do
    [ -x "$XMPI_PREFIX/lib/xmpi/bin/$name" ] && ok "lib/xmpi/bin/$name" ||
        not_ok "lib/xmpi/bin/$name" "missing"
done
if command -v pkg-config > /dev/null; then
    PKG_CONFIG_PATH=$XMPI_PREFIX/lib/pkgconfig expect pkg-config "-lmpi_abi" pkg-config --libs xmpi
else
    skip pkg-config "not installed"
fi
if command -v cmake > /dev/null; then
    mkdir -p cm && printf 'cmake_minimum_required(VERSION 3.20)\nproject(t C)\nfind_package(MPI REQUIRED COMPONENTS C)\nadd_executable(t %s)\ntarget_link_libraries(t MPI::MPI_C)\n' \
        "$top/examples/hello.c" > cm/CMakeLists.txt
    case_run "CMake FindMPI" 120 sh -c "cmake -S cm -B cm/b -DMPI_C_COMPILER=$cc && cmake --build cm/b"
    expect "CMake FindMPI runs" "rank 1 of 2" "$XMPIRUN" -np 2 cm/b/t
else
    skip "CMake FindMPI" "cmake is not installed"
fi
finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What the library shows to the world: exactly the functions of the standard ABI, each as a strong
# PMPI_X and a weak MPI_X at the same address, and extensions named MPIX_ or XMPI_; nothing but
# the C library as a dependency; the soname that programs are linked with.
. "${srcdir:-.}/test/lib.sh"

functions=$top/test/api/functions.txt # NAME: result, arguments, of MPI 5.0
expect() # NAME FILE: the file must be empty
{
    if [ -s "$2" ]; then
        not_ok "$1" "$(wc -l < "$2") differences"
        head -n 20 "$2" | sed 's/^/    | /'
    else
        ok "$1"
    fi
}

# address kind name, without versions
nm -D --defined-only "$library" | sed 's/@.*//' > "$scratch/exports"
sed "s/:.*//" "$functions" | LC_ALL=C sort > "$scratch/wanted"
[ "$(wc -l < "$scratch/wanted")" = 664 ] || not_ok "symbols/list" "functions.txt has not 664 names"

awk '$3 ~ /^MPI_/ { print $3 }' "$scratch/exports" | LC_ALL=C sort |
    diff "$scratch/wanted" - > "$scratch/d1"
expect "symbols/MPI_: the 664 names" "$scratch/d1"
awk '$3 ~ /^PMPI_/ { print substr($3, 2) }' "$scratch/exports" | LC_ALL=C sort |
    diff "$scratch/wanted" - > "$scratch/d2"
expect "symbols/PMPI_: the 664 names" "$scratch/d2"
awk '$3 !~ /^(P?MPI|MPIX|XMPI)_/' "$scratch/exports" > "$scratch/d3"
expect "symbols/nothing else but MPIX_ and XMPI_" "$scratch/d3"
awk '$3 ~ /^MPI_/ && $2 != "W" || $3 ~ /^PMPI_/ && $2 != "T"' "$scratch/exports" > "$scratch/d4"
expect "symbols/MPI_ weak, PMPI_ strong" "$scratch/d4"
awk '$3 ~ /^P?MPI_/ { n = $3; sub(/^P/, "", n); if (n in at && at[n] != $1) print n; at[n] = $1 }' \
    "$scratch/exports" > "$scratch/d5"
expect "symbols/MPI_X and PMPI_X are one function" "$scratch/d5"

if [ -n "${XMPI_TEST_SANITIZE:-}" ]; then
    skip "symbols/depends on libc alone" "built with sanitizers"
else
    readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' |
        grep -vE '^(libc\.so\.6|libm\.so\.6|ld-linux.*)$' > "$scratch/d6"
    expect "symbols/depends on libc and libm alone" "$scratch/d6"
fi
readelf -d "$library" | grep -q '(SONAME).*\[libmpi_abi\.so\.1\]' &&
    ok "symbols/soname is libmpi_abi.so.1" || not_ok "symbols/soname" "is not libmpi_abi.so.1"

# What src/hot.ld puts together by name: all functions are in the sources, and all variables are where they belong.
sed -n 's/^ *\*(\(.*\))$/\1/p' "$top/src/hot.ld" | tr ' ' '\n' | LC_ALL=C sort -u > "$scratch/patterns"
grep '^\.text\.' "$scratch/patterns" | sed 's/^\.text\.P*//; s/\*$//' | LC_ALL=C sort -u > "$scratch/functions"
find "$top"/src "$top"/coll "$top"/pml "$top"/runtime -name '*.[ch]' -exec cat {} + | grep -oE '[A-Za-z_0-9]+\(' |
    tr -d '(' | LC_ALL=C sort -u > "$scratch/called"
LC_ALL=C comm -23 "$scratch/functions" "$scratch/called" > "$scratch/d8"
[ "$(wc -l < "$scratch/functions")" -gt 100 ] || echo "fewer than 100 functions in hot.ld" >> "$scratch/d8"
expect "symbols/src/hot.ld names functions that there are" "$scratch/d8"
sections=$(readelf -SW "$library" | sed -n 's/^ *\[ *\([0-9]*\)\] \.[a-z.]*\.xmpi_hot .*/\1/p')
if [ -n "${XMPI_TEST_SANITIZE:-}" ]; then
    skip "symbols/what is hot lies together" "built with sanitizers"
elif [ -z "$sections" ] && grep -q '^xmpi_cv_hot=no' "$build/config.log" 2> /dev/null; then
    skip "symbols/what is hot lies together" "the linker does not take such scripts"
else
    readelf -sW "$library" | awk -v sections="$sections" 'BEGIN { n = split(sections, s); for (i = 1; i <= n; i++) hot[s[i]] = 1 }
        $4 == "OBJECT" && hot[$7] { print $8 }' | sed 's/\.[0-9]*$//' | LC_ALL=C sort -u > "$scratch/together"
    grep -v '^\.text\.' "$scratch/patterns" | sed 's/.*\.//' | LC_ALL=C sort -u |
        LC_ALL=C comm -23 - "$scratch/together" > "$scratch/d9"
    expect "symbols/what is hot lies together" "$scratch/d9"
fi

archive=$(dirname "$library")/libmpi_abi.a
[ -f "$archive" ] || archive=$build/libmpi_abi.a
if [ -f "$archive" ]; then
    nm -g --defined-only "$archive" 2> "$scratch/nm" |
        awk 'NF == 3 && $3 !~ /^(P?MPI|MPIX|XMPI)_/ { print $3 }' > "$scratch/d7"
    expect "symbols/static library shows nothing else" "$scratch/d7"
else
    skip "symbols/static library" "libmpi_abi.a is not built"
fi
finish

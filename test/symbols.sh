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

# What src/hot.ld puts together by name: each is in the sources, and most are where they belong.
sed -n 's/^ *\*(\(.*\))$/\1/p' "$top/src/hot.ld" | tr ' ' '\n' | sed 's/\*$//; s/.*\.//; s/^PMPI/MPI/' |
    LC_ALL=C sort -u > "$scratch/hot"
find "$top"/src "$top"/coll "$top"/pml "$top"/runtime -name '*.[ch]' -exec cat {} + | grep -oE '[A-Za-z_0-9]+' |
    LC_ALL=C sort -u > "$scratch/words"
LC_ALL=C comm -23 "$scratch/hot" "$scratch/words" > "$scratch/d8"
[ "$(wc -l < "$scratch/hot")" -gt 100 ] || echo "fewer than 100 names in hot.ld" >> "$scratch/d8"
expect "symbols/src/hot.ld names what there is" "$scratch/d8"
if readelf -SW "$library" | grep -q '\.text\.xmpi_hot'; then
    readelf -SW "$library" | sed -n 's/.*\.\(text\|data\)\.xmpi_hot *PROGBITS *[0-9a-f]* [0-9a-f]* \([0-9a-f]*\).*/\1 \2/p' |
        while read -r part size; do
            size=$((0x$size))
            case $part in text) least=16384 most=65536 ;; *) least=2048 most=12288 ;; esac
            [ $size -ge $least ] && [ $size -le $most ] || echo "$part: $size bytes, not $least to $most"
        done > "$scratch/d9"
    expect "symbols/what is hot lies together" "$scratch/d9"
else
    skip "symbols/what is hot lies together" "sanitizers, or a linker that does not take scripts"
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

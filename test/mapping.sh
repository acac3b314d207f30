#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Which rank gets which CPUs on machines nobody here has: test/machines/*.xml, in hwloc's form, and in
# test/machines/expected what xmpirun --dry-run is to print, after a line `$ MACHINE OPTIONS` each.
# UPDATE=1 writes that file anew: then read every line of the difference.
. "${srcdir:-.}/test/lib.sh"
machines=$top/test/machines

grep '^\$ ' "$machines/expected" | while read -r _ machine options; do
    echo "\$ $machine $options"
    timeout 20 "$XMPIRUN" --dry-run --machine "$machines/$machine.xml" $options ./a.out 2>&1
done > "$scratch/printed"
[ -z "${UPDATE:-}" ] || cp "$scratch/printed" "$machines/expected"

# The block of one case: from its line to the next one.
block() # file, number
{
    awk -v wanted="$2" '/^\$ / { n++ } n == wanted' "$1"
}
cases=$(grep -c '^\$ ' "$machines/expected")
i=0
while [ $i -lt "$cases" ]; do
    i=$((i + 1))
    block "$machines/expected" $i > "$scratch/wanted"
    block "$scratch/printed" $i > "$scratch/got"
    name="mapping: $(sed -n '1s/^\$ //p' "$scratch/wanted")"
    if difference=$(diff "$scratch/wanted" "$scratch/got"); then
        ok "$name"
    else
        not_ok "$name" "$difference"
    fi
done

for wrong in "nothing:here" "/dev/null" "$0"; do
    got=$("$XMPIRUN" --dry-run --machine "$wrong" -np 2 ./a.out 2>&1)
    code=$?
    case $code:$got in
    0:*) not_ok "mapping: --machine $wrong" "it is taken: $got" ;;
    *"--machine $wrong: "*) ok "mapping: --machine $wrong is refused" ;;
    *) not_ok "mapping: --machine $wrong" "$code: $got" ;;
    esac
done
got=$("$XMPIRUN" --machine "package:1 core:2 pu:1" -np 1 true 2>&1)
[ $? != 0 ] && ok "mapping: --machine runs nothing" || not_ok "mapping: --machine runs nothing" "$got"
finish

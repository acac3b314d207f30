#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The arrows between rooms: include <- src -> coll -> pml -> runtime, launcher -> runtime.
# No file may include a header of a room above it, and no object may call a function that only a
# room above defines.  usage: rooms.sh [source directory] [build directory]
top=${1:-${srcdir:-.}} build=${2:-.} bad=0

may() { # rooms that each room may use
    case $1 in
    runtime) echo "runtime" ;;
    pml) echo "pml runtime" ;;
    coll) echo "coll pml runtime" ;;
    src) echo "src coll pml runtime" ;;
    launcher) echo "launcher runtime" ;;
    esac
}

for room in runtime pml coll src launcher; do
    allowed=$(may $room | tr ' ' '|')
    wrong=$(grep -nE '^#include "(runtime|pml|coll|src|launcher)/' -r "$top/$room" --include='*.[ch]' |
        grep -vE "#include \"($allowed)/")
    [ -z "$wrong" ] || { echo "$wrong" | sed 's/^/includes upwards: /'; bad=1; }
done

# A file with an algorithm needs one header of the house.
programs=$(sed -n '/^program /,/;/p' "$top/coll/algorithms.h" | sed 's/^program//; s,/\*.*,,' | tr ',;' '  ')
[ "$(echo $programs | wc -w)" -ge 60 ] || { echo "not ok rooms: no programs in coll/algorithms.h"; bad=1; }
for file in $(grep -lE "^void ($(echo $programs | tr ' ' '|'))\\(struct plan" "$top"/coll/*.c); do
    [ "$(grep '^#include "' "$file")" = '#include "coll/algorithms.h"' ] ||
        { echo "$file has an algorithm and includes more than coll/algorithms.h"; bad=1; }
done

defined() { # global symbols that the objects of some rooms define
    for r in $1; do find "$build/$r" -name '*.o' -path '*.libs*' 2>/dev/null; done |
        xargs -r nm -g --defined-only 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u
}
if [ -n "$(find "$build/runtime" -name '*.o' -path '*.libs*' 2>/dev/null)" ]; then
    ours=$(mktemp) && trap 'rm -f "$ours" "$ours".*' EXIT
    defined "runtime pml coll src" > "$ours"
    for room in runtime pml coll src; do
        defined "$(may $room)" > "$ours.allowed"
        find "$build/$room" -name '*.o' -path '*.libs*' | xargs -r nm -u | awk '{ print $2 }' |
            sort -u | comm -12 - "$ours" | comm -23 - "$ours.allowed" > "$ours.up"
        [ ! -s "$ours.up" ] || { sed "s/^/$room calls upwards: /" "$ours.up"; bad=1; }
    done
else
    echo "rooms.sh: no objects in $build: includes checked, calls not" >&2
fi
[ $bad = 0 ] && echo "ok rooms: every arrow points downwards"
exit $bad

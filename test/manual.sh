#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The manual: a page for every function, every argument explained, pages that show without a
# complaint of the formatter, and examples that compile without a warning and run on 4 ranks.
. "${srcdir:-.}/test/lib.sh"

empty() # NAME FILE of complaints
{
    [ ! -s "$2" ] && ok "$1" && return
    not_ok "$1" "$(wc -l < "$2") complaints"
    head -n 10 "$2" | sed 's/^/    | /'
}

pages=$top/src/generated/man3
cut -d : -f 1 "$top/test/api/functions.txt" | while read -r name; do
    test -s "$pages/$name.3" || echo "no page for $name"
done > "$scratch/missing"
empty "manual/pages" "$scratch/missing"

# A page that is read from another one must say that it is there, too.
grep -L "^\.so" "$pages"/*.3 | while read -r page; do
    for section in NAME SYNOPSIS DESCRIPTION "SEE ALSO"; do
        grep -q "^\.SH $section" "$page" || echo "$(basename "$page") has no $section"
    done
done > "$scratch/sections"
empty "manual/sections" "$scratch/sections"

if command -v groff > /dev/null; then
    (cd "$pages/.." && groff -man -Tascii -rLL=100n -ww -z man3/*.3) > "$scratch/shown" 2>&1
elif command -v mandoc > /dev/null; then
    mandoc -Tlint -Werror "$pages"/*.3 > "$scratch/shown" 2>&1
else
    echo "neither groff nor mandoc is here" > "$scratch/no_formatter"
fi
if [ -f "$scratch/no_formatter" ]; then
    skip "manual/shown" "$(cat "$scratch/no_formatter")"
else
    empty "manual/shown" "$scratch/shown"
fi

python=${PYTHON3:-python3}
if [ "$python" = no ]; then
    skip "manual/arguments, examples" "no python3"
    finish
fi
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
"$python" "$top/src/gen_man.py" --check --examples "$scratch/examples" > "$scratch/check" 2>&1 &&
    rm "$scratch/check"
empty "manual/arguments" "$scratch/check"
for source in "$scratch"/examples/*.c; do
    name=$(basename "$source" .c)
    if compile -Werror -o "$scratch/$name" "$source" > "$scratch/out" 2>&1; then
        case_run "manual/example $name" 60 "$XMPIRUN" -np 4 "$scratch/$name"
    else
        not_ok "manual/example $name" "does not compile"
        sed 's/^/    | /' "$scratch/out" | head -n 15
    fi
done
finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The house rules that a machine can check: sizes (tools/measure.py), format, and pages of text: a room's
# README is a page, a document in docs two.
top=${srcdir:-.} bad=0

if [ "${PYTHON3:-python3}" = no ]; then
    echo "skip house sizes: no python3"
elif ${PYTHON3:-python3} "$top/tools/measure.py" "$top"; then
    echo "ok house sizes"
else
    echo "not ok house sizes"
    bad=1
fi

format=${CLANG_FORMAT:-clang-format}
if [ "$format" = no ] || ! command -v "$format" > /dev/null; then
    echo "skip house format: no clang-format"
else
    wrong=$(find "$top/include" "$top/src" "$top/coll" "$top/pml" "$top/runtime" "$top/launcher" \
        "$top/test" "$top/examples" "$top/bench" -name '*.[ch]' ! -path '*/generated/*' |
        xargs "$format" --style=file:"$top/.clang-format" --dry-run 2>&1 |
        sed -n 's/^\([^:]*\):.*clang-formatted.*/\1/p' | sort -u)
    if [ -z "$wrong" ]; then
        echo "ok house format"
    else
        echo "not ok house format: run make format"
        echo "$wrong"
        bad=1
    fi
fi

# A script finds its neighbours before Python's own modules.
if [ "${PYTHON3:-python3}" != no ]; then
    hidden=$(${PYTHON3:-python3} -c 'import glob, os, sys
names = getattr(sys, "stdlib_module_names", ())  # of 3.10 and later
print(*[p for p in glob.glob(sys.argv[1] + "/*/*.py") if os.path.basename(p)[:-3] in names])' "$top")
    if [ -z "$hidden" ]; then
        echo "ok house scripts"
    else
        echo "not ok house scripts: named as modules of Python are: $hidden"
        bad=1
    fi
fi

long=$(for page in "$top"/*/README "$top"/docs/*.md; do
    case $page in */README) most=100 ;; *) most=200 ;; esac
    awk -v most="$most" 'length > 120 { print FILENAME ":" FNR ": " length " columns; the bound is 120" }
        END { if (NR > most) print FILENAME ": " NR " lines; the bound is " most }' "$page" 2>&1
done)
if [ -z "$long" ]; then
    echo "ok house pages"
else
    echo "not ok house pages: what does not fit a README goes to docs"
    echo "$long"
    bad=1
fi
exit $bad

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The binary interface as a C compiler sees it, against three tables of facts from MPI 5.0:
#
#     api/functions.txt    NAME: result, arguments     the 664 functions, and the same as PMPI_
#     api/callbacks.txt    NAME: result, arguments     the types of functions of programs
#     api/constants.txt    NAME: type, value           every constant
#
# Arrays are written as the pointers they are.  Types are compared by the compiler, names of
# arguments in what the preprocessor leaves, values by a program.
. "${srcdir:-.}/test/lib.sh"

tables=$top/test/api
empty() # NAME FILE
{
    [ ! -s "$2" ] && ok "$1" && return
    not_ok "$1" "$(wc -l < "$2") lines"
    head -n 20 "$2" | sed 's/^/    | /'
}
rows() # FILE NUMBER: a table that was cut off must not pass
{
    n=$(wc -l < "$tables/$1")
    [ "$n" = "$2" ] && ok "abi/$1 has $2 rows" || not_ok "abi/$1" "has $n rows, not $2"
}
rows functions.txt 664
rows callbacks.txt 23
rows constants.txt 364

# "NAME: result, a, b" to "NAME" and "result (a, b)"
cat > "$scratch/split.awk" << 'END'
{
    name = $0; sub(/:.*/, "", name)
    rest = $0; sub(/^[^:]*: /, "", rest)
    result = rest; sub(/,.*/, "", result)
    arguments = "void"
    if (index(rest, ", ")) { arguments = rest; sub(/^[^,]*, /, "", arguments) }
}
END

# ---- types ----
{
    echo '#include <mpi.h>'
    echo '#include <stddef.h>'
    echo '#define SAME(name, type, say) \'
    echo '    _Static_assert(__builtin_types_compatible_p(__typeof__(name), type), say)'
    cat > "$scratch/types.awk" << 'END'
function same(what) { printf "SAME(%s, %s (%s), \"%s\");\n", what, result, arguments, what }
{ same(name) }
FILENAME ~ /functions/ { same("P" name) }
END
    awk -f "$scratch/split.awk" -f "$scratch/types.awk" "$tables/functions.txt" \
        "$tables/callbacks.txt"
    awk -F '[:,] *' '{ printf "SAME(%s, %s, \"%s\");\n", $1, $2, $1 }
        $2 == "int" { printf "_Static_assert(%s == %s, \"%s\");\n", $1, $3, $1 }' \
        "$tables/constants.txt"
    echo '_Static_assert(sizeof(MPI_Status) == 32 && _Alignof(MPI_Status) == 4, "MPI_Status");'
    for field in MPI_SOURCE:0 MPI_TAG:4 MPI_ERROR:8 MPI_internal:12; do
        echo "_Static_assert(offsetof(MPI_Status, ${field%:*}) == ${field#*:}, \"$field\");"
    done
    echo '_Static_assert(sizeof(MPI_Aint) == sizeof(void *), "MPI_Aint");'
    echo '_Static_assert(sizeof(MPI_Count) == 8 && sizeof(MPI_Offset) == 8, "64 bits");'
    echo 'int main(void) { return 0; }'
} > "$scratch/types.c"
compile -o "$scratch/types" "$scratch/types.c" > "$scratch/said" 2>&1 || echo "exit code $?" >> "$scratch/said"
empty "abi/types of functions, callbacks and constants" "$scratch/said"

# ---- names of arguments ----
cat > "$scratch/names.awk" << 'END'
/^#/ { next }
{ text = text " " $0 }
END {
    n = split(text, parts, ";")
    for (i = 1; i <= n; i++) {
        part = parts[i]
        gsub(/[ \t]+/, " ", part)
        if (!match(part, / P?MPI_[A-Za-z0-9_]+\(/) || part ~ /typedef/)
            continue
        result = substr(part, 1, RSTART - 1)
        name = substr(part, RSTART + 1, RLENGTH - 2)
        arguments = substr(part, RSTART + RLENGTH)
        sub(/\) *$/, "", arguments)
        gsub(/^ */, "", result)
        k = split(arguments, list, / ?, ?/)
        line = name ": " result
        for (j = 1; j <= k && list[1] != "void"; j++) {
            if (list[j] ~ /\[\]\[3\]$/) {
                sub(/\[\]\[3\]$/, ")[3]", list[j]); sub(/[A-Za-z0-9_]+\)/, "(*&", list[j])
            } else if (list[j] ~ /\[\]$/) {
                sub(/\[\]$/, "", list[j]); sub(/[A-Za-z0-9_]+$/, "*&", list[j])
            }
            line = line ", " list[j]
        }
        print line
    }
}
END
echo '#include <mpi.h>' > "$scratch/empty.c"
compile -E -DXMPI_NO_FORTRAN "$scratch/empty.c" 2> "$scratch/said" | awk -f "$scratch/names.awk" |
    LC_ALL=C sort > "$scratch/declared"
for prefix in "" P; do
    sed "s/^/$prefix/" "$tables/functions.txt" | LC_ALL=C sort > "$scratch/wanted"
    grep "^${prefix}MPI_" "$scratch/declared" | diff "$scratch/wanted" - > "$scratch/differ"
    empty "abi/names and arguments of ${prefix}MPI_" "$scratch/differ"
done

# ---- values ----
{
    echo '#include <mpi.h>'
    echo '#include <stdint.h>'
    echo '#include <stdio.h>'
    echo 'int main(void)'
    echo '{'
    awk -F '[:,] *' '{ printf "    printf(\"%s %%lld\\n\", (long long)(intptr_t)(%s));\n",
                       $1, $1 }' "$tables/constants.txt"
    echo '    return 0;'
    echo '}'
} > "$scratch/values.c"
compile -o "$scratch/values" "$scratch/values.c" > "$scratch/said" 2>&1 || cat "$scratch/said"
"$scratch/values" > "$scratch/found" 2>&1
awk -F '[:,] *' '{ print $1, $3 }' "$tables/constants.txt" |
    while read -r name value; do echo "$name $((value))"; done | diff - "$scratch/found" \
    > "$scratch/differ"
empty "abi/values of constants" "$scratch/differ"
finish

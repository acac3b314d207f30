#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Standard streams through the launcher: lines, tags, files, input, and that nothing is lost.
. "$(dirname "$0")/launch.inc"

# 8 ranks write 2000 lines each in odd pieces; two of them are killed right after.
cat > "$dir/talk.sh" <<'END'
awk -v rank=$RANK 'BEGIN {
    for (i = 0; i < 2000; i++) {
        printf "line %d of ", i; fflush(); printf "rank %d %s\n", rank, substr("xxxxxxxxxxxxxxxxxxxxxxxx", 1, i % 24);
        if (i % 7 == 0) fflush();
    }
}'
[ $RANK = 3 ] && kill -9 $$
exit 0
END
run 60 -np 8 sh "$dir/talk.sh"
check "16000 lines, one rank killed after writing: code" $code 137
# The others are stopped, so only the killed rank's output must be complete.
check "all lines of the killed rank" "$(grep -c '^line [0-9]* of rank 3 x*$' "$dir/out")" 2000
# A rank that is stopped may leave a piece of a line, but on a line of its own.
check "no mixed lines" "$(grep -vcE '^line [0-9]+ of (rank [0-7] x*)?$' "$dir/out")" 0
sed 's/^\[ .RANK = 3.*/[ $RANK = 3 ] \&\& sleep 3 \&\& kill -9 $$/' "$dir/talk.sh" > "$dir/talk2.sh"
run 60 -np 8 sh "$dir/talk2.sh"
check "all 16000 lines arrive" "$(grep -c '^line [0-9]* of rank [0-7] x*$' "$dir/out") $code" "16000 137"

env "$mark" "$XMPIRUN" -np 4 seq 1 20000 < /dev/null | (sleep 1; cat) > "$dir/slow"
check "a slow reader gets everything" "$(wc -l < "$dir/slow")" 80000
env "$mark" timeout 10 "$XMPIRUN" -np 2 yes < /dev/null 2> /dev/null | head -n 3 > "$dir/head"
check "a reader that leaves ends the job" "$(wc -l < "$dir/head") $(leftovers_soon)" "3 0"

code=0
env "$mark" timeout 10 "$XMPIRUN" -np 2 echo x > /dev/full 2> "$dir/err" || code=$?
check "a full disk is told, once" "$code $(grep -c 'write to stdout: No space left' "$dir/err")" "1 1"
mkdir -p "$dir/lost/1/rank.1"
ln -s /dev/full "$dir/lost/1/rank.1/stdout"
for hosts in "-np 2" "-H a:1,b:1" "-H a:1,b:1 --fanout 1"; do
    XMPI_LAUNCH_AGENT='sh -c "{cmd}"' run 20 --output-filename "$dir/lost" $hosts echo x
    check "output lost on whatever host counts: $hosts" \
        "$code $(grep -c 'rank 1 to its file: No space left' "$dir/err")" "1 1"
done

run 10 -np 2 -l sh -c 'printf "a\nb\n"; printf "no end"'
check "-l" "$(sort "$dir/out" | tr '\n' ,)" "[0] a,[0] b,[0] no end,[1] a,[1] b,[1] no end,"
run 10 -np 2 --tag-output sh -c 'echo out; echo err >&2'
check "--tag-output" "$(sort "$dir/out" "$dir/err" | tr '\n' ,)" \
    "[1,0]<stderr>:err,[1,0]<stdout>:out,[1,1]<stderr>:err,[1,1]<stdout>:out,"
run 10 -np 1 -prepend-pattern 'r%r %s%%> ' echo x
check "-prepend-pattern" "$(cat "$dir/out")" "r0 stdout%> x"
run 10 -np 1 --timestamp-output echo x
check "--timestamp-output" "$(grep -cE '^20[0-9-]+ [0-9:]+\.[0-9]{3} x$' "$dir/out")" 1
run 10 -np 2 printf 'no newline'
check "an incomplete last line" "$(cat "$dir/out")" "no newlineno newline"
run 10 -np 2 sh -c 'head -c 300000 /dev/zero | tr "\0" a; echo'
check "long lines stay whole" "$(awk '{ print length($0) }' "$dir/out" | tr '\n' ' ')" "300000 300000 "

run 10 -np 12 --output-filename "$dir/files" sh -c 'echo $RANK; echo e$RANK >&2'
check "--output-filename" "$(cat "$dir/files/1/rank.07/stdout" "$dir/files/1/rank.11/stderr" | tr '\n' ' ')" "7 e11 "
check "and shown as well" "$(wc -l < "$dir/out")" 12
run 10 -np 2 --output-filename "$dir/only:nocopy" echo x
check "--output-filename DIR:nocopy" "$(cat "$dir"/only/1/rank.?/stdout | wc -l) $(wc -c < "$dir/out")" "2 0"
run 10 -np 2 -outfile-pattern "$dir/o.%r" -errfile-pattern "$dir/e" sh -c 'echo $RANK; echo x >&2'
check "-outfile-pattern" "$(cat "$dir/o.0" "$dir/o.1" | tr '\n' ' ')$(wc -l < "$dir/e")" "0 1 2"

printf 'one\ntwo\n' > "$dir/in"
env "$mark" timeout 10 "$XMPIRUN" -np 3 -l cat < "$dir/in" > "$dir/out"
check "stdin goes to rank 0, the others see its end" "$(tr '\n' , < "$dir/out")" "[0] one,[0] two,"
cat "$dir/in" | env "$mark" timeout 10 "$XMPIRUN" -np 3 -l --stdin 2 cat > "$dir/out"
check "--stdin 2" "$(tr '\n' , < "$dir/out")" "[2] one,[2] two,"
seq 1 100000 | env "$mark" timeout 20 "$XMPIRUN" -np 3 --stdin all wc -l > "$dir/out"
check "--stdin all from a pipe" "$(tr -d ' ' < "$dir/out" | tr '\n' ' ')" "100000 100000 100000 "
seq 1 100000 > "$dir/big"
env "$mark" timeout 20 "$XMPIRUN" -np 3 --stdin all sh -c '[ $RANK = 1 ] || wc -l' < "$dir/big" > "$dir/out"
check "--stdin all from a file, one rank not reading" "$(tr -d ' ' < "$dir/out" | tr '\n' ' ')" "100000 100000 "
env "$mark" timeout -k 1 10 "$XMPIRUN" -np 2 --stdin all head -c 10 < /dev/zero > "$dir/out"
check "--stdin all, no rank reads on: input without an end is left" "$? $(wc -c < "$dir/out")" "0 20"
env "$mark" timeout 10 "$XMPIRUN" -np 2 --stdin none cat < "$dir/in" > "$dir/out"
check "--stdin none" "$(wc -c < "$dir/out")" 0
printf 'a\nb\nc\n' | while read -r line; do
    echo "$line"
    env "$mark" "$XMPIRUN" -np 2 true
done > "$dir/out"
check "a loop keeps its input" "$(tr '\n' ' ' < "$dir/out")" "a b c "

if command -v script > /dev/null; then
    env "$mark" script -qec "$XMPIRUN -np 2 sh -c 'test -t 1 && echo tty'" /dev/null < /dev/null > "$dir/out"
    check "on a terminal ranks write to terminals" "$(tr -d '\r' < "$dir/out" | grep -c '^tty$')" 2
    env "$mark" script -qec "$XMPIRUN --no-pty -np 2 sh -c 'test -t 1 || echo pipe'" /dev/null < /dev/null > "$dir/out"
    check "--no-pty" "$(tr -d '\r' < "$dir/out" | grep -c '^pipe$')" 2
else
    echo "skip launch: terminals: there is no script(1)"
fi

A=1 B=2 run 10 -np 1 -x A=3 -genv C=4 -env D 5 --unset-env B sh -c 'echo $A $B $C $D'
check "environment" "$(cat "$dir/out")" "3 4 5"
run 10 -np 1 -envnone -x E=1 env
check "an empty environment" "$(grep -vE '^(XMPI_BOOT|XMPI_JOB|RANK|WORLD_SIZE|LOCAL_RANK|LOCAL_WORLD_SIZE|PMIX_[A-Z0-9_]*)=' "$dir/out")" "E=1"
run 10 -np 1 --wdir "$dir" pwd
check "working directory" "$(cat "$dir/out")" "$dir"
printf 'echo found\n' > "$dir/onpath" && chmod +x "$dir/onpath"
run 10 -np 1 -path "$dir" onpath
check "-path" "$(cat "$dir/out")" found
run 10 -np 1 -umask 077 sh -c umask
check "-umask" "$(cat "$dir/out")" 0077
cat > "$dir/conf" <<'END'
# comment
-np 1 sh -c "echo one $1" x y  # arguments
-np 2 -x Q="a b" \
    sh -c 'echo two $Q'
END
run 10 -configfile "$dir/conf"
check "-configfile" "$(sort "$dir/out" | tr '\n' ,)" "one y,two a b,two a b,"
printf -- '-np 1 echo "one\n-np 1 echo two"\n' > "$dir/conf"
run 10 -configfile "$dir/conf"
check "-configfile: a quote that is not closed" "$code $(grep -c "conf:1: there is no second \"" "$dir/err")" "2 1"
RANK=9 run 10 -np 2 sh -c 'echo $RANK'
check "variables of an outer job are replaced" "$(sort "$dir/out" | tr '\n' ' ')" "0 1 "
run 10 -np 1 sh -c 'ls -l /proc/self/fd | grep -c memfd; ls /proc/self/fd | wc -l'
check "ranks inherit the segment and nothing else" "$(tr '\n' ' ' < "$dir/out")" \
    "1 $(($(ls /proc/self/fd < /dev/null 2> /dev/null | wc -l) + 1)) "
check "nothing is left" "$(leftovers_soon)" 0
finish

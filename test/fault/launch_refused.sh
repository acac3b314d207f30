#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What cannot start, or cannot be written, ends with words and an exit code, not with silence or a signal.
. "$(dirname "$0")/launch.inc"
unset XMPI_LAUNCH_AGENT
agent='sh -c "{cmd}"'

# Files that may be open: less than four ranks need, down to what no loader of programs can do with.
whole=$XMPIRUN
few() # options of ulimit, seconds, arguments: the shell itself needs more
{
    printf '#!/bin/sh\nulimit %s && exec "%s" "$@"\n' "$1" "$whole" > "$dir/few"
    chmod +x "$dir/few"
    shift
    XMPIRUN=$dir/few run "$@"
    XMPIRUN=$whole
}
for files in 39 20 8 7 6 5 4; do
    few "-n $files" 10 -np 4 true
    check "4 ranks, $files open files" \
        "$code $(grep -c "limit is $files; .*raise it with .ulimit -n 40" "$dir/err")" "2 1"
done
few "-S -n 6" 10 -np 4 true
check "a soft limit is raised" $code 0
for files in 30 16 10 8 7 6 5; do
    XMPI_LAUNCH_AGENT=$agent few "-n $files" 20 -H a:1,b:1 true
    [ $code = 1 ] || [ $code = 2 ] && said=$(grep -c 'ulimit -n' "$dir/err") || said=
    check "two hosts, $files open files" "$said" 1
done
check "nothing is left of them" "$(leftovers_soon)" 0

# Programs of other machines: the number of the machine is in bytes 18 and 19.
header() { printf '\177ELF\002\001\001\000\000\000\000\000\000\000\000\000'; } # of 64 bits, the low byte first
case $(uname -m) in
aarch64) number='\076\000' theirs=x86-64 ours=AArch64 ;;
x86_64) number='\267\000' theirs=AArch64 ours=x86-64 ;;
*) number='\267\000' theirs=AArch64 ours= ;;
esac
{ header && printf '\002\000'"$number" && head -c 4096 /dev/zero; } > "$dir/foreign"
{ header && printf '\001\000' && dd if=/bin/sh bs=1 skip=18 count=2 2> /dev/null; } > "$dir/object"
printf 'some\000thing\necho no\n' > "$dir/data"
printf '#!%s\necho no\n' "$dir/foreign" > "$dir/script"
printf 'echo "a text $1"\n' > "$dir/text"
chmod +x "$dir/foreign" "$dir/object" "$dir/data" "$dir/script" "$dir/text"
refused() { # case, words, arguments
    name=$1 words=$2
    shift 2
    run 20 "$@"
    check "$name" "$code $(wc -l < "$dir/err") $(wc -c < "$dir/out")" "126 1 0"
    check_says "$name, and why" "$words"
}
refused "a program of another machine" "cannot run $dir/foreign: it is for $theirs, this machine is $ours" -np 2 "$dir/foreign"
XMPI_LAUNCH_AGENT=$agent refused "a program of another machine, on two hosts" "foreign: it is for $theirs" -H a:1,b:1 "$dir/foreign"
refused "an object file" "object: it is an object file" -np 2 "$dir/object"
refused "data" "data: it is neither a program of this system nor a script" -np 2 "$dir/data"
refused "an interpreter of another machine" "script: the interpreter" -np 2 "$dir/script"
run 10 -np 2 "$dir/text" b
check "a text without #! is a script" "$code $(sort -u "$dir/out")" "0 a text b"
(cd "$dir" && run 10 -np 1 ./foreign)
check "a name is told without dots" "$(grep -c "/launch_refused/foreign: " "$dir/err")" 1

# Output that nobody can have.
env "$mark" timeout 10 "$XMPIRUN" -np 2 echo x 2> "$dir/err" < /dev/null >&-
check "stdout is closed" "$? $(grep -c 'cannot write to stdout: it is closed' "$dir/err")" "1 1"
env "$mark" timeout 10 "$XMPIRUN" -np 2 true 2> "$dir/err" < /dev/null >&-
check "and nothing is printed" "$? $(wc -l < "$dir/err")" "0 0"
env "$mark" timeout 10 "$XMPIRUN" -np 2 sh -c 'echo x >&2' < /dev/null 2>&-
check "stderr is closed" $? 1
env "$mark" timeout 10 "$XMPIRUN" -np 2 cat 2> "$dir/err" > "$dir/out" <&-
check "stdin is closed" "$? $(cat "$dir/out" "$dir/err")" "0 "
for hosts in "-np 2" "-H a:1,b:1"; do
    XMPI_LAUNCH_AGENT=$agent XMPI_TRACE=/dev/full run 20 $hosts true
    check "a time line that cannot be written, $hosts" "$code $(grep -c '/dev/full: cannot write' "$dir/err")" "1 1"
done

# What is wrong with several hosts is told on one, which it does no harm.
XMPI_HOST_TIMEOUT=abc XMPI_START_TIMEOUT=0 run 10 -np 2 true
check "parameters of several hosts on one" \
    "$code $(grep -c 'XMPI_HOST_TIMEOUT=abc: expected seconds\|XMPI_START_TIMEOUT=0: expected seconds' "$dir/err")" "0 2"

# A directory that is gone.
mkdir "$dir/gone"
(cd "$dir/gone" && rmdir ../gone && XMPI_LAUNCH_AGENT=$agent run 20 -H a:1,b:1 true; exit $code)
check "a directory that is gone, on two hosts" $? 1
check_says "and the remedy" "the directory where xmpirun was started does not exist any more; -wdir"
mkdir "$dir/gone"
(cd "$dir/gone" && rmdir ../gone && XMPI_LAUNCH_AGENT=$agent run 20 -H a:1,b:1 -wdir "$dir" true; exit $code)
check "which helps" $? 0
check "nothing is left" "$(leftovers_soon)" 0
finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Jobs on several hosts.  Hosts are names for this machine (agent: a shell), and network namespaces
# where those can be made.  ONLY="start faults ..." runs some of the parts.
. "${srcdir:-.}/test/lib.sh"
XMPI_SCRATCH=$scratch
. "$top/test/fault/launch.inc"
here=$(hostname)
here_agent='sh -c "{cmd}"' namespace_agent='ip netns exec {host} {cmd}'
export XMPI_LAUNCH_AGENT="$here_agent"

program() { compile -I"$top" -o "$scratch/$1" "$2" -lm || { not_ok "$1" "does not compile"; exit 1; }; }
program ends "$top/test/network/hosts.c"

# Every process of the jobs of this test (not the shell's own); the guardians carry the mark as well.
processes() { grep -lsa "$mark" /proc/[0-9]*/environ 2> /dev/null | sed 's|/proc/||; s|/environ||' | sort -n; }

# Those whose command is these words (a regular expression).
with_command() {
    ps -ww -o pid=,args= -p "1$(processes | sed 's/^/,/' | tr -d '\n')" | sed -n "s|^ *\([0-9]*\) $1\$|\1|p"
}

# The process id of some rank, of the xmpid of host NUMBER.
rank_of() { with_command "$1.*" | head -n 1; } # program
daemon_of() { with_command "[^ ]*xmpid --root.*--host $1" | head -n 1; }

agents_sleep() { [ "$(with_command 'sleep 30' | wc -l)" = "$1" ]; }

await_words() { await 60 grep -qs -- "$2" "$1"; } # file, words

part_start() # who runs where, streams, exit codes
{
    run 30 -H a:2,b:2 "$scratch/ends"
    check "two hosts" "$code $(sort "$dir/out" | tr '\n' ' ')" \
        "0 rank 0 of 4, 2 here rank 1 of 4, 2 here rank 2 of 4, 2 here rank 3 of 4, 2 here "
    run 30 -H "$here:1,b:2,c:1" "$scratch/ends"
    check "three, this one among them" "$code $(sort "$dir/out" | tr '\n' ' ')" \
        "0 rank 0 of 4, 1 here rank 1 of 4, 2 here rank 2 of 4, 2 here rank 3 of 4, 1 here "
    run 30 -ppn 1 -H a,b,c "$scratch/ends"
    check "one on each" "$code $(grep -c '1 here' "$dir/out")" "0 3"
    run 30 -np 2 -H a:2,b:2 "$scratch/ends"
    check "a host without ranks" "$code $(grep -c 'of 2, 2 here' "$dir/out")" "0 2"
    run 30 -np 4 --map-by node -H a,b sh -c 'echo $RANK $LOCAL_RANK $LOCAL_WORLD_SIZE $WORLD_SIZE'
    check "variables" "$code $(sort "$dir/out" | tr '\n' ';')" "0 0 0 2 4;1 0 2 4;2 1 2 4;3 1 2 4;"
    run 30 --map-by ppr:2:node -H a,b sh -c 'echo $RANK $LOCAL_RANK'
    check "two on each" "$code $(sort "$dir/out" | tr '\n' ';')" "0 0 0;1 1;2 0;3 1;"
    run 30 -H a:2,b:2 --report-bindings true
    check "each host tells its bindings" "$code $(sort "$dir/err" | cut -c 1-10 | tr '\n' ';')" \
        "0 rank 0 is ;rank 1 is ;rank 2 is ;rank 3 is ;"
    run 30 -H a:2,b:2 --tag-output sh -c 'echo out; echo err >&2'
    check "tags" "$code $(sort "$dir/out" | tr '\n' ';') $(sort "$dir/err" | tr '\n' ';')" \
        "0 [1,0]<stdout>:out;[1,1]<stdout>:out;[1,2]<stdout>:out;[1,3]<stdout>:out; [1,0]<stderr>:err;[1,1]<stderr>:err;[1,2]<stderr>:err;[1,3]<stderr>:err;"
    run 60 -H a:2,b:2 sh -c 'i=0; while [ $i -lt 5000 ]; do echo "$RANK line $i of many"; i=$((i + 1)); done'
    check "no line is torn or lost" "$code $(sort "$dir/out" | uniq | grep -c '^[0-3] line [0-9]* of many$')" "0 20000"
    got=$(seq 100000 | timeout 30 "$XMPIRUN" -H a:1,b:1 sh -c '[ $RANK = 1 ] || sum=$(cksum); echo $RANK $sum' | sort | tr '\n' ';')
    check "input for a rank elsewhere" "$got" "0 $(seq 100000 | cksum);1;"
    for hosts in a:1,b:2 "$here:2,b:1"; do
        got=$(seq 100000 | timeout 30 "$XMPIRUN" -H $hosts --stdin all cksum | uniq -c | tr -s ' ')
        check "input for all, $hosts" "$got" " 3 $(seq 100000 | cksum)"
    done
    env "$mark" timeout -k 1 10 "$XMPIRUN" -H a:1,b:1 --stdin all head -c 10 < /dev/zero > "$dir/out"
    check "input without an end that no rank reads on is left" "$? $(wc -c < "$dir/out")" "0 20"
    run 30 -H a:2,b:2 sh -c 'exit $RANK'
    check "exit codes" "$([ $code -ge 1 ] && [ $code -le 3 ] && echo good)" good
    run 30 -H a:2,b:2 -wdir /tmp pwd
    check "directory" "$code $(grep -c '^/tmp$' "$dir/out")" "0 4"
    run 30 -H a:2,b:2 -x COLOUR=red sh -c 'echo $COLOUR'
    check "environment" "$code $(grep -c red "$dir/out")" "0 4"
    A=1 B=2 run 30 -H a:1,b:1 --genvlist PATH,A,B sh -c 'echo $A$B'
    check "several variables" "$code $(grep -c '^12$' "$dir/out")" "0 2"
    run 30 -H a:1,b:1 --output "tag,file=$dir/of.%r" echo x
    check "several words of --output" "$code $(grep -l x "$dir"/of.[01] | wc -l) $(wc -l < "$dir/out")" "0 2 0"
    printf '# two hosts\nn[1-2] slots=2 max_slots=2\n' > "$scratch/hostfile"
    run 30 -hostfile "$scratch/hostfile" sh -c 'echo $RANK $LOCAL_RANK'
    check "a host file with a range" "$code $(sort "$dir/out" | tr '\n' ';')" "0 0 0;1 1;2 0;3 1;"
    got=$(SLURM_JOB_ID=1 SLURM_JOB_NODELIST='n[1-2]' SLURM_TASKS_PER_NODE='1(x2)' SLURMD_NODENAME=n1 \
        timeout 30 "$XMPIRUN" sh -c 'echo $RANK $LOCAL_RANK' | sort | tr '\n' ';')
    check "the hosts of a batch system" "$got" "0 0;1 0;"
    cores=$("$XMPIRUN" --dry-run -np 1 true | sed -n 's/.*: cores \([0-9]*\),.*/\1/p')
    run 30 -v -H "a:$cores,b:1" true
    if grep -q "by cgroup quota" "$dir/err"; then
        echo "skip launch: hosts that share CPUs: there is a quota, of which each host might have its own"
    else
        check "hosts that share CPUs know it" "$code $(grep -c 'with those of other hosts or jobs more ranks than cores' "$dir/err")" "0 2"
    fi
    got=$(printf -- '-np 1 sh -c "echo one $RANK"\n-np 1 sh -c "echo two $RANK"\n' |
        timeout 30 "$XMPIRUN" -H a:1,b:1 -configfile /dev/stdin 2>&1 | sort | tr '\n' ';')
    check "programs from a file that other hosts do not have" "$got" "one 0;two 1;"
    run 30 --dry-run -H a:2,b:2 "$scratch/ends"
    check "dry run" "$code $(grep -c ' a \| b ' "$dir/out") $(leftovers_soon)" "0 4 0"
    run 30 --dry-run -H a,b --map-by ppr:1:core --bind-to core "$scratch/ends"
    check "dry run, as many ranks as cores" "$code $(sed -n 's/.*cores \([0-9]*\),.*ranks \([0-9]*\),.*/\1=\2/p' \
        "$dir/out" | awk -F= '{ good += $1 == $2 } END { print good }') $(grep -c '\[ .*[0-9] \]' "$dir/out")" "0 2 2"
}

# node NUMBER ARGUMENTS...: its xmpirun, output in $scratch/node.NUMBER, the exit code behind it.
node()
{
    number=$1
    shift
    {
        env "$mark" timeout -k 1 40 "$XMPIRUN" --node-rank "$number" --master-addr localhost --master-port "$port" "$@" < /dev/null
        echo "exit $?"
    } > "$scratch/node.$number.$(date +%N)" 2>&1 &
}
nodes_end() # sets said
{
    wait
    said=$(cat "$scratch"/node.* | sort | tr '\n' ';')
    rm -f "$scratch"/node.*
}

part_gather() # an xmpirun on every host, started by the user
{
    port=$(free_port)
    four="rank 0 of 4, 2 here;rank 1 of 4, 2 here;rank 2 of 4, 2 here;rank 3 of 4, 2 here;"
    node 1 --nnodes 2 --nproc-per-node 2 "$scratch/ends"
    sleep 0.5
    node 0 --nnodes 2 --nproc-per-node 2 "$scratch/ends"
    nodes_end
    check "gather: node 0 comes last" "$said" "exit 0;exit 0;$four"
    for number in 0 1 2; do
        COLOUR=$number node $number --nnodes 3 sh -c 'echo $RANK $LOCAL_RANK $WORLD_SIZE $COLOUR'
    done
    nodes_end
    check "gather: each with its own environment" "$said" "0 0 3 0;1 0 3 1;2 0 3 2;exit 0;exit 0;exit 0;"
    for number in 0 1; do node $number --nnodes 2 --nproc-per-node 2 "$scratch/ends" exit; done
    nodes_end
    check "gather: a failure on node 1 fails all" "$(echo "$said" | grep -c 'exit 3;exit 3;.*node1: rank 2 .* exited with code 3')" 1
    for number in 0 1; do node $number --nnodes 2 "${PYTHON3:-python3}" -c 'import os, socket, time
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
if os.environ["RANK"] == "0":
    s.bind(("", int(os.environ["MASTER_PORT"])))
    s.listen()
    s.accept()
else:
    for attempt in range(100):
        try:
            s.connect((os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])))
            break
        except OSError:
            time.sleep(0.05)
    else:
        raise SystemExit("nobody listens")'
    done
    nodes_end
    check "gather: the program can use the port" "$said" "exit 0;exit 0;"
    XMPI_SECRET=right node 0 --nnodes 2 true
    XMPI_SECRET=wrong node 1 --nnodes 2 true
    sleep 2
    XMPI_SECRET=right node 1 --nnodes 2 true
    nodes_end
    check "gather: a wrong secret is refused" "$(echo "$said" | grep -c 'exit 0;exit 0;exit 1;.*node 0 .* does not know us.*refused a connection')" 1
    node 0 --nnodes 3 true
    node 1 --nnodes 2 true
    sleep 0.5
    began=$(now_ms)
    node 2 --nnodes 3 true
    nodes_end
    check "gather: nodes that disagree about --nnodes all say so" "$(echo "$said" | grep -c '^exit 1;exit 1;exit 1;') $(echo "$said" |
        tr ';' '\n' | grep -c 'node1 was started with --nnodes 2, node 0 with --nnodes 3')" "1 3"
    took=$(($(now_ms) - began)) # the third one came too late, but before node 0 went
    check "gather: and soon" "$([ $took -lt 20000 ] && echo yes || echo $took)" yes
    XMPI_START_TIMEOUT=1.5 run 30 --nnodes 2 --node-rank 1 --master-addr localhost --master-port "$port" true
    check "gather: the user's patience" "$code $(grep -c 'node 0 was not to be reached within 2 s at ' "$dir/err")" "1 1"
    for words in "" "yes y"; do # a terminal where nobody types, and input
        took=$(now_ms)
        said=$({ [ -z "$words" ] && sleep 12 & [ -z "$words" ] || exec timeout 12 $words; } 2> /dev/null |
            { XMPI_START_TIMEOUT=1 timeout 10 "$XMPIRUN" --nnodes 2 --node-rank 0 --master-addr localhost --master-port "$port" true 2>&1
            echo "exit $? after $((($(now_ms) - took) / 7000))"; })
        check "gather: a node that does not come, stdin of ${words:-nothing}" "$(echo "$said" | grep -c 'no xmpirun has called') $(echo "$said" | tail -n 1)" "1 exit 1 after 0"
    done
    for wrong in 0 x -1; do
        XMPI_START_TIMEOUT=$wrong run 30 --nnodes 2 --node-rank 1 --master-addr localhost --master-port "$port" true
        check "gather: no patience: $wrong" "$code $(grep -c "XMPI_START_TIMEOUT=$wrong: expected seconds" "$dir/err")" "2 1"
        XMPI_START_TIMEOUT=$wrong run 30 -H a,b true
        check "no patience: $wrong" "$code" 2
    done
    show='echo $RANK $LOCAL_RANK $LOCAL_WORLD_SIZE $WORLD_SIZE'
    node 0 --nnodes 3 --nproc-per-node 1 sh -c "$show"
    node 1 --nnodes 3 --nproc-per-node 3 sh -c "$show"
    node 2 --nnodes 3 sh -c "$show"
    nodes_end
    check "gather: nodes with different numbers of ranks" "$said" \
        "0 0 1 5;1 0 3 5;2 1 3 5;3 2 3 5;4 0 1 5;exit 0;exit 0;exit 0;"
    node 0 --nnodes 2 -np 2 true
    node 1 --nnodes 2 -np 3 true
    nodes_end
    check "gather: nodes that disagree about -np all say so" "$(echo "$said" | grep -c '^exit 1;exit 1;') $(echo "$said" |
        tr ';' '\n' | grep -c 'node1 was started with -np 3, node 0 with -np 2')" "1 2"
    for number in 0 1; do node $number --nnodes 2 --nooversubscribe --nproc-per-node 99999 true; done
    nodes_end
    check "gather: what node 0 refuses is an error on all" "$(echo "$said" | grep -c '^exit 2;exit 2;') $(echo "$said" |
        tr ';' '\n' | grep -c '199998 ranks, but')" "1 2"
    node 2 --nnodes 2 true
    nodes_end
    check "gather: a node too many" "$(echo "$said" | grep -c 'exit 2;.*must be less than --nnodes 2')" 1
    run 10 --nnodes 2 --node-rank 0 true
    check "gather: without an address" "$code" 2
    run 10 --nnodes 1 --node-rank 0 --nproc-per-node 2 sh -c 'echo $RANK'
    check "gather: one node is no gathering" "$code $(sort "$dir/out" | tr '\n' ';') $(leftovers_soon)" "0 0;1; 0"
}

part_master() # how frameworks find rank 0
{
    where='echo $MASTER_ADDR $MASTER_PORT'
    run 30 -np 2 sh -c "$where"
    check "MASTER_ADDR, one host" "$(sort -u "$dir/out" | grep -c '^127.0.0.1 [0-9]*$')" 1
    run 30 -H a:1,b:1 sh -c "$where"
    check "MASTER_ADDR, two hosts" "$(sort -u "$dir/out" | grep -c '^[0-9a-f.:]* [0-9]*$')" 1
    MASTER_ADDR=me MASTER_PORT=1 run 30 -H a:1,b:1 sh -c "$where"
    check "what the user has set" "$(sort -u "$dir/out")" "me 1"
    MASTER_ADDR=me run 30 -H a:1,b:1 --master-addr you --master-port 2 -x MASTER_PORT=3 sh -c "$where"
    check "what options say" "$(sort -u "$dir/out")" "you 2"
    MASTER_PORT=1 run 30 -np 2 --master-port auto sh -c "$where"
    check "a free port" "$(sort -u "$dir/out" | grep -c '^127.0.0.1 [0-9][0-9]*$') $(grep -c ' 1$' "$dir/out")" "1 0"
    run 30 -np 1 "$XMPIRUN" -np 1 --pmix=never sh -c "$where"
    check "a job inside a rank" "$code $(grep -c 127.0.0.1 "$dir/out")" "0 1"
}

part_errors() # what the user did wrong, or the hosts
{
    run 30 --launch-agent 'echo no route to {host} >&2; exit 255; {cmd}' -H a,b true
    check "an agent that fails" "$code" 1
    check_says "its words" "host [ab]: the launch agent exited with code 255 before xmpid came: no route to"
    run 30 --launch-agent 'ssh {host}' -H a,b true
    check "an agent without a command" "$code" 2
    run 30 -H 'a;reboot,b' true
    check "a host that is no word" "$code" 2
    run 30 -H a:1,b:1 /no/such/program
    check "no such program" "$code" 127
    run 30 -H a:1,b:1 --stdin 2 true
    check "no such reader of stdin" "$code $(leftovers_soon)" "2 0"
    check_says "how many ranks there are" "no such rank, the job has 2"
    run 30 -H a:1,b:1 --nnodes 3 true
    check "more nodes than hosts" "$code" 2
    run 30 --launch-agent '{cmd} < /dev/null' -H a,b true
    check "an agent that keeps the secret" "$code" 1
    check_says "says so" "no secret on its stdin"
    run 30 --launch-agent '(read s; echo 00000000000000000000000000000000) | {cmd}' -H a true
    check "a wrong secret" "$code" 1
    cat > "$scratch/silent.py" <<'END'
import re, socket, subprocess, sys
port = int(re.search(r":([0-9]+) --host", sys.argv[1]).group(1))
silent = [socket.create_connection(("127.0.0.1", port)) for i in range(300)]
sys.exit(subprocess.call(sys.argv[1], shell=True))
END
    run 30 --launch-agent "${PYTHON3:-python3} $scratch/silent.py \"{cmd}\"" -H a,b sh -c 'echo $RANK'
    check "callers that say nothing keep nobody out" "$code $(sort "$dir/out" | tr '\n' ';') $(grep -c 'it has said nothing' "$dir/err")" "0 0;1; 1"
    cat > "$scratch/slow.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>
ssize_t recv(int fd, void *text, size_t room, int flags)
{
    static int slept;
    ssize_t (*real)(int, void *, size_t, int) = (ssize_t(*)(int, void *, size_t, int))dlsym(RTLD_NEXT, "recv");
    if (!slept++)
        sleep(4);
    return real(fd, text, room, flags);
}
END
    cat > "$scratch/callers" <<END
#!/bin/sh
[ \$1 = a ] && shift && LD_PRELOAD=$scratch/slow.so exec "\$@"
shift
sleep 1
sed 's/range(300)/range(256)/' "$scratch/silent.py" > "$scratch/fewer.py"
exec "${PYTHON3:-python3}" "$scratch/fewer.py" "\$*"
END
    chmod +x "$scratch/callers"
    "${XMPI_TEST_CC:-gcc}" -shared -fPIC -o "$scratch/slow.so" "$scratch/slow.c" -ldl
    run 30 --launch-agent "$scratch/callers {host} {cmd}" -H a,b sh -c 'echo $RANK'
    check "nor do they send away a host that is slow to speak" "$code $(sort "$dir/out" | tr '\n' ';')" "0 0;1;"
    got=$(ulimit -Sn 64; timeout 30 "$XMPIRUN" --fanout 60 -H $(seq -s , -f h%g 60) sh -c 'echo $RANK' 2>&1 < /dev/null | sort -n | tr '\n' ' ')
    check "the soft limit of open files is raised" "$got" "$(seq -s ' ' 0 59) "
    got=$(ulimit -n 108; XMPI_START_TIMEOUT=4 timeout 30 "$XMPIRUN" --fanout 60 -H $(seq -s , -f h%g 35) true 2>&1 < /dev/null
        times > "$scratch/times")
    check "the hard one is named" "$(echo "$got" | grep -c 'Too many open files')" 1
    used=$(awk 'NR == 2 { gsub(/[ms]/, " "); print ($1 * 60 + $2 + $3 * 60 + $4 < 2 ? "little" : $0) }' "$scratch/times")
    check "it rests until there may be one" "$used" little
    start --launch-agent 'sleep 30; : {cmd}' -H a,b true
    await 20 agents_sleep 2
    kill -TERM "$pid"
    collect
    check "SIGTERM while it waits for hosts" "$code $(leftovers_soon)" "143 0"
    for agent in 'sleep 30; : {cmd}' '(sleep 30; :); : {cmd}'; do # the second one is a child of the agent
        start --launch-agent "$agent" -H a,b true
        await 20 agents_sleep 2
        kill -KILL "$pid"
        collect
        check "SIGKILL while it waits for hosts, $agent" "$code $(leftovers_soon)" "137 0"
    done
    word=$(head -c 120000 /dev/zero | tr '\0' x)
    i=0
    while [ $i -lt 600 ]; do echo "-np 1 true $word"; i=$((i + 1)); done > "$scratch/long"
    run 30 -H a,b -configfile "$scratch/long"
    check "a command line of 72 MB" "$code $(leftovers_soon)" "2 0"
    check_says "is too long" "what other hosts are told of this job is 72[0-9]* bytes"
    rm "$scratch/long"
    printf 'a slots=2\nb slots=x\n' > "$scratch/hostfile"
    run 30 -hostfile "$scratch/hostfile" true
    check "a host file with a mistake" "$code" 2
    check_says "where and what" "hostfile:2: slots=x: expected a number"
    printf 'a max_slots=1\nb max_slots=1\n' > "$scratch/hostfile"
    run 30 -np 3 -hostfile "$scratch/hostfile" true
    check "more ranks than max_slots" "$code" 2
    run 30 --nooversubscribe -np 9 -H a:2,b:2 true
    check "not enough slots" "$code" 2
}

# Hosts that never come.  These jobs wait, so they begin with the script.
late_begin()
{
    late_port=$(free_port)
    late agent 60 --launch-agent 'echo asleep; : {cmd}' -H a:1,b:1 true
    late limit 60 --timeout 2 --launch-agent 'sleep 30; : {cmd}' -H a true
    late first 60 --timeout 7 --nnodes 3 --node-rank 0 --master-addr localhost --master-port "$late_port" true
    late second 60 --timeout 7 --nnodes 2 --node-rank 1 --master-addr localhost --master-port "$(free_port)" true
}
late() # name, seconds, arguments of xmpirun
{
    name=$1 limit=$2
    shift 2
    {
        timeout "$limit" "$XMPIRUN" "$@" 2>&1 < /dev/null
        echo "exit $?"
    } > "$scratch/late.$name" &
}
part_late()
{
    for name in agent limit first second; do
        await_words "$scratch/late.$name" "^exit"
        cp "$scratch/late.$name" "$dir/err"
        case $name in
        agent) words="host [ab]: the launch agent exited with code 0 10 s ago, and no xmpid has called.* says: asleep exit 1" ;;
        limit) words="host a: no xmpid has called within 2 s exit 124" ;;
        first) words="waiting for node1, node2 to call at port $late_port, .*host node1: no xmpirun has called within 7 s exit 124" ;;
        second) words="waiting for node 0, which .*, for 7 s .*node 0 was not to be reached within 7 s at .*refused; .* has ended already, .* exit 1" ;;
        esac
        check "who never comes: $name" "$(tr '\n' ' ' < "$scratch/late.$name" | grep -c "$words \$")" 1
    done
}

# A host in the second row is lost when all have called and xmpirun has not yet told them the job, which it
# does after looking for a port for rank 0: its second bind.
lost_between()
{
    cat > "$scratch/between.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/socket.h>
int bind(int fd, const struct sockaddr *address, socklen_t bytes)
{
    static int calls;
    int (*real)(int, const struct sockaddr *, socklen_t) =
        (int (*)(int, const struct sockaddr *, socklen_t))dlsym(RTLD_NEXT, "bind");
    if (++calls == 2 && system("unset LD_PRELOAD; : > $BETWEEN; while [ -e $BETWEEN ]; do sleep 0.1; done"))
        return -1;
    return real(fd, address, bytes);
}
END
    "${XMPI_TEST_CC:-gcc}" -shared -fPIC -o "$scratch/between.so" "$scratch/between.c" -ldl
    BETWEEN=$scratch/between LD_PRELOAD=$scratch/between.so start --timeout 10 --fanout 1 -H a:1,b:1 sleep 30
    await 20 test -e "$scratch/between"
    kill -9 "$(daemon_of 1)"
    sleep 0.5
    rm -f "$scratch/between"
    collect
    check "a host is lost before it has heard of the job" "$code $(grep -c 'a: host b: ' "$dir/err") $(grep -c 'time limit' "$dir/err") $(leftovers_soon)" "1 1 0 0"
}

part_faults() # whoever dies: the first cause is told, nothing is left
{
    run 30 -H a:2,b:2 "$scratch/ends" exit
    check "a rank exits" "$code" 3
    check_says "who and where" "b: rank 2 .* exited with code 3 without calling MPI_Finalize"
    run 30 -H a:2,b:2 "$scratch/ends" killed
    check "a rank is killed" "$code $(grep -c rank "$dir/err")" "137 1"
    run 30 -H a:2,b:2 "$scratch/ends" abort
    check "MPI_Abort" "$code" 7
    run 30 --keep-going -H a:2,b:2 "$scratch/ends" abort
    check "MPI_Abort ends what else keeps going" "$code" 7
    run 30 -H a:1,b:1 sh -c '[ $RANK = 0 ] || exit 3; sleep 1; echo still here'
    check "who is not in MPI stops nobody" "$code $(cat "$dir/out")" "3 still here"
    run 30 -H a:1,b:1 sh -c '[ $RANK = 0 ] || exit 0; exec "$0"' "$scratch/ends"
    check "who does not come to MPI is not waited for" "$code" 1
    check_says "it is named" "rank 1 ended without calling MPI_Init"
    run 30 -H a:1,b:1 sh -c '[ $RANK = 0 ] || exit 3; exec "$0"' "$scratch/ends"
    check "who fails before MPI is not waited for" "$code" 3
    run 30 --keep-going -H a:2,b:2 "$scratch/ends" survive
    check "survivors are told" "$code $(sort "$dir/out" | grep -c 'rank 2 is gone')" "137 3"
    for victim in xmpid agent xmpirun; do
        rm -f "$scratch/begun"
        BEGUN=$scratch/begun start -H a:2,b:2 "$scratch/ends" wait
        await_lines "$scratch/begun" 4
        case $victim in
        xmpid) kill -9 "$(daemon_of 1)" ;;
        agent) pkill -9 -P "$pid" sh ;;
        xmpirun) kill -9 "$pid" ;;
        esac
        began=$(now_ms)
        collect
        check "$victim is killed: an error" "$([ "$code" -gt 0 ] && echo yes)" yes
        check "$victim is killed: nothing is left" "$(leftovers_soon)" 0
        took=$(($(now_ms) - began))
        check "$victim is killed: soon" "$([ $took -lt 5000 ] && echo yes || echo $took)" yes
    done
    lost_between
    run 30 --timeout 1 -H a:1,b:1 sleep 30
    check "time limit" "$code $(leftovers_soon)" "124 0"
    rm -f "$scratch/begun"
    BEGUN=$scratch/begun start -H a:2,b:2 "$scratch/ends" wait
    await_lines "$scratch/begun" 4
    for asked in "$pid" "$(daemon_of 1)" "$(rank_of "$scratch/ends")"; do
        "$XMPIRUN" --status "$asked" > "$dir/out" 2>&1
        check "--status shows the ranks of all hosts" \
            "$(grep -c "^job .* (xmpirun is pid $pid), 4 ranks:\$" "$dir/out") $(grep -c '^    rank [0-3] (pid [0-9]*): MPI_Recv' "$dir/out")" "1 4"
    done
    kill -STOP "$pid"
    "$XMPIRUN" --status "$(daemon_of 1)" > "$dir/out" 2>&1
    check "--status shows those here when xmpirun does not answer" \
        "$(grep -c '^job .*: 2 of its 4 ranks are on this host:$' "$dir/out") $(grep -c '^    rank [0-3] (pid ' "$dir/out")" "1 2"
    kill -CONT "$pid"
    kill -TERM "$pid"
    collect
    check "SIGTERM" "$code $(leftovers_soon)" "143 0"
}

part_tree() # hosts that start hosts
{
    seven=a:2,b:1,c:1,d:2,e:1,f:1,g:2 # a starts b, c (and c d), e starts f, g
    run 60 --fanout 2 -H $seven "$scratch/ends"
    check "seven hosts, two each" "$code $(grep -c 'of 10, [12] here' "$dir/out")" "0 10"
    run 60 --fanout 1 -H a,b,c,d sh -c 'echo $RANK'
    check "a chain of four" "$code $(sort "$dir/out" | tr '\n' ' ')" "0 0 1 2 3 "
    run 60 --fanout 2 -np 2 -H $seven sh -c 'echo $RANK'
    check "most without ranks" "$code $(sort "$dir/out" | tr '\n' ' ')" "0 0 1 "
    run 60 --fanout 2 -H $seven sh -c 'i=0; while [ $i -lt 2000 ]; do echo "$RANK line $i of many"; i=$((i + 1)); done'
    check "lines through others" "$code $(sort -u "$dir/out" | grep -c '^[0-9] line [0-9]* of many$')" "0 20000"
    for who in all 5; do
        got=$(seq 100000 | timeout 30 "$XMPIRUN" --fanout 2 --stdin $who -H $seven \
            sh -c '[ $1 != all ] && [ $1 != $RANK ] || cksum' - $who | sort | uniq -c | tr -s ' ')
        check "input for $who" "$got" " $([ $who = all ] && echo 10 || echo 1) $(seq 100000 | cksum)"
    done
    run 30 --fanout 2 --launch-agent 'case {host} in d) echo no route to {host} >&2; exit 255;; esac; {cmd}' -H $seven true
    check "an agent that fails far away" "$code $(leftovers_soon) $(wc -l < "$dir/err")" "1 0 1"
    check_says "its words" "host d: the launch agent exited with code 255 before xmpid came: no route to d"
    run 30 --fanout 2 -H $seven -wdir /no/such/directory true
    check "no such directory" "$([ $code -gt 0 ] && echo error) $(leftovers_soon)" "error 0"
    for victim in rank a d g; do
        rm -f "$scratch/begun"
        BEGUN=$scratch/begun start --fanout 2 -H $seven "$scratch/ends" wait
        await_lines "$scratch/begun" 10
        case $victim in
        rank) kill -9 "$(rank_of "$scratch/ends")" ;;
        *) kill -9 "$(daemon_of $(expr index abcdefg $victim - 1))" ;;
        esac
        began=$(now_ms)
        collect
        check "$victim is killed: an error" "$([ "$code" -gt 0 ] && echo yes)" yes
        [ $victim = rank ] || check_says "$victim is killed: named" "host $victim is lost"
        check "$victim is killed: one cause" "$(wc -l < "$dir/err")" 1
        check "$victim is killed: nothing is left" "$(leftovers_soon)" 0
        took=$(($(now_ms) - began))
        check "$victim is killed: soon" "$([ $took -lt 15000 ] && echo yes || echo $took)" yes
    done
    rm -f "$scratch/begun"
    BEGUN=$scratch/begun start --fanout 1 --keep-going -H a:1,b:1,c:1 "$scratch/ends" survive
    await_lines "$scratch/begun" 3
    kill -9 "$(daemon_of 2)"
    collect
    check "a host is lost, the others keep going" "$code $(grep -c 'rank 2 is gone' "$dir/out") $(leftovers_soon)" "1 2 0"
    check_says "it is told" "host c is lost: .*; going on without its ranks"
}

stay() { with_command "sleep 31" | xargs -r ps -o stat= -p | grep -c "^$1"; } # STATE of sleeping ranks
stays() { [ "$(stay "$1")" = "$2" ]; } # STATE, how many
await_states() { await 30 stays "$1" "$2"; stay "$1"; }

part_signals() # of the user, for ranks two steps away
{
    start --fanout 1 -H a:1,b:1,c:1 sleep 31
    check "ranks sleep" "$(await_states S 3)" 3
    kill -TSTP "$pid"
    check "SIGTSTP stops all ranks" "$(await_states T 3)" 3
    kill -CONT "$pid"
    check "SIGCONT continues them" "$(await_states S 3)" 3
    kill -INT "$pid"
    collect
    check "SIGINT ends them" "$code $(leftovers_soon)" "130 0"
    start --fanout 1 -H a:1,b:1,c:1 sh -c 'trap "echo got; exit 0" USR1; echo ready; while :; do sleep 0.05; done'
    await_lines "$dir/out" 3
    kill -USR1 "$pid"
    collect
    check "SIGUSR1 reaches all" "$code $(grep -c got "$dir/out")" "0 3"
    start --fanout 1 -H a:1,b:1,c:1 sh -c 'trap "" INT TERM; echo ready; while :; do sleep 0.05; done'
    await_lines "$dir/out" 3
    kill -INT "$pid"
    await_taken
    kill -INT "$pid"
    collect
    check "the second SIGINT kills" "$code $(leftovers_soon)" "130 0"
    start --timeout 30 --fanout 1 -H a:1,b:1,c:1 sh -c 'trap "" TERM; echo ready; while :; do sleep 0.05; done'
    await_lines "$dir/out" 3
    kill -TERM "$pid"
    collect
    check "who ignores SIGTERM is killed after a while" "$code $(leftovers_soon)" "143 0"
}

# FAULTS times (6): a job over 3 to 5 hosts in a tree, and at a random moment some process of it is
# killed.  It ends, the first line names the cause, nothing is left.  SEED=N makes the same choices.
part_random()
{
    seed=${SEED:-1} bad=0 hits=0 round=0
    mkdir -p "$scratch/tmp"
    while [ $round -lt "${FAULTS:-6}" ]; do
        round=$((round + 1))
        random_fault || bad=$((bad + 1))
    done
    check "random faults: bad ends of $round jobs (seed ${SEED:-1}, $hits processes hit)" $bad 0
    [ $round -lt 3 ] || check "random faults: somebody was hit" "$([ $hits -gt 0 ] && echo yes)" yes
    check "random faults: files that are left" "$(ls -A "$scratch/tmp" | wc -l)" 0
}

draw() { # LIMIT: sets drawn to 0 .. LIMIT-1
    seed=$(((seed * 1103515245 + 12345) & 0x7fffffff))
    drawn=$((seed / 65536 % $1))
}

random_fault()
{
    draw 3; nhosts=$((3 + drawn))
    draw 3; fanout=$((1 + drawn))
    draw 20; delay=$drawn
    names=$(echo a b c d e | cut -d ' ' -f "1-$nhosts")
    TMPDIR=$scratch/tmp XDG_RUNTIME_DIR=$scratch/tmp start --timeout 60 --fanout $fanout --map-by node \
        -np $((nhosts * 2)) -H "$(echo $names | tr ' ' ,)" "$scratch/ends" work
    sleep "$(printf '0.%02d' $((delay * 5)))"
    list=$(processes)
    draw $(($(echo "$list" | wc -l) + 1))
    victim=$(echo "$list" | sed -n "$((drawn + 1))p")
    expected=$(cause_of "${victim:-0}") # before it is killed
    [ -n "$victim" ] && kill -9 "$victim" 2> /dev/null && hits=$((hits + 1))
    began=$(now_ms)
    collect
    took=$(($(now_ms) - began))
    wrong=
    [ $took -lt 40000 ] || wrong="took $took ms"
    [ "$(leftovers_soon)" = 0 ] || [ "$(sleep 3; leftovers)" = 0 ] || wrong="$wrong; $(leftovers) processes left"
    [ "$code" = 0 ] || [ "$expected" = . ] || head -n 1 "$dir/err" | grep -q -- "$expected" || wrong="$wrong; not named"
    [ "$code" = 0 ] && [ -n "$victim" ] && [ "$expected" != . ] && [ -s "$dir/err" ] && wrong="$wrong; code 0"
    [ -z "$wrong" ] && return 0
    echo "    | round $round, $nhosts hosts, fanout $fanout, pid $victim: $wrong; expected $expected, code $code"
    sed 's/^/    | /' "$dir/err" | head -n 5
    return 1
}

# What the first line must say when this process is killed; "." for anything.
cause_of() { # pid
    words=$(cat "/proc/$1/cmdline" 2> /dev/null | tr '\0' ' ')
    case $words in
    "$scratch/ends"*) echo "pid $1) was killed by signal 9" ;;
    *xmpid*--host*)
        number=$(echo "$words" | sed 's/.*--host \([0-9]*\).*/\1/')
        name=$(echo $names | cut -d ' ' -f $((number + 1)))
        is_guardian "$1" && echo . || echo "host $name" ;;
    *) echo . ;; # xmpirun itself: nobody is left to say it
    esac
}
is_guardian() { # pid: it is its launcher's fork
    parent=$(sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$1/stat" 2> /dev/null)
    cmp -s "/proc/$1/cmdline" "/proc/${parent:-0}/cmdline"
}

part_explain() # what ranks of all hosts wait for
{
    run 30 --fanout 1 --timeout 1 -H a:2,b:1,c:1 sleep 30
    check "time limit: explained" "$code $(grep -c '^    rank [0-3]: has not called MPI_Init' "$dir/err")" "124 4"
    rm -f "$scratch/begun"
    XMPI_HANG=1 BEGUN=$scratch/begun start --fanout 1 -H a:2,b:1,c:1 "$scratch/ends" wait
    await_lines "$scratch/begun" 4
    await_words "$dir/err" "ranks can never go on\|no rank has called or received"
    check_says "what stands still is told" "deadlock: . of 4 ranks can never go on\|no rank has called or received anything for 1 s"
    for try in 1 2 3 4 5; do
        sleep 1.5 # twice within a second would end it
        kill -QUIT "$pid"
        sleep 0.5
        awk '/state of the ranks/ { text = "" } { text = text $0 "\n" } END { printf "%s", text }' "$dir/err" > "$dir/last"
        grep -q "rank 0 waits for itself" "$dir/last" && break
    done
    check "SIGQUIT shows all" "$(grep -c '^    rank [0-3] (pid [0-9]*): MPI_Recv from rank' "$dir/last")" 4
    check_says "where they are" "at hosts.c:[0-9]* (main)"
    check_says "and why" "rank 0 waits for itself"
    kill -TERM "$pid"
    collect
    check "and then it ends" "$code $(leftovers_soon)" "143 0"
    for hosts in a:1,b:1 d:1,c:1,b:1,a:1; do
        XMPI_HANG=1 start --fanout 1 -H $hosts "$scratch/ends" part
        await_words "$dir/err" "which has called MPI_Finalize"
        check_says "who waits for a rank of a host that has ended, $hosts" "deadlock: 1 of . ranks can never go on"
        kill -TERM "$pid"
        collect
    done
}

part_lazy() # the network is opened by those who need it
{
    program lazy "$top/test/network/lazy.c"
    if ! ldconfig -p 2> /dev/null | grep -q 'libfabric\.so\.1'; then
        echo "skip launch: who opens the network: libfabric.so.1 is not installed (Debian: libfabric1)"
        return
    fi
    run 60 -H a:2,b:2 "$scratch/lazy" talk
    check "the network is opened by two of four" "$code" 0
    run 60 --fanout 1 -H a,b,c,d "$scratch/lazy" talk
    check "from one end of a chain to the other" "$code" 0
    run 60 -H a:2,b:2 "$scratch/lazy" early "$scratch/early"
    check "a message before the receiver is there" "$code" 0
    run 60 --fanout 1 -H a,b,c "$scratch/lazy" late "$scratch/late"
    check "a message for who has left" "$code $(leftovers_soon)" "0 0"
    program sessions "$top/test/network/sessions.c"
    run 60 -H a,b "$scratch/sessions" alone 4
    check "messages for who is between two sessions" "$code" 0
    program cancel_left "$top/test/fault/cancel_left.c"
    for when in before met question session; do
        rm -f "$scratch/shared"
        run 60 -H a,b "$scratch/cancel_left" $when 300 "$scratch/shared"
        check "cancelled for who has left, $when" "$code" 0
    done
    run 60 -H a,b "$scratch/lazy" silent "$scratch/silent"
    check "a freed receive whose sender has left" "$code $(leftovers_soon)" "0 0"
    run 60 -H a:2,b:2 "$scratch/lazy" silent "$scratch/silence"
    check "a freed receive whose sender has left, as others have" "$code $(leftovers_soon)" "0 0"
}

# All of the conformance suite, on two hosts of two ranks and on three of one: in namespaces, else on
# names for this machine.  All of them share its CPUs, which nobody there knows: they wait as if they did.
part_conform()
{
    layouts="a:2,b:2 a,b,c" agent=$here_agent there=
    if in_namespaces "the conformance suite on hosts"; then
        layouts="$left:2,$right:2 $left,$right,$third" agent=$namespace_agent there="ip netns exec $hub"
    fi
    $there env -u ONLY XMPI_POLITE=always XMPI_LAUNCH_AGENT="$agent" HOSTS="$layouts" LIMIT=120 \
        sh "$top/test/conform.sh" > "$scratch/conform" 2>&1 || failures=$((failures + 1))
    sed "s,xmpi-$$-,,g" "$scratch/conform"
    grep -q '^ok conform/' "$scratch/conform" || not_ok "the conformance suite on hosts" "nothing ran"
    for test in split comm inter; do # in turn on hosts that are not equally large
        program "$test" "$top/test/conform/$test.c"
        run 120 --map-by node -H a:3,b:2,c:1 "$scratch/$test"
        check "conform/$test on three hosts in turn" "$code" 0
    done
}

part_namespaces()
{
    in_namespaces "hosts in namespaces" || return
    XMPI_LAUNCH_AGENT=$namespace_agent real_xmpirun=$XMPIRUN XMPIRUN=$scratch/xmpirun
    run 60 -np 4 -H "$left:2,$right:2" "$scratch/ends"
    check "namespaces" "$code $(grep -c 'of 4, 2 here' "$dir/out")" "0 4"
    if gcc -std=gnu11 "$top/test/fault/pmix_client.c" -o "$scratch/client" \
        $(pkg-config --cflags --libs pmix 2> /dev/null) 2> /dev/null; then
        EXPECT_NODES=2 run 60 -np 4 -H "$left:2,$right:2" "$scratch/client"
        check "namespaces: PMIx clients" "$code: $(cat "$dir/out")" "0: "
    fi
    cut_early
    cut_at_end
    silences
}

# An xmpid that has called and said what it wants, and is cut off before there is an answer.
cut_early()
{
    ip netns exec "$hub" "${PYTHON3:-python3}" -c 'import re, socket, struct, subprocess, sys
version = int(re.search(r"WIRE_VERSION = (\d+)", open(sys.argv[1]).read()).group(1))
server = socket.create_server(("10.78.0.1", 0))
xmpid = subprocess.Popen(["ip", "netns", "exec", sys.argv[2], sys.argv[3], "--host", "0", "--root",
                          "10.78.0.1:%d" % server.getsockname()[1]], stdin=subprocess.PIPE)
xmpid.stdin.write(b"0" * 32 + b"\n")
xmpid.stdin.flush()
caller = server.accept()[0]
caller.sendall(b"xmpiwire" + struct.pack("<II", version, 0) + bytes(24))
heard = 0
while heard <= 40:
    heard += len(caller.recv(4096))
subprocess.check_call(["ip", "link", "set", "bridge", "down"])
xmpid.wait()' "$top/launcher/wire.h" "$left" "$(dirname "$real_xmpirun")/xmpid" 2> "$dir/err"
    ip -n "$hub" link set bridge up
    check_says "cut off at the start" "xmpid has lost xmpirun: its kernel has not answered"
}

# Who leaves MPI has a receive that was freed, whose message has come in part.  xmpirun waits for longer.
cut_at_end()
{
    ldconfig -p 2> /dev/null | grep -q 'libfabric\.so\.1' || return
    program lazy "$top/test/network/lazy.c"
    XMPI_HOST_TIMEOUT=50 XMPI_OFI_TIMEOUT=4 start -H "$left,$right" "$scratch/lazy" cut "$scratch/cut"
    await 60 test -e "$scratch/cut"
    ip -n "$right" link set cable down
    await 30 test -e "$scratch/cut.over" && left_mpi=yes || left_mpi=no
    ip -n "$right" link set cable up
    [ $left_mpi = yes ] || kill -TERM "$pid"
    collect
    check "cable pulled, with a receive that was freed" "$left_mpi $code" "yes 0"
}

# Everybody is there, and then COMMAND... pulls or stops something; `began` says when.
job_on_all_hosts() # command...
{
    rm -f "$scratch/begun"
    BEGUN=$scratch/begun start -H "$left:2,$right:1,$third:1" "$scratch/ends" wait
    await_lines "$scratch/begun" 4
    began=$(now_ms)
    "$@"
}

# On one side of a cable, on the other one, and in the middle.
silences()
{
    job_on_all_hosts ip -n "$right" link set cable down
    silent_host "own end" "host $right is lost: " ip -n "$right" link set cable up
    job_on_all_hosts ip -n "$hub" link set cable4 down
    silent_host "other end" "host $third is lost: " ip -n "$hub" link set cable4 up
    job_on_all_hosts ip -n "$hub" link set bridge down
    silent_host "middle" "host xmpi-$$-[abc] is lost: " ip -n "$hub" link set bridge up
    job_on_all_hosts true
    stopped=$(daemon_of 1)
    kill -STOP "$stopped"
    sleep 3
    kill -CONT "$stopped"
    kill -TERM "$pid"
    collect
    check "who is stopped is not lost" "$code $(cat "$dir/err") $(leftovers_soon)" "143  0"
    XMPI_HOST_TIMEOUT=20 job_on_all_hosts ip -n "$hub" link set bridge down
    sleep 2
    ip -n "$hub" link set bridge up
    kill -TERM "$pid"
    collect
    check "silence that the user allows" "$code $(cat "$dir/err") $(leftovers_soon)" "143  0"
    XMPI_HOST_TIMEOUT=soon run 10 -H "$left,$right" true
    check "XMPI_HOST_TIMEOUT that is no number" "$code $(grep -c 'XMPI_HOST_TIMEOUT=soon: expected seconds' "$dir/err")" "2 1"
}

silent_host() # which end of the cable, words, command that puts it back
{
    where=$1 words=$2
    shift 2
    collect
    left_over=$(leftovers_soon 2)
    took=$(($(now_ms) - began))
    check "cable pulled, $where: one cause" "$code $(grep -c "$words" "$dir/err") $(wc -l < "$dir/err")" "1 1 1"
    check "cable pulled, $where: nothing is left" "$left_over" 0
    check "cable pulled, $where: soon" "$([ $took -lt 5000 ] && echo yes || echo $took)" yes
    "$@"
}

# They are there, or what is not tested therefore and why.
in_namespaces() # what
{
    [ -n "${opened:-}" ] || { namespaces_open && opened=yes || opened=no; }
    [ $opened = yes ] ||
        echo "skip launch: $1: cannot make network namespaces: $(head -n 1 "$scratch/netns")"
    [ $opened = yes ]
}

# Four namespaces: in the hub there is a bridge, and xmpirun; a cable goes from it into each of the others.
# Nothing of this is seen outside, so addresses are free and jobs of others stay away from our cables.
namespaces_open()
{
    hub=xmpi-$$-hub left=xmpi-$$-a right=xmpi-$$-b third=xmpi-$$-c
    trap 'namespaces_close; rm -rf "$scratch"' EXIT
    ip netns add "$hub" 2> "$scratch/netns" || return 1
    ip -n "$hub" link set lo up
    ip -n "$hub" link add bridge type bridge 2>> "$scratch/netns" || return 1
    ip -n "$hub" addr add 10.78.0.1/24 dev bridge && ip -n "$hub" link set bridge up || return 1
    n=2
    for host in $left $right $third; do
        ip netns add "$host" 2>> "$scratch/netns" || return 1
        ip -n "$hub" link add "cable$n" type veth peer name cable netns "$host" || return 1
        ip -n "$hub" link set "cable$n" master bridge up
        ip -n "$host" addr add "10.78.0.$n/24" dev cable
        ip -n "$host" link set cable up
        ip -n "$host" link set lo up
        n=$((n + 1))
    done 2>> "$scratch/netns"
    printf '#!/bin/sh\nexec ip netns exec %s "%s" "$@"\n' "$hub" "$XMPIRUN" > "$scratch/xmpirun"
    chmod +x "$scratch/xmpirun"
}

namespaces_close()
{
    for host in $hub $left $right $third; do ip netns del "$host" 2> /dev/null; done
}

parts="start master gather errors late faults tree explain signals random lazy conform namespaces"
case " ${ONLY:-$parts} " in *" late "*) late_begin ;; esac
for part in ${ONLY:-$parts}; do
    "part_$part"
done
finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# xmpi doctor: what it says on hosts that lack something, and its exit code.  Hosts are names for this
# machine (agent: a shell).
. "${srcdir:-.}/test/lib.sh"
xmpi=${XMPI_PREFIX:+$XMPI_PREFIX/bin/xmpi}
xmpi=${xmpi:-$build/tools/xmpi}
agent='sh -c "{cmd}"'

# expect NAME CODE TEXT COMMAND...: the exit code, and a line that this basic expression matches.
expect()
{
    name="xmpi doctor: $1" wanted=$2 text=$3
    shift 3
    timeout 60 "$@" > "$scratch/said" 2>&1 < /dev/null
    code=$?
    judge
}

# also NAME TEXT: what the last one said besides.
also()
{
    name="xmpi doctor: $1" text=$2
    judge
}

judge()
{
    if [ $code != "$wanted" ]; then
        not_ok "$name" "exit code $code instead of $wanted"
    elif ! grep -q -e "$text" "$scratch/said"; then
        not_ok "$name" "no \"$text\""
    else
        ok "$name"
        return
    fi
    sed 's/^/    | /' "$scratch/said" | tail -n 25
}

expect "help" 0 "usage: xmpi doctor" "$xmpi" help doctor
expect "a wrong option" 2 "frob is not an option" "$xmpi" doctor --frob
expect "a missing value" 2 "wants a value" "$xmpi" doctor -H
expect "this host" 0 "^good  messages .*2 ranks" "$xmpi" doctor
also "the sum" "[0-9]* good, [0-9]* to note, 0 bad"

# What this host may lack.
mkdir -p "$scratch/broken" && echo nothing > "$scratch/broken/libfabric.so.1"
expect "no libfabric" 0 "^note  libfabric .*not found" env LD_LIBRARY_PATH="$scratch/broken" "$xmpi" doctor
expect "no agent" 0 "^note  launch agent .*ssh is not in PATH" env -u XMPI_LAUNCH_AGENT PATH=/nowhere \
    "$xmpi" doctor
expect "an agent of one's own" 0 "^good  launch agent .*sh is here" env XMPI_LAUNCH_AGENT="$agent" \
    "$xmpi" doctor
expect "few files" 0 "^note  open files .*at most 300" sh -c 'ulimit -n 300 && exec "$0" doctor' "$xmpi"
expect "locked memory" 0 "locked memory .*64 KiB" sh -c 'ulimit -l 64 && exec "$0" doctor' "$xmpi"
if cpu=$(taskset -cp $$ 2> /dev/null) && [ "$(nproc)" -gt 1 ]; then
    cpu=$(echo "$cpu" | sed 's/.*: //; s/[-,].*//')
    expect "one CPU" 0 "^note  CPUs .*1 of" taskset -c "$cpu" "$xmpi" doctor
else
    skip "xmpi doctor: one CPU" "needs taskset and two CPUs"
fi
if compile -o "$scratch/denied" "$top/test/network/denied.c" && "$scratch/denied" true; then
    expect "no rights" 0 "^note  cross-memory reads .*Operation not permitted" "$scratch/denied" "$xmpi" doctor
    also "no rights, and messages" "^good  messages"
else
    skip "xmpi doctor: no rights" "this kernel has no filters for system calls"
fi
if unshare -m mount -t tmpfs -o size=16m none /dev/shm 2> /dev/null; then
    expect "little shared memory" 0 "^note  /dev/shm .*only 16 MiB" unshare -m sh -c \
        'mount -t tmpfs -o size=16m none /dev/shm && exec "$0" doctor' "$xmpi"
else
    skip "xmpi doctor: little shared memory" "mounts cannot be unshared here"
fi

# Other hosts.
expect "an agent that fails" 1 "^bad   host .*b cannot be used: .*code 5 before xmpid came: no route to b" \
    "$xmpi" doctor -H b --launch-agent 'echo no route to {host}; exit 5; {cmd}'
expect "one host of two" 1 "^good  shared memory  *on a: " "$xmpi" doctor -H a,b --launch-agent \
    'case {host} in b) exit 5 ;; *) {cmd} ;; esac'
if "$xmpi" info | grep -q ' used: '; then
    expect "two hosts" 0 "^good  shared memory  *on a, b: ranks" "$xmpi" doctor -H a:2,b --launch-agent "$agent"
    also "two hosts, messages" "^good  messages .*2 ranks"
    expect "two hosts, no network" 1 "^bad   network .*on a, b: .*nosuch0" env XMPI_OFI_IFACE=nosuch0 "$xmpi" \
        doctor -H a,b --launch-agent "$agent"
    also "two hosts, what messages say" "^bad   messages .*nosuch0"
else
    skip "xmpi doctor: two hosts" "libfabric.so.1 is not installed, or built without (Debian: libfabric1)"
fi
expect "one other host" 0 "^good  messages .*2 ranks" "$xmpi" doctor -H b --launch-agent "$agent"

python=${PYTHON3:-python3}
if [ "$python" = no ] || ! command -v "$python" > /dev/null; then
    skip "xmpi doctor --json" "needs python3"
else
    "$xmpi" doctor --json > "$scratch/json"
    case_run "xmpi doctor --json" 20 "$python" -c '
import json, sys
findings = json.load(open(sys.argv[1])).values()
assert any(f["what"] == "messages" and f["level"] == "good" for f in findings)
assert all(f["remedy"] for f in findings if f["level"] == "bad")' "$scratch/json"
fi
finish

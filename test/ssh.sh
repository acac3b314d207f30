#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two hosts reached by the real ssh: an sshd of ours on loopback, with its own configuration and keys
# in a temporary folder.  Hosts are 127.0.0.2 and 127.0.0.3, called a and b by ssh's configuration;
# the key of c is known to nobody.
. "${srcdir:-.}/test/lib.sh"
ssh=$scratch/ssh
sshd=$(PATH=$PATH:/usr/sbin:/usr/local/sbin command -v sshd)

missing()
{
    [ -n "$sshd" ] || { echo "sshd is not installed (Debian: openssh-server)"; return; }
    command -v ssh > /dev/null || { echo "ssh is not installed (Debian: openssh-client)"; return; }
    [ "$(id -u)" != 0 ] || getent passwd sshd > /dev/null || echo "sshd needs a user sshd to run as root"
}

configure()
{
    mkdir -p "$ssh"
    chmod 700 "$ssh"
    port=$(free_port 127.0.0.2)
    ssh-keygen -q -t ed25519 -N '' -f "$ssh/host_key" && ssh-keygen -q -t ed25519 -N '' -f "$ssh/user_key" || return 1
    cp "$ssh/user_key.pub" "$ssh/authorized_keys"
    for host in a b; do echo "$host $(cut -d ' ' -f 1,2 "$ssh/host_key.pub")"; done > "$ssh/known_hosts"
    cat > "$ssh/sshd_config" << END
Port $port
ListenAddress 127.0.0.2
ListenAddress 127.0.0.3
HostKey $ssh/host_key
AuthorizedKeysFile $ssh/authorized_keys
PidFile $ssh/pid
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
END
    for host in a:127.0.0.2 b:127.0.0.3 c:127.0.0.2; do
        cat << END
Host ${host%%:*}
    HostName ${host#*:}
    HostKeyAlias ${host%%:*}
    Port $port
    IdentityFile $ssh/user_key
    IdentitiesOnly yes
    UserKnownHostsFile $ssh/known_hosts
END
    done > "$ssh/config"
}

begin()
{
    [ "$(id -u)" != 0 ] || mkdir -p /run/sshd
    "$sshd" -D -e -f "$ssh/sshd_config" 2> "$ssh/log" &
    daemon=$!
    trap 'kill $daemon; wait $daemon; rm -rf "$scratch"' EXIT
    tries=100
    until timeout 10 ssh -F "$ssh/config" -o BatchMode=yes a true 2> "$ssh/err"; do
        tries=$((tries - 1))
        kill -0 $daemon 2> /dev/null && [ $tries -gt 0 ] || return 1
        sleep 0.1
    done
}

reason=$(missing)
[ -z "$reason" ] || { skip ssh "$reason"; finish; }
compile -I"$top" -o "$scratch/ends" "$top/test/network/hosts.c" -lm || { not_ok ssh "does not compile"; finish; }
if ! configure || ! begin; then
    skip ssh "an sshd of our own does not let us in: $(tail -qn 1 "$ssh/err" "$ssh/log" | tr '\n' ' ')"
    finish
fi

# What users write: hosts, and ssh with their own configuration.
agent="ssh -F $ssh/config -x -o BatchMode=yes {host} {cmd}"
case_run "ssh: four ranks on two hosts" 60 "$XMPIRUN" --launch-agent "$agent" -H a:2,b:2 "$scratch/ends"
got=$(sort "$scratch/out" | tr '\n' ';')
[ "$got" = "rank 0 of 4, 2 here;rank 1 of 4, 2 here;rank 2 of 4, 2 here;rank 3 of 4, 2 here;" ] &&
    ok "ssh: who runs where" || not_ok "ssh: who runs where" "$got"

timeout 60 "$XMPIRUN" --launch-agent "$agent" -H a:2,b:2 "$scratch/ends" exit > "$scratch/out" 2>&1 < /dev/null
code=$?
[ $code = 3 ] && ok "ssh: an exit code" || not_ok "ssh: an exit code" "$code"

# A host whose key nobody knows: an error in ssh's own words, at once.
timeout 60 "$XMPIRUN" --launch-agent "$agent" -H a:1,c:1 true > "$scratch/out" 2>&1 < /dev/null
code=$?
[ $code = 1 ] && grep -q 'host c: the launch agent exited with code 255.*verification failed' "$scratch/out" &&
    ok "ssh: an unknown host key" || { not_ok "ssh: an unknown host key" "exit code $code"; cat "$scratch/out"; }

# Nothing stays behind that was started here: the daemon's children are connections.
sleep 0.5
left=$(pgrep -P $daemon | wc -l)
[ "$left" = 0 ] && ok "ssh: no connection stays open" || not_ok "ssh: no connection stays open" "$left"
finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Slurm on one machine: slurmctld and two slurmd that call themselves n1 and n2, munged between them.
# Programs start by srun --mpi=pmix, which knows nothing of us, and by xmpirun inside an allocation,
# which reaches n2 by srun.  Needs root and Debian's slurmd, slurmctld, slurm-client, munge and
# slurm-wlm-basic-plugins; skipped with a reason otherwise.
. "${srcdir:-.}/test/lib.sh"

missing()
{
    [ "$(id -u)" = 0 ] || { echo "needs root"; return; }
    for tool in munged munge slurmctld slurmd srun salloc scontrol; do
        command -v $tool > /dev/null || { echo "$tool is not installed"; return; }
    done
}

# Everything in a folder of ours: keys, sockets, states, logs.
configure()
{
    slurm=$scratch/slurm
    mkdir -p "$slurm/state" "$slurm/munge"
    for node in n1 n2; do mkdir -p "$slurm/spool.$node" "$slurm/tmp.$node"; done
    chmod 755 "$scratch" "$slurm"
    dd if=/dev/urandom of="$slurm/munge/key" bs=128 count=1 2> /dev/null
    chmod 600 "$slurm/munge/key"
    chmod 711 "$slurm/munge"
    cat > "$slurm/slurm.conf" << END
ClusterName=xmpi
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$slurm/munge/socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd.%n.pid
SlurmctldLogFile=$slurm/slurmctld.log
SlurmdLogFile=$slurm/slurmd.%n.log
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool.%n
TmpFS=$slurm/tmp.%n
NodeName=n1 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$(free_port) CPUs=4
NodeName=n2 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$(free_port) CPUs=4
PartitionName=test Nodes=n1,n2 Default=YES State=UP OverSubscribe=FORCE:8
END
    export SLURM_CONF="$slurm/slurm.conf"
}

daemons=
begin() # command that stays in the foreground
{
    "$@" > "$slurm/$1.out" 2>&1 &
    daemons="$daemons $!"
}

# By process number, and what they have started: steps of a job that failed stay behind otherwise.
end_cluster()
{
    scancel --user=root 2> /dev/null
    kill $daemons 2> /dev/null
    for step in $(pgrep slurmstepd); do
        grep -qsa "SLURM_CONF=$slurm/" "/proc/$step/environ" && kill -9 "$step"
    done
    wait
    rm -rf "$scratch"
}

both_idle() { [ "$(sinfo -h -N -o %T | grep -c idle)" = 2 ]; }

begin_cluster()
{
    trap end_cluster EXIT
    begin munged --foreground --key-file="$slurm/munge/key" --socket="$slurm/munge/socket" \
        --pid-file="$slurm/munge/pid" --log-file="$slurm/munge/log" --seed-file="$slurm/munge/seed"
    await 10 test -S "$slurm/munge/socket" || return 1
    begin slurmctld -D
    begin slurmd -D -N n1
    begin slurmd -D -N n2
    await 30 both_idle
}

reason=$(missing)
if [ -n "$reason" ]; then
    skip slurm "$reason"
    finish
fi
compile -I"$top" -o "$scratch/ends" "$top/test/network/hosts.c" -lm || { not_ok slurm "does not compile"; finish; }
configure
if ! srun --mpi=list 2>&1 | grep -q pmix; then
    skip slurm "Slurm's PMIx plugin is not installed: $(srun --mpi=list 2>&1 | tr '\n' ' ')"
    finish
fi
if ! begin_cluster; then
    skip slurm "the cluster of one machine does not come up: $(tail -qn 1 "$slurm"/*.out "$slurm"/*.log 2> /dev/null | tr '\n' ' ')"
    finish
fi

# slurm_case NAME SECONDS WHAT COMMAND...: its sorted output must be WHAT.
slurm_case()
{
    name=$1 limit=$2 what=$3
    shift 3
    timeout -k 5 "$limit" "$@" > "$scratch/out" 2> "$scratch/err" < /dev/null
    code=$?
    got=$(sort "$scratch/out" | tr '\n' ';')
    if [ "$code $got" = "$what" ]; then
        ok "slurm: $name"
    else
        not_ok "slurm: $name" "got \`$code $got', expected \`$what'"
        sed 's/^/    | /' "$scratch/err" | tail -n 15
    fi
}
four="rank 0 of 4, 2 here;rank 1 of 4, 2 here;rank 2 of 4, 2 here;rank 3 of 4, 2 here;"

# The server is Slurm's: we boot over PMIx, messages between the nodes take the network.
slurm_case "srun --mpi=pmix, one node" 60 "0 rank 0 of 2, 2 here;rank 1 of 2, 2 here;" \
    srun --mpi=pmix -N1 -n2 "$scratch/ends"
slurm_case "srun --mpi=pmix, two nodes" 60 "0 $four" srun --mpi=pmix -N2 --ntasks-per-node=2 "$scratch/ends"
slurm_case "ranks in turn on two nodes" 60 "0 $four" srun --mpi=pmix -N2 --ntasks-per-node=2 -m cyclic "$scratch/ends"
for test in p2p coll_basic comm; do
    compile -I"$top" -o "$scratch/$test" "$top/test/conform/$test.c" -lm
    case_run "slurm: conform/$test on two nodes" 120 srun --mpi=pmix -N2 --ntasks-per-node=2 "$scratch/$test"
done
slurm_case "MPI_Abort ends the step" 60 "7 " srun --quiet --mpi=pmix -N2 -n4 "$scratch/ends" abort

# Inside an allocation: hosts and slots are Slurm's, the agent is srun.
slurm_case "xmpirun in an allocation" 60 "0 $four" \
    salloc -Q -N2 --ntasks-per-node=2 "$XMPIRUN" "$scratch/ends"
slurm_case "slots of each node" 60 "0 n1 0 0 3;n1 1 1 3;n2 2 0 3;" \
    salloc -Q -N2 -n3 "$XMPIRUN" --prepend-pattern %h \
    sh -c 'echo " $RANK $LOCAL_RANK $WORLD_SIZE"'
slurm_case "one of its hosts" 60 "0 n2;" salloc -Q -N2 -n4 "$XMPIRUN" -np 1 -H n2 \
    --prepend-pattern %h echo
slurm_case "in a batch script's place" 60 "0 $four" \
    salloc -Q -N2 -n4 srun -N1 -n1 --overlap "$XMPIRUN" -np 4 -ppn 2 "$scratch/ends"
slurm_case "an exit code" 60 "3 " salloc -Q -N2 -n4 "$XMPIRUN" -q "$scratch/ends" exit
finish

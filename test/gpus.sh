#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Which GPU a rank is told to use: XMPI_GPU as xmpirun sets it, and what MPIX_Query_cuda_device makes
# of that, of CUDA_VISIBLE_DEVICES and of other launchers' variables.  The driver is a pretended one
# with four devices, n at 0000:0n:00.0.
. "${srcdir:-.}/test/lib.sh"
unset CUDA_VISIBLE_DEVICES XMPI_GPU LOCAL_RANK SLURM_LOCALID OMPI_COMM_WORLD_LOCAL_RANK MPI_LOCALRANKID

XMPI_LIBCUDA=$scratch/libcuda.so
export XMPI_LIBCUDA
"${XMPI_TEST_CC:-gcc}" -O2 -shared -fPIC -I"$top" -o "$XMPI_LIBCUDA" "$top"/test/device/fake_*.c \
    -lpthread || exit 99
compile -I"$top/test/conform" -o "$scratch/choice" "$top/test/device/choice.c" > "$scratch/out" 2>&1 ||
    { not_ok gpus/choice "does not compile"; sed 's/^/    | /' "$scratch/out" | head -n 15; finish; }

chosen() # NAME, "rank device;..", COMMAND...
{
    name=$1 wanted=$2
    shift 2
    got=$(timeout -k 5 60 "$@" 2>&1 | sort | tr '\n' ';')
    [ "$got" = "$wanted" ] && ok "gpus/$name" || not_ok "gpus/$name" "$got, not $wanted"
}

choice=$scratch/choice
chosen "by the number on the node" "0 0;1 1;2 2;3 3;4 0;" "$XMPIRUN" -np 5 --bind-to none "$choice"
chosen "by XMPI_GPU" "0 3;1 3;" "$XMPIRUN" -np 2 --bind-to none -x XMPI_GPU=0000:03:00.0 "$choice"
chosen "by XMPI_GPU, in CUDA's order" "0 1;" env CUDA_VISIBLE_DEVICES=2,3 XMPI_GPU=0000:03:00.0 "$choice"
chosen "XMPI_GPU is not visible" "0 1;" env CUDA_VISIBLE_DEVICES=2,3 LOCAL_RANK=5 XMPI_GPU=0000:01:00.0 "$choice"
chosen "XMPI_GPU makes no sense" \
    "0 0;xmpi: XMPI_GPU=nonsense is not a place on PCI such as 0000:1b:00.0; going on as if it were not set;" env XMPI_GPU=nonsense "$choice"
chosen "a wrapper chooses" "0 0;1 0;" "$XMPIRUN" -np 2 --bind-to none sh -c \
    'CUDA_VISIBLE_DEVICES=$LOCAL_RANK exec "$0"' "$choice"
chosen "torchrun's variable" "0 2;" env LOCAL_RANK=2 "$choice"
chosen "Slurm's variable" "0 3;" env SLURM_LOCALID=7 "$choice"
chosen "Slurm's variable is its batch script's" "0 2;" \
    env SLURM_LOCALID=0 OMPI_COMM_WORLD_LOCAL_RANK=2 "$choice"
chosen "no device is visible" "0 -1;" env CUDA_VISIBLE_DEVICES= "$choice"
chosen "no driver is wanted" "0 -1;" env XMPI_CUDA=0 "$choice"

xmpi=${XMPI_PREFIX:+$XMPI_PREFIX/bin/xmpi}
case_run "gpus/xmpi info says which, and why" 20 sh -c \
    'XMPI_GPU=0000:02:00.0 "$0" info | grep -q "CUDA device  *2: XMPI_GPU=0000:02:00.0, of 4 devices" &&
    XMPI_GPU=0000:09:00.0 LOCAL_RANK=6 "$0" info | grep -q \
        "CUDA device  *2: LOCAL_RANK, modulo 4 devices; XMPI_GPU=0000:09:00.0 is not visible"' \
    "${xmpi:-$build/tools/xmpi}"

# xmpirun on a machine with a driver, two of whose three GPUs we may open: folders of /proc and a /dev
# of our own.
cat > "$scratch/pretend.sh" <<'END'
mount -t tmpfs none /proc/driver && mount -t tmpfs none "$1" || exit 77
for file in null zero full random urandom tty; do
    : > "$1/$file" && mount --bind /dev/$file "$1/$file" || exit 77
done
mkdir "$1/shm" && mount --bind /dev/shm "$1/shm" && ln -s /proc/self/fd "$1/fd" || exit 77
for i in 1 2 3; do
    mkdir -p /proc/driver/nvidia/gpus/0000:0$i:00.0
    printf 'GPU UUID: \t GPU-%d\nDevice Minor: \t %d\n' $i $i > /proc/driver/nvidia/gpus/0000:0$i:00.0/information
done
: > "$1/nvidia1"
: > "$1/nvidia3"
mount --bind "$1" /dev || exit 77
shift
exec "$@"
END
mkdir "$scratch/dev"
pretended() # NAME, WANTED, COMMAND...
{
    name=$1 wanted=$2
    shift 2
    chosen "$name" "$wanted" unshare -m sh "$scratch/pretend.sh" "$scratch/dev" "$@"
}
if unshare -m sh "$scratch/pretend.sh" "$scratch/dev" true 2> /dev/null; then
    tell='echo $LOCAL_RANK ${XMPI_GPU:-none}'
    pretended "xmpirun --map-by gpu" "0 0000:01:00.0;1 0000:03:00.0;2 0000:01:00.0;" \
        "$XMPIRUN" -np 3 --map-by gpu sh -c "$tell"
    pretended "xmpirun --map-by ppr:1:gpu" "0 1;1 3;" "$XMPIRUN" --map-by ppr:1:gpu "$choice"
    pretended "xmpirun --bind-to" "0 0000:01:00.0;1 0000:03:00.0;" \
        "$XMPIRUN" -np 2 --bind-to package sh -c "$tell"
    pretended "ranks are not placed" "0 none;1 none;" "$XMPIRUN" -np 2 --bind-to none sh -c "$tell"
    pretended "CUDA_VISIBLE_DEVICES of the user" "0 0000:03:00.0;" \
        env CUDA_VISIBLE_DEVICES=GPU-3 "$XMPIRUN" -np 1 --map-by gpu sh -c "$tell"
    pretended "nodes have their own CUDA_VISIBLE_DEVICES" "1 0000:01:00.0;2 0000:01:00.0;2 0000:03:00.0;" \
        sh -c 'for number in 0 1; do
            env $([ $number = 1 ] || echo CUDA_VISIBLE_DEVICES=0) "$0" --node-rank $number --nnodes 2 \
                --master-addr localhost --master-port "$1" --map-by ppr:1:gpu sh -c "$2" &
        done; wait' "$XMPIRUN" "$(free_port)" 'echo $LOCAL_WORLD_SIZE ${XMPI_GPU:-none}'
    # Read by xmpirun alone; its ranks would not start.
    "${XMPI_TEST_CC:-gcc}" -shared -o "$scratch/libhwloc.so.15" -x c /dev/null
    pretended "without hwloc" "xmpirun: --map-by gpu: host $(hostname): which CPUs are near to GPUs is not known: \
this hwloc lacks a function;" env LD_LIBRARY_PATH="$scratch" "$XMPIRUN" -np 1 --map-by gpu true
    pretended "a driver that nobody has opened" "xmpirun: --map-by gpu: host $(hostname) has no NVIDIA GPU that ranks \
may use, with CUDA_VISIBLE_DEVICES=GPU-3; use --map-by core or numa there, name GPUs by number, or run nvidia-smi there \
first: its driver says no UUIDs before somebody has opened it;" sh -c 'for gpu in /proc/driver/nvidia/gpus/*; do
            sed -i "s/GPU-./GPU-????????-????/" "$gpu/information"
        done; CUDA_VISIBLE_DEVICES=GPU-3 "$0" -np 1 --map-by gpu true' "$XMPIRUN"
    pretended "CUDA_VISIBLE_DEVICES is taken from the ranks" "0 0000:01:00.0;" \
        env CUDA_VISIBLE_DEVICES=GPU-3 "$XMPIRUN" -np 1 --unset-env CUDA_VISIBLE_DEVICES --map-by gpu sh -c "$tell"
    pretended "an xmpirun in a rank" "0 none;" \
        "$XMPIRUN" -np 1 --map-by gpu "$XMPIRUN" -np 1 --bind-to none sh -c "$tell"
    pretended "XMPI_GPU of the user" "0 mine;" \
        "$XMPIRUN" -np 1 --map-by gpu -x XMPI_GPU=mine sh -c "$tell"
else
    skip "gpus/xmpirun" "needs the right to mount (unshare -m)"
fi
finish

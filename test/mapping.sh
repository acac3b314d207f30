#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Which rank gets which CPUs on machines nobody here has: test/machines/*.xml, in hwloc's form, and in
# test/machines/expected what xmpirun --dry-run is to print, after a line `$ MACHINE OPTIONS` each.
# UPDATE=1 writes that file anew: then read every line of the difference.
. "${srcdir:-.}/test/lib.sh"
machines=$top/test/machines
unset CUDA_VISIBLE_DEVICES

grep '^\$ ' "$machines/expected" | while read -r _ machine options; do
    echo "\$ $machine $options"
    timeout 20 "$XMPIRUN" --dry-run --machine "$machines/$machine.xml" $options ./a.out 2>&1
done > "$scratch/printed"
[ -z "${UPDATE:-}" ] || cp "$scratch/printed" "$machines/expected"

# The block of one case: from its line to the next one.
block() # file, number
{
    awk -v wanted="$2" '/^\$ / { n++ } n == wanted' "$1"
}
cases=$(grep -c '^\$ ' "$machines/expected")
i=0
while [ $i -lt "$cases" ]; do
    i=$((i + 1))
    block "$machines/expected" $i > "$scratch/wanted"
    block "$scratch/printed" $i > "$scratch/got"
    name="mapping: $(sed -n '1s/^\$ //p' "$scratch/wanted")"
    if difference=$(diff "$scratch/wanted" "$scratch/got"); then
        ok "$name"
    else
        not_ok "$name" "$difference"
    fi
done

for wrong in "nothing:here" "/dev/null" "$0"; do
    got=$("$XMPIRUN" --dry-run --machine "$wrong" -np 2 ./a.out 2>&1)
    code=$?
    case $code:$got in
    0:*) not_ok "mapping: --machine $wrong" "it is taken: $got" ;;
    *"--machine $wrong: "*) ok "mapping: --machine $wrong is refused" ;;
    *) not_ok "mapping: --machine $wrong" "$code: $got" ;;
    esac
done
# Numbers of ranks that no job can have.
for many in "-ppn 1048576" "-H n[1-4096]:1048576" "--map-by ppr:1000000:core" "-np 1048577"; do
    got=$("$XMPIRUN" --dry-run --machine "core:4 pu:1" -H a,b $many ./a.out 2>&1)
    code=$?
    case $code:$got in
    2:*"more than the 1048576 that a job can have"*) ok "mapping: $many on two hosts is refused" ;;
    *) not_ok "mapping: $many on two hosts" "$code: $(echo "$got" | head -n 3)" ;;
    esac
done
got=$(timeout 20 "$XMPIRUN" --dry-run --machine "core:4 pu:1" -np 600000 --cpus-per-rank 4 ./a.out 2>&1 | tail -n 1 | tr -s ' ')
[ "$got" = "599999 $(hostname) 0-3 ./a.out" ] && ok "mapping: many cores for many ranks" ||
    not_ok "mapping: many cores for many ranks" "$got"

# More cores for a rank than there are, and cores that are not to be shared.
fit() # name, exit code, words of the complaint or "", options
{
    name=$1 wanted=$2 words=$3
    shift 3
    got=$(timeout 20 "$XMPIRUN" --dry-run -H n1 --machine "$@" ./a.out 2>&1)
    code=$?
    case $code:$got in
    "$wanted:"*"$words"*) ok "mapping: $name" ;;
    *) not_ok "mapping: $name" "$code: $(echo "$got" | head -n 3)" ;;
    esac
}
two="package:2 core:2 pu:2"
fit "as many cores for a rank as there are" 0 "bind to core" "$two" -np 2 --map-by slot:pe=4
fit "more than there are" 2 "host n1 has only 4; use pe=4 or less" "$two" -np 2 --cpus-per-rank 5
fit "more than a package has" 2 "host n1 has only 2 on a package; use pe=2 or less, or --map-by slot" \
    "$two" -np 2 --map-by package:pe=3
fit "more on each of ppr" 2 "host n1 has only 2 on a package" "$two" --map-by ppr:1:package:pe=3
fit "hardware threads are counted" 0 "bind to core" "$two" -np 1 --use-hwthread-cpus --map-by slot:pe=8
fit "and are not enough" 2 "9 hardware threads, but host n1 has only 8" "$two" -np 1 --map-by hwthread:pe=9
fit "nobody is bound" 0 "bind to none" "$two" -np 1 --map-by slot:pe=9 --bind-to none
fit "cores are shared" 0 "bind to core" "$two" -np 5 --bind-to core:overload-allowed
fit "cores are not shared" 0 "bind to core" "$two" -np 4 --bind-to core:no-overload
fit "they would be" 2 "5 ranks with pe=1, but host n1 has only 4 cores" "$two" -np 5 --bind-to core:no-overload
fit "they would be, by pe" 2 "3 ranks with pe=2, but host n1 has only 4 cores" "$two" -np 3 \
    --map-by slot:pe=2 --bind-to core:no-overload
fit "they would be on a package" 2 "3 ranks with pe=1, but host n1 has only 2 cores on a package" "$two" -np 5 \
    --map-by package --bind-to package:no-overload
fit "threads are not shared" 0 "bind to hwthread" "$two" -np 8 --bind-to hwthread:no-overload
fit "threads would be" 2 "9 ranks with pe=1, but host n1 has only 8 hardware threads" "$two" -np 9 \
    --bind-to hwthread:no-overload
fit "more cores than are near to a GPU" 2 "host n1 has only 16 near to a GPU" "$machines/one-side-2x16-4gpu.xml" \
    -np 1 --map-by gpu:pe=17 --bind-to core

# CPUs that lie in turn on two NUMA nodes: lists of them are long, and all is shown.
got=$(timeout 20 "$XMPIRUN" --dry-run -H n1 --machine "numa:2 core:300 pu:1(indexes=numa:core)" -np 2 --map-by numa \
    --bind-to numa ./a.out 2>&1 | awk '/^1 / { print $3 }' | tr , '\n' | wc -l)
[ "$got" = 300 ] && ok "mapping: a long list of CPUs" || not_ok "mapping: a long list of CPUs" "$got of 300"

refuse() { # words of the complaint, options
    words=$1
    shift
    got=$(timeout 20 "$XMPIRUN" --dry-run "$@" ./a.out 2>&1)
    case $?:$got in
    2:*"$words"*) ok "mapping: $*: $words" ;;
    *) not_ok "mapping: $*" "$(echo "$got" | head -n 3)" ;;
    esac
}
refuse "the most CPUs of a host" --map-by core:pe=0
refuse "the most ranks of a job" --map-by ppr:0:core
refuse "expected map, bind, allocation or topo" --display foo
refuse 'host "a b": expected' -H "a b"

for option in -hostfile -configfile; do
    got=$("$XMPIRUN" --dry-run $option / ./a.out 2>&1)
    case $got in
    *"cannot read "*"directory"*) ok "mapping: $option that cannot be read" ;;
    *) not_ok "mapping: $option that cannot be read" "$got" ;;
    esac
done
got=$("$XMPIRUN" --dry-run --machine "core:4 pu:1" -np 1 -H b ./x : -np 3 -H a ./y 2>&1)
case $got in
*"several sections name hosts"*) ok "mapping: hosts of several sections are told to be one list" ;;
*) not_ok "mapping: hosts of several sections" "$got" ;;
esac

# Of a machine's GPUs ranks get those that are visible.
gpus() # name, wanted, options: GPUs of ranks in a row, or what is complained of
{
    name=$1 wanted=$2
    shift 2
    got=$("$XMPIRUN" --dry-run --machine "$machines/one-side-2x16-4gpu.xml" -H n1 "$@" 2>&1 |
        awk '/^xmpirun:/ || $4 ~ /^0000:/ { print $1 == "xmpirun:" ? $0 : substr($4, 6, 2) }' | tr '\n' ' ')
    [ "${got% }" = "$wanted" ] && ok "mapping: $name" || not_ok "mapping: $name" "$got, not $wanted"
}
none="host n1 has no NVIDIA GPU that ranks may use, with CUDA_VISIBLE_DEVICES"
gpus "all GPUs" "1a 1c 1d 1e 1a" -np 5 --map-by gpu ./a.out
CUDA_VISIBLE_DEVICES=3,1
export CUDA_VISIBLE_DEVICES
gpus "GPUs that are visible" "1c 1e 1c" -np 3 --map-by gpu ./a.out
gpus "GPUs that are visible to bound ranks" "1c 1e" -np 2 --bind-to core ./a.out
gpus "GPUs that -x makes visible" "1a 1a" -np 2 --map-by gpu -x CUDA_VISIBLE_DEVICES=0 ./a.out
gpus "no GPU is visible" "xmpirun: --map-by gpu: $none=-1; use --map-by core or numa there" \
    -np 2 --map-by gpu -x CUDA_VISIBLE_DEVICES=-1 ./a.out
gpus "GPUs by UUIDs that are not known" "xmpirun: --map-by gpu: $none=GPU-1a; use --map-by core or numa there, \
or name GPUs by number: the description of the machine has no UUIDs" \
    -np 2 --map-by gpu -x CUDA_VISIBLE_DEVICES=GPU-1a ./a.out
gpus "no GPU is visible to bound ranks" "" -np 2 --bind-to core -x CUDA_VISIBLE_DEVICES= ./a.out
unset CUDA_VISIBLE_DEVICES
gpus "too few cores near to GPUs" "xmpirun: --map-by gpu:pe=4: host n1 has fewer than 4 cores for each rank near to its GPU: \
ranks are not bound; --bind-to core lets them share cores 1a 1c 1d 1e 1a" -np 5 --map-by gpu:pe=4 ./a.out
gpus "cores near to GPUs are shared" "1a 1c 1d 1e 1a" -np 5 --map-by gpu:pe=4 --bind-to core ./a.out
got=$("$XMPIRUN" --map-by gpu:pe=x -np 1 true 2>&1)
case $got in
*"--map-by gpu:pe=x: expected"*) ok "mapping: --map-by gpu:pe=x is refused" ;;
*) not_ok "mapping: --map-by gpu:pe=x is refused" "$got" ;;
esac
got=$("$XMPIRUN" --machine "package:1 core:2 pu:1" -np 1 true 2>&1)
[ $? != 0 ] && ok "mapping: --machine runs nothing" || not_ok "mapping: --machine runs nothing" "$got"
finish

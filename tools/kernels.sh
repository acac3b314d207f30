#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Kernels of reductions and of packing for GPUs, as NVIDIA's PTX: runtime/reduce_device.c, compiled
# by clang, which needs no CUDA.  Any GPU from Pascal (sm_60) on runs it, with a driver of CUDA 9 or
# later.
#     tools/kernels.sh > runtime/reduce_device.inc    as text of C, kept in the tree, as most who
#                                                     build have no such clang; `make kernels`
#     tools/kernels.sh --ptx > kernels.ptx            as it is, for ptxas -v -arch=sm_90
# In another folder than the sources: SOURCES=... tools/kernels.sh
set -e
cd "${SOURCES:-.}"
clang=${CLANG:-clang}
ptx()
{
    "$clang" -x cuda --cuda-device-only --cuda-gpu-arch=sm_60 -Xclang -target-feature -Xclang +ptx60 \
        -nocudainc -nocudalib -Wno-unknown-cuda-version -Wall -Wextra -Wno-unused-function -Werror \
        -ffp-contract=off -O2 -I. -S -o - runtime/reduce_device.c |
        sed -e '/^\/\//d' -e '/\/\/ \.globl/d' -e '/^$/d'
}
if [ "$1" = --ptx ]; then
    ptx
    exit
fi
version=$("$clang" -dumpversion | cut -d. -f1)
echo "/* Written by tools/kernels.sh from runtime/reduce_device.c, by clang $version. */"
ptx | sed -e 's/	/ /g' -e 's/^ //' -e 's/  */ /g' -e 's/.*/"&\\n"/'

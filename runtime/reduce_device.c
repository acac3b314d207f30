/* SPDX-License-Identifier: BSD-3-Clause
 *
 * All kernels for devices, as one translation unit.  It is no part of the library: tools/kernels.sh
 * makes reduce_device.inc of it, which is.
 */
#pragma clang force_cuda_host_device begin
#define REDUCE_DEVICE
#include "runtime/reduce_arith.c"
#include "runtime/reduce_half.c"
#include "runtime/reduce_loc.c"
#include "runtime/reduce_logic.c"
#include "runtime/reduce_mean.c"
#include "runtime/pack_device.c"

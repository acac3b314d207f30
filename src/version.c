/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The one object of libmpi_abi that is not part of the core library: what this build is.
 * `strings libmpi_abi.so.1 | grep xmpi-build` tells it for a file without running it.
 */
#include "config.h"

extern const char xmpi_build[];
__attribute__((used)) const char xmpi_build[] = "xmpi-build " PACKAGE_VERSION " with " __VERSION__;

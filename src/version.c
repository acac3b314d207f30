/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The one object of libmpi_abi that is not part of the core library: what this build is.
 * `strings libmpi_abi.so.1 | grep xmpi-build` tells it for a file without running it.
 * It has a section of its own, by which xmpirun knows statically linked programs.
 */
#include "config.h"

extern const char xmpi_build[];
__attribute__((used, section("xmpi-build"))) const char xmpi_build[] =
    "xmpi-build " PACKAGE_VERSION " with " __VERSION__;

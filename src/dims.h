/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Balanced factors of a number.
 */
#ifndef XMPI_DIMS_H
#define XMPI_DIMS_H

/* Write n >= 1 as a product of k >= 1 sides, as equal as can be, largest first. */
int dims_balance(int n, int k, int *sides);

#endif

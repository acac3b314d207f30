/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Generalized requests: the one thing the rest of src has to know about them.
 */
#ifndef XMPI_GREQ_H
#define XMPI_GREQ_H

/* What the program's free function returned when a request was released since the last call;
 * MPI_SUCCESS when none was or it had nothing to say. */
int greq_take_error(void);

#endif

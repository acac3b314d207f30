/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the tuning file (tuning.h) says of data on GPUs, for who begins.
 */
#ifndef XMPI_TUNING_DEVICE_H
#define XMPI_TUNING_DEVICE_H

/* Where there is a GPU: set the knobs that the file in force has for it (param_advise), once. */
void tuning_for_device(void);

#endif

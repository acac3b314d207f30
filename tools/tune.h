/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpi tune: measures the collectives of this machine and writes a tuning file (coll/tuning.h).
 * tune.c starts the ranks and writes the file; tune_rank.c is what each rank does; tune_device.c is about
 * data on a GPU.
 */
#ifndef XMPI_TOOLS_TUNE_H
#define XMPI_TOOLS_TUNE_H

#include "coll/call.h"

#include <stdbool.h>

enum { TUNE_MOST_BYTES = 16 << 20 }; /* of a vector, or of the blocks of all ranks */

/* argv[0] is "tune".  Returns the exit code. */
int tune_main(int argc, char **argv);

/* Is there a choice that depends on how much data there is, as far as all ranks know it? */
bool tune_measures(enum collective what);

/* One rank of a measurement: "tune-rank" COLLECTIVES MAX_BYTES SECONDS, below xmpirun.  Rank 0
 * writes rows to stdout and says on stderr what it does. */
int tune_rank_main(int argc, char **argv);

/* Run `xmpi WORDS...` on so many ranks; what rank 0 prints goes to the file.  0, or 1 and it has said why. */
int tune_run(const char *ranks, char *const words[], int file);

/* Is there a GPU that ranks can use?  Then measure what is about it, and write its row. */
bool tune_device_is_here(void);
int tune_device(int file);

/* One of its two ranks: "tune-device" ["block"]. */
int tune_device_main(int argc, char **argv);

#endif

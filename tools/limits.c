/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The part of xmpi info about limits: what is fixed in the library, and what the ranks of a node take
 * of shared memory at most.
 */
#include "tools/info.h"

#include "coll/tiny.h"
#include "pml/shm/area.h"
#include "runtime/param.h"
#include "runtime/record.h"
#include "tools/report.h"

#include <limits.h>
#include <stdio.h>

void info_limits(struct report *r)
{
    report_group(r, "limits");
    report_text(r, "tags", "0 to %d", INT_MAX);
    report_number(r, "ranks per node", AREA_MOST_RANKS);
    report_number(r, "eager bytes", params[PARAM_ID_EAGER].number);
    report_number(r, "chunk bytes", CHUNK_BYTES);
    report_text(r, "chunks per rank", "%d; of 128 ranks on a node: %d", CHUNKS,
                area_chunks(128));
    report_text(r, "slots per pair", "%u; of 128 ranks on a node: %u", bootseg_slots(1),
                bootseg_slots(128));
    report_number(r, "slot bytes", BOOT_SLOT_BYTES);
    report_number(r, "tiny collective bytes", TINY_BYTES);
    report_number(r, "shared bytes per rank", AREA_CHUNKS_OFFSET + CHUNKS * CHUNK_BYTES);
    report_text(r, "shared bytes per pair", "%zu; of 128 ranks on a node: %zu",
                bootseg_pair_bytes(1), bootseg_pair_bytes(128));
    for (int ranks = 8; ranks <= 512; ranks *= 4) {
        char name[40];
        snprintf(name, sizeof name, "shared by %d ranks", ranks);
        size_t all = areas_bytes(ranks) + (size_t)ranks * sizeof(struct record_area);
        report_text(r, name, "at most %.1f MiB, when every pair has talked",
                    (double)all / (1 << 20));
    }
    report_end(r);
}

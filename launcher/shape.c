/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The topology of a host in bytes, see remote.h: asked for when a plan is to be shown, or depends
 * on it.
 */
#include "launcher/remote.h"

#include <stdlib.h>

void shape_pack(struct pack *pack, const struct topology *topology)
{
    pack_number(pack, topology->npus);
    for (int i = 0; i < topology->npus; i++) {
        const struct pu *pu = &topology->pus[i];
        pack_number(pack, pu->cpu);
        pack_number(pack, pu->core);
        pack_number(pack, pu->l3);
        pack_number(pack, pu->numa);
        pack_number(pack, pu->package);
    }
}

/* An object by its number; counts how many there are of its kind. */
static int object(struct unpack *from, int least, int *n)
{
    int number = unpack_int(from, least, CPUS_MAX - 1);
    if (number >= *n)
        *n = number + 1;
    return number;
}

void shape_unpack(struct unpack *from, struct topology *topology)
{
    *topology = (struct topology){ .npus = unpack_int(from, 0, CPUS_MAX) };
    topology->pus = calloc((size_t)topology->npus + 1, sizeof *topology->pus);
    if (!topology->pus)
        abort();
    for (int i = 0; i < topology->npus && !from->bad; i++)
        topology->pus[i] = (struct pu){
            .cpu = unpack_int(from, 0, CPUS_MAX - 1),
            .core = object(from, 0, &topology->ncores),
            .l3 = object(from, -1, &topology->nl3),
            .numa = object(from, -1, &topology->nnuma),
            .package = object(from, -1, &topology->npackages),
        };
    if (from->bad)
        topology_free(topology);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The topology of a host in bytes, see remote.h: asked for when a plan is to be shown, or depends
 * on it.
 */
#include "launcher/gpus.h"
#include "launcher/out.h"
#include "launcher/remote.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_GPUS = 1024 };

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
    pack_number(pack, topology->ngpus);
    for (int i = 0; i < topology->ngpus; i++) {
        char list[CPUS_CHARS];
        pack_text(pack, topology->gpus[i].bus);
        pack_text(pack, topology->gpus[i].uuid);
        pack_text(pack, cpuset_format(&topology->gpus[i].near, list, sizeof list));
    }
}

/* Without hwloc there is nothing to tell; then nobody is bound here either. */
void shape_pack_here(struct pack *pack, const struct options *own)
{
    struct topology shape = { 0 };
    struct cpuset allowed;
    const char *why;
    cpuset_allowed(&allowed);
    if (topology_load(&shape, &allowed, &why) != 0)
        notice("no topology: %s", why);
    if (own)
        gpus_keep_visible(&shape, gpus_visible(own));
    shape_pack(pack, &shape);
    topology_free(&shape);
}

/* An object by its number; counts how many there are of its kind. */
static int object(struct unpack *from, int least, int *n)
{
    int number = unpack_int(from, least, CPUS_MAX - 1);
    if (number >= *n)
        *n = number + 1;
    return number;
}

static void gpus_unpack(struct unpack *from, struct topology *topology)
{
    int n = unpack_int(from, 0, MOST_GPUS);
    for (int i = 0; i < n && !from->bad; i++) {
        struct gpu gpu = { 0 };
        snprintf(gpu.bus, sizeof gpu.bus, "%s", unpack_text(from));
        snprintf(gpu.uuid, sizeof gpu.uuid, "%s", unpack_text(from));
        from->bad |= !cpuset_parse(&gpu.near, unpack_text(from)) || cpuset_is_empty(&gpu.near);
        topology_add_gpu(topology, &gpu);
    }
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
    gpus_unpack(from, topology);
    if (from->bad)
        topology_free(topology);
}

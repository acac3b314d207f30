/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The topology, by hwloc.  hwloc is opened only when a decision depends on it (binding, mapping,
 * a job as large as the machine): linking it would cost every start 0.1 ms, loading a topology
 * costs 1 ms or more.  Three traps are avoided here:
 *
 *   plugins    by default hwloc opens its pci, opencl and gl plugins (3 ms, and the last talks
 *              to X servers): they are hidden by pointing HWLOC_PLUGINS_PATH nowhere
 *   filters    KEEP_STRUCTURE drops the core level when a core has one thread: what we need is
 *              kept, and I/O left out (it costs 20 ms); of that PCI devices are let in from
 *              files, for their GPUs
 *   affinity   hwloc shows CPUs outside our mask: they are left out when copying
 *
 * The result is copied into a small table of our own, which is all that map.c knows.
 */
#include "launcher/topo.h"

#include "launcher/cgroup.h"
#include "launcher/gpus.h"
#include "launcher/siphash.h"
#include "runtime/symbols.h"
#include "runtime/system_text.h"

#include <dlfcn.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The functions of hwloc that are used, looked up in the library at run time. */
#define HWLOC_FUNCTIONS(row)                                                                   \
    row(topology_init) row(topology_set_synthetic) row(topology_set_xml)                       \
        row(topology_set_io_types_filter) row(topology_set_type_filter) row(topology_load)     \
            row(topology_destroy) row(get_type_depth) row(get_nbobjs_by_depth)                 \
                row(get_obj_by_depth) row(bitmap_first) row(bitmap_isset)
#define DECLARE(name) __typeof__(&hwloc_##name) name;
static struct {
    HWLOC_FUNCTIONS(DECLARE)
} lib;
#define NAME(name) { "hwloc_" #name, &lib.name },
static const struct symbol functions[] = { HWLOC_FUNCTIONS(NAME) };

static const char *open_hwloc(void)
{
    static void *handle;
    if (handle)
        return NULL;
    void *opened = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);
    if (!opened)
        return "hwloc is not installed (Debian: libhwloc15)";
    if (symbols_find(opened, functions, sizeof functions / sizeof functions[0]))
        return "this hwloc lacks a function";
    handle = opened;
    return NULL;
}

static hwloc_obj_t ancestor(hwloc_obj_t object, hwloc_obj_type_t type)
{
    while (object && object->type != type)
        object = object->parent;
    return object;
}

struct numbering { /* of one kind of object */
    int n;
    unsigned *keys;
};

/* A dense number in order of appearance: hwloc's numbers count what we may not use. */
static int number_of(struct numbering *kind, hwloc_obj_t object)
{
    if (!object)
        return -1;
    for (int i = kind->n - 1; i >= 0; i--) /* the latest is the likeliest */
        if (kind->keys[i] == object->logical_index)
            return i;
    kind->keys[kind->n] = object->logical_index;
    return kind->n++;
}

static hwloc_obj_t numa_of(hwloc_topology_t machine, hwloc_obj_t pu)
{
    int os_index = pu->nodeset ? lib.bitmap_first(pu->nodeset) : -1;
    int depth = lib.get_type_depth(machine, HWLOC_OBJ_NUMANODE);
    unsigned n = lib.get_nbobjs_by_depth(machine, depth);
    for (unsigned i = 0; os_index >= 0 && i < n; i++) {
        hwloc_obj_t node = lib.get_obj_by_depth(machine, depth, i);
        if ((int)node->os_index == os_index)
            return node;
    }
    return NULL;
}

enum { CORES, CACHES, NODES, PACKAGES, KINDS };

static const char *copy_pus(struct topology *topology, hwloc_topology_t machine,
                            const struct cpuset *allowed)
{
    int depth = lib.get_type_depth(machine, HWLOC_OBJ_PU);
    unsigned n = lib.get_nbobjs_by_depth(machine, depth);
    struct numbering kinds[KINDS];
    unsigned *memory = calloc(KINDS * (size_t)n + 1, sizeof *memory);
    topology->pus = calloc((size_t)n + 1, sizeof *topology->pus);
    if (!memory || !topology->pus)
        return "out of memory";
    for (int k = 0; k < KINDS; k++)
        kinds[k] = (struct numbering){ 0, memory + (unsigned)k * n };
    topology->npus = 0;
    for (unsigned i = 0; i < n; i++) {
        hwloc_obj_t pu = lib.get_obj_by_depth(machine, depth, i);
        if (pu->os_index >= CPUS_MAX || (allowed && !cpuset_has(allowed, (int)pu->os_index)))
            continue;
        hwloc_obj_t core = ancestor(pu, HWLOC_OBJ_CORE);
        topology->pus[topology->npus++] = (struct pu){
            .cpu = (int)pu->os_index,
            .core = number_of(&kinds[CORES], core ? core : pu),
            .l3 = number_of(&kinds[CACHES], ancestor(pu, HWLOC_OBJ_L3CACHE)),
            .numa = number_of(&kinds[NODES], numa_of(machine, pu)),
            .package = number_of(&kinds[PACKAGES], ancestor(pu, HWLOC_OBJ_PACKAGE)),
        };
    }
    topology->ncores = kinds[CORES].n;
    topology->nl3 = kinds[CACHES].n;
    topology->nnuma = kinds[NODES].n;
    topology->npackages = kinds[PACKAGES].n;
    free(memory);
    return topology->npus ? NULL : "hwloc finds no CPU that may be used";
}

/* ---- GPUs ---- */

enum {
    NVIDIA = 0x10de,
    CLASS_DISPLAY = 0x03 /* VGA and 3D controllers, of 0x0300 and 0x0302 */
};

static bool is_gpu(hwloc_obj_t device)
{
    const struct hwloc_pcidev_attr_s *pci = &device->attr->pcidev;
    return pci->vendor_id == NVIDIA && pci->class_id >> 8 == CLASS_DISPLAY;
}

static int by_bus(const void *left, const void *right)
{
    const struct gpu *a = left, *b = right;
    size_t m = strlen(a->bus), n = strlen(b->bus); /* domains may have more digits */
    return m != n ? (m > n) - (m < n) : strcmp(a->bus, b->bus);
}

void topology_add_gpu(struct topology *topology, const struct gpu *gpu)
{
    size_t n = (size_t)topology->ngpus + 1;
    topology->gpus = realloc(topology->gpus, n * sizeof *topology->gpus);
    if (!topology->gpus)
        abort();
    struct gpu *added = &topology->gpus[topology->ngpus++];
    *added = *gpu;
    memset(&added->near, 0, sizeof added->near);
    for (int all = 0; all < 2 && cpuset_is_empty(&added->near); all++)
        for (int i = 0; i < topology->npus; i++)
            if (all || cpuset_has(&gpu->near, topology->pus[i].cpu))
                cpuset_add(&added->near, topology->pus[i].cpu);
    qsort(topology->gpus, n, sizeof *topology->gpus, by_bus);
}

/* What a device hangs from says which CPUs are near. */
static void copy_gpu(struct topology *topology, hwloc_obj_t device)
{
    const struct hwloc_pcidev_attr_s *pci = &device->attr->pcidev;
    struct gpu gpu = { 0 };
    snprintf(gpu.bus, sizeof gpu.bus, "%04x:%02x:%02x.%x", pci->domain, pci->bus, pci->dev,
             pci->func);
    hwloc_obj_t host = device;
    while (host && !host->cpuset)
        host = host->parent;
    for (int cpu = 0; host && cpu < CPUS_MAX; cpu++)
        if (lib.bitmap_isset(host->cpuset, (unsigned)cpu))
            cpuset_add(&gpu.near, cpu);
    topology_add_gpu(topology, &gpu);
}

static void copy_gpus(struct topology *topology, hwloc_topology_t machine)
{
    unsigned n = lib.get_nbobjs_by_depth(machine, HWLOC_TYPE_DEPTH_PCI_DEVICE);
    for (unsigned i = 0; i < n; i++) {
        hwloc_obj_t device = lib.get_obj_by_depth(machine, HWLOC_TYPE_DEPTH_PCI_DEVICE, i);
        if (is_gpu(device))
            copy_gpu(topology, device);
    }
}

/* ---- loading ---- */

struct origin { /* nothing: this machine */
    const char *synthetic, *xml;
};

static const char *load(struct topology *topology, const struct origin *origin,
                        const struct cpuset *allowed)
{
    static const hwloc_obj_type_t kept[] = { HWLOC_OBJ_PACKAGE, HWLOC_OBJ_NUMANODE,
                                             HWLOC_OBJ_L3CACHE, HWLOC_OBJ_CORE, HWLOC_OBJ_PU };
    hwloc_topology_t machine;
    if (lib.topology_init(&machine) != 0)
        return "out of memory";
    const char *why = NULL;
    if (origin->synthetic && lib.topology_set_synthetic(machine, origin->synthetic) != 0)
        why = "it is not in hwloc's synthetic form, such as \"package:2 core:4 pu:2\"";
    if (origin->xml && lib.topology_set_xml(machine, origin->xml) != 0)
        why = "it is no topology in hwloc's XML";
    lib.topology_set_io_types_filter(machine, HWLOC_TYPE_FILTER_KEEP_NONE);
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        lib.topology_set_type_filter(machine, kept[i], HWLOC_TYPE_FILTER_KEEP_ALL);
    if (origin->xml)
        lib.topology_set_type_filter(machine, HWLOC_OBJ_PCI_DEVICE,
                                     HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (!why && lib.topology_load(machine) != 0)
        why = origin->xml ? "hwloc cannot read the topology in it"
                          : "hwloc cannot read the topology of this machine";
    if (!why)
        why = copy_pus(topology, machine, allowed);
    if (!why)
        copy_gpus(topology, machine);
    lib.topology_destroy(machine);
    return why;
}

/* Without the plugins of hwloc. */
static int load_plainly(struct topology *topology, const struct origin *origin,
                        const struct cpuset *allowed, const char **why)
{
    *topology = (struct topology){ 0 };
    static const char plugins[] = "HWLOC_PLUGINS_PATH";
    char *before = getenv(plugins);
    before = before ? strdup(before) : NULL;
    setenv(plugins, "/nonexistent", 1);
    *why = open_hwloc();
    if (!*why)
        *why = load(topology, origin, allowed);
    if (before)
        setenv(plugins, before, 1);
    else
        unsetenv(plugins);
    free(before);
    return *why ? -1 : 0;
}

int topology_load(struct topology *topology, const struct cpuset *allowed, const char **why)
{
    if (load_plainly(topology, &(struct origin){ 0 }, allowed, why) != 0)
        return -1;
    gpus_find(topology, "");
    return 0;
}

int topology_synthetic(struct topology *topology, const char *description,
                       const struct cpuset *allowed, const char **why)
{
    return load_plainly(topology, &(struct origin){ .synthetic = description }, allowed, why);
}

int topology_recorded(struct topology *topology, const char *path, const char **why)
{
    return load_plainly(topology, &(struct origin){ .xml = path }, NULL, why);
}

void topology_free(struct topology *topology)
{
    free(topology->pus);
    free(topology->gpus);
    *topology = (struct topology){ 0 };
}

/* ---- the budget ---- */

/* Cores among the allowed CPUs: those that are the first allowed one of their siblings. */
static int count_cores(const struct cpuset *allowed, int pus)
{
    char text[256];
    if (system_text("/sys/devices/system/cpu/smt/active", text, sizeof text) && text[0] == '0')
        return pus;
    int cores = 0;
    for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
        if (!cpuset_has(allowed, cpu))
            continue;
        char path[96];
        snprintf(path, sizeof path,
                 "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
        struct cpuset siblings = { { 0 } };
        bool known = system_text(path, text, sizeof text) && cpuset_parse(&siblings, text);
        bool first = true;
        for (int other = 0; known && other < cpu; other++)
            if (cpuset_has(&siblings, other) && cpuset_has(allowed, other))
                first = false;
        cores += first;
    }
    return cores;
}

void budget_of(struct budget *budget, const struct topology *topology, bool count_threads)
{
    *budget = (struct budget){ .pus = topology->npus };
    for (int i = 0; i < topology->npus; i++)
        cpuset_add(&budget->allowed, topology->pus[i].cpu);
    budget->cores = count_threads ? topology->npus : topology->ncores;
    budget->slots = budget->cores;
}

/* The kernel of a machine gives itself a name when it starts. */
static uint64_t name_of_cpus(const struct cpuset *allowed)
{
    static const uint8_t key[KEY_BYTES] = "xmpi CPUs";
    struct {
        char boot[64];
        struct cpuset allowed;
    } name = { .allowed = *allowed };
    if (!system_text("/proc/sys/kernel/random/boot_id", name.boot, sizeof name.boot))
        return 0;
    return siphash(key, &name, sizeof name);
}

void budget_read(struct budget *budget, bool count_threads)
{
    cpuset_allowed(&budget->allowed);
    budget->pus = cpuset_count(&budget->allowed);
    budget->cores = count_threads ? budget->pus : count_cores(&budget->allowed, budget->pus);
    budget->quota = cgroup_cpu_quota("/proc/self/cgroup", "/sys/fs/cgroup");
    budget->slots = budget->cores;
    budget->cpus = budget->quota > 0 ? 0 : name_of_cpus(&budget->allowed);
    if (budget->quota > 0 && budget->quota < budget->slots) {
        int whole = (int)budget->quota;
        budget->slots = whole < budget->quota ? whole + 1 : whole;
    }
}

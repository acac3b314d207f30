/* SPDX-License-Identifier: BSD-3-Clause
 *
 * GPUs of machines nobody here has (test/machines): which of them ranks may use, which rank uses
 * which, and how the CPUs near to them are shared.
 */
#include "launcher/gpus.h"
#include "launcher/remote.h"

#include "test/unit/files.h"

#include <unistd.h>

#define DGX  "dgx-2x56-8gpu.xml" /* packages of 56 cores, 4 GPUs each */
#define SIDE "one-side-2x16-4gpu.xml"
#define NPS4 "epyc-nps4-4gpu.xml" /* 4 NUMA nodes; the first GPU is near to the last one */

static void machine_read(struct topology *topology, const char *machine)
{
    char path[512];
    const char *why;
    snprintf(path, sizeof path, MACHINES "/%s", machine);
    ck_assert_msg(topology_recorded(topology, path, &why) == 0, "%s: %s", machine, why);
}

START_TEST(gpus_are_found_and_other_devices_are_not)
{
    struct topology t;
    char text[64];
    machine_read(&t, DGX); /* with network cards, a switch, and the graphics of its board */
    ck_assert_int_eq(t.ngpus, 8);
    ck_assert_str_eq(t.gpus[0].bus, "0000:1b:00.0");
    ck_assert_str_eq(t.gpus[7].bus, "0000:df:00.0");
    ck_assert_str_eq(cpuset_format(&t.gpus[4].near, text, sizeof text), "56-111,168-223");
    topology_free(&t);
    machine_read(&t, NPS4); /* the order is that of PCI, not of the machine */
    ck_assert_str_eq(t.gpus[0].bus, "0000:03:00.0");
    ck_assert_str_eq(cpuset_format(&t.gpus[0].near, text, sizeof text), "48-63");
    topology_free(&t);
    machine_read(&t, "grace-72-gpu.xml"); /* memory of a GPU, but no device */
    ck_assert_int_eq(t.ngpus, 0);
    topology_free(&t);
}
END_TEST

/* "cpus=gpu|.." for the ranks of a job. */
static const char *placed(const char *machine, const struct map_options *decided, int nranks)
{
    static char text[1024];
    struct topology topology;
    struct placement placements[16];
    machine_read(&topology, machine);
    map_cpus(&topology, decided, nranks, placements);
    size_t used = 0;
    for (int i = 0; i < nranks; i++) {
        char cpus[128];
        cpuset_format(&placements[i].cpus, cpus, sizeof cpus);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%d", i ? "|" : "",
                                 *cpus ? cpus : "any", placements[i].gpu);
    }
    topology_free(&topology);
    return text;
}

START_TEST(ranks_and_gpus_are_near_to_each_other)
{
    static const struct {
        const char *machine;
        struct map_options decided; /* by, per, pe, to, per_host */
        int nranks;
        const char *placed;
    } rows[] = {
        /* the GPU first: equal shares of what is near */
        { SIDE, { LEVEL_GPU, 0, 0, LEVEL_CORE, 0 }, 3, "0-4=0|5-9=1|10-15=2" },
        { SIDE, { LEVEL_GPU, 0, 0, LEVEL_CORE, 0 }, 5, "0-2=0|3-5=1|6-8=2|9-11=3|12-15=0" },
        { SIDE, { LEVEL_GPU, 2, 0, LEVEL_CORE, 0 }, 4, "0-3=0|4-7=0|8-11=1|12-15=1" },
        { SIDE, { LEVEL_GPU, 0, 6, LEVEL_CORE, 0 }, 3, "0-5=0|6-11=1|0-1,12-15=2" },
        { SIDE, { LEVEL_GPU, 0, 0, LEVEL_GPU, 0 }, 2, "0-15=0|0-15=1" },
        { SIDE, { LEVEL_GPU, 0, 0, LEVEL_NONE, 0 }, 2, "any=0|any=1" },
        { SIDE, { LEVEL_GPU, 0, 0, LEVEL_PACKAGE, 0 }, 2, "0-15=0|0-15=1" },
        { NPS4,
          { LEVEL_GPU, 0, 0, LEVEL_CORE, 0 },
          5,
          "48-55=0|32-47=1|16-31=2|0-15=3|56-63=0" },
        { DGX, { LEVEL_GPU, 0, 1, LEVEL_HWTHREAD, 0 }, 2, "0=0|112=1" },
        { DGX, { LEVEL_GPU, 4, 0, LEVEL_NUMA, 0 }, 2, "0-55,112-167=0|0-55,112-167=0" },
        /* the CPUs first: the nearest GPU, but all have equally many */
        { DGX, { LEVEL_PACKAGE, 0, 1, LEVEL_CORE, 0 }, 4, "0,112=0|56,168=4|1,113=1|57,169=5" },
        { NPS4, { LEVEL_SLOT, 0, 1, LEVEL_CORE, 0 }, 6, "0=3|1=3|2=0|3=1|4=2|5=0" },
        { SIDE, { LEVEL_PACKAGE, 0, 1, LEVEL_CORE, 0 }, 4, "0=0|16=2|1=1|17=3" },
        { SIDE, { LEVEL_SLOT, 0, 1, LEVEL_NONE, 0 }, 2, "any=-1|any=-1" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *got = placed(rows[i].machine, &rows[i].decided, rows[i].nranks);
        ck_assert_msg(strcmp(got, rows[i].placed) == 0, "row %zu: %s, not %s", i, got,
                      rows[i].placed);
    }
}
END_TEST

/* Any number of ranks: nobody goes without, and GPUs differ by one rank at most. */
START_TEST(gpus_have_equally_many_ranks)
{
    static const char *const machines[] = { DGX, SIDE, NPS4 };
    static const enum level levels[] = { LEVEL_GPU, LEVEL_SLOT, LEVEL_NUMA, LEVEL_PACKAGE };
    static struct placement placements[100];
    for (int m = 0; m < 3; m++) {
        struct topology t;
        machine_read(&t, machines[m]);
        for (int l = 0; l < 4; l++)
            for (int n = 1; n <= 100; n += 3) {
                struct map_options decided = { .by = levels[l], .pe = 1, .to = LEVEL_CORE };
                int has[8] = { 0 };
                map_cpus(&t, &decided, n, placements);
                for (int i = 0; i < n; i++) {
                    ck_assert(placements[i].gpu >= 0 && placements[i].gpu < t.ngpus);
                    has[placements[i].gpu]++;
                }
                for (int gpu = 0; gpu < t.ngpus; gpu++) {
                    ck_assert_int_ge(has[gpu], n / t.ngpus);
                    ck_assert_int_le(has[gpu], (n + t.ngpus - 1) / t.ngpus);
                }
            }
        topology_free(&t);
    }
}
END_TEST

static bool fits(const struct topology *t, const struct map_options *decided, int nranks)
{
    struct map_fit fit = map_fit(t, decided, nranks, false);
    return map_fits(&fit, decided);
}

START_TEST(a_core_for_each_rank_near_its_gpu)
{
    struct topology t;
    struct map_options by_gpu = { .by = LEVEL_GPU };
    machine_read(&t, SIDE);
    ck_assert(fits(&t, &by_gpu, 16));
    ck_assert(!fits(&t, &by_gpu, 17)); /* of 32 cores */
    struct map_options four_each = { .by = LEVEL_GPU, .pe = 4 };
    ck_assert(fits(&t, &four_each, 4));
    ck_assert(!fits(&t, &four_each, 5));
    topology_free(&t);
    machine_read(&t, DGX);
    ck_assert(fits(&t, &by_gpu, 112));
    by_gpu.per = 57; /* on the first GPU */
    ck_assert(!fits(&t, &by_gpu, 57));
    topology_free(&t);
}
END_TEST

START_TEST(the_default_binds_near_gpus)
{
    static const struct {
        int slots, nranks;
        struct map_options wish;
        enum level by, to;
        int pe;
    } rows[] = {
        { 8, 8, { .by = LEVEL_GPU }, LEVEL_GPU, LEVEL_CORE, 0 },
        { 8, 4, { .by = LEVEL_GPU }, LEVEL_GPU, LEVEL_GPU, 0 }, /* a part of the host */
        { 8, 9, { .by = LEVEL_GPU }, LEVEL_GPU, LEVEL_NONE, 0 },
        { 8, 4, { .by = LEVEL_GPU, .pe = 2 }, LEVEL_GPU, LEVEL_CORE, 2 },
        { 8, 4, { .by = LEVEL_GPU, .to = LEVEL_NUMA }, LEVEL_GPU, LEVEL_NUMA, 0 },
        { 8, 4, { .to = LEVEL_GPU }, LEVEL_GPU, LEVEL_GPU, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct budget budget = { .cores = 8, .pus = 8, .slots = rows[i].slots };
        struct map_options d = map_decide(&rows[i].wish, &budget, rows[i].nranks, false);
        ck_assert_msg(d.to == rows[i].to && d.by == rows[i].by && d.pe == rows[i].pe,
                      "row %zu: bind %s, map %s, pe %d", i, level_name(d.to), level_name(d.by),
                      d.pe);
    }
}
END_TEST

/* ---- which may be used ---- */

#define FOLDER "proc/driver/nvidia/gpus/"

static void driver_shows(const char *bus, int minor, const char *near)
{
    char path[128], text[256];
    snprintf(path, sizeof path, FOLDER "%s/information", bus);
    snprintf(text, sizeof text,
             "Model: \t\t Tesla\nIRQ:   \t\t 97\nGPU UUID: \t GPU-%d%d-5c11\n"
             "Bus Location: \t %s\nDevice Minor: \t %d\n",
             minor, minor, bus, minor);
    put(path, text);
    snprintf(path, sizeof path, "sys/bus/pci/devices/%s/local_cpulist", bus);
    put(path, near);
}

START_TEST(gpus_that_the_driver_shows_and_that_we_may_open)
{
    struct topology t;
    struct cpuset allowed = { { 0 } };
    const char *why;
    char text[64], command[128];
    strcpy(root, "/tmp/xmpi-gpus-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    driver_shows("0000:1e:00.0", 0, "8-15\n");
    driver_shows("0000:1a:00.0", 3, "0-7\n");
    driver_shows("0000:1c:00.0", 2, "0-7\n"); /* another job's: it has no file here */
    driver_shows("10000:01:00.0", 1, "\n");
    put(FOLDER "0000:1d:00.0/information", "Model: Tesla\n"); /* no number */
    put("dev/nvidia3", "");
    put("dev/nvidia0", "");
    put("dev/nvidia1", "");
    put("dev/nvidia", "");
    ck_assert(cpuset_parse(&allowed, "2-5"));
    ck_assert_int_eq(topology_synthetic(&t, "package:2 core:8 pu:1", &allowed, &why), 0);
    gpus_find(&t, "/nonexistent");
    ck_assert_int_eq(t.ngpus, 0);
    gpus_find(&t, root);
    ck_assert_int_eq(t.ngpus, 3);
    ck_assert_str_eq(t.gpus[0].bus, "0000:1a:00.0");
    ck_assert_str_eq(t.gpus[0].uuid, "GPU-33-5c11");
    ck_assert_str_eq(cpuset_format(&t.gpus[0].near, text, sizeof text), "2-5");
    ck_assert_str_eq(t.gpus[1].bus, "0000:1e:00.0"); /* near to none of our CPUs: to all */
    ck_assert_str_eq(cpuset_format(&t.gpus[1].near, text, sizeof text), "2-5");
    ck_assert_str_eq(t.gpus[2].bus, "10000:01:00.0");
    topology_free(&t);
    ck_assert_int_eq(topology_synthetic(&t, "package:2 core:8 pu:1", NULL, &why), 0);
    gpus_find(&t, root);
    ck_assert_str_eq(cpuset_format(&t.gpus[1].near, text, sizeof text), "8-15");
    ck_assert_str_eq(cpuset_format(&t.gpus[2].near, text, sizeof text), "0-15");
    topology_free(&t);
    snprintf(command, sizeof command, "rm -r %s", root);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(visible_gpus_are_those_that_cuda_shows)
{
    static const struct {
        const char *visible, *kept;
    } rows[] = {
        { NULL, "0123" },
        { "", "" },
        { "0", "0" },
        { "3,1", "13" },
        { " 2 , 0 ", "02" },
        { "1,-1,2", "1" }, /* up to what is none */
        { "-1", "" },
        { "4", "" },
        { "0,1,2,3,4", "0123" },
        { "GPU-11-5c11", "1" },
        { "GPU-22", "2" },
        { "GPU-3,GPU-0", "03" },
        { "GPU-", "" },
        { "GPU", "" },
        { "NoDevFiles", "" },
        { "MIG-11", "" },
        { "1,1", "1" },
        { "2;3", "" },
        { "MIG-GPU-22-5c11/1/0", "2" }, /* a part of one */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct topology t;
        char kept[8] = "";
        machine_read(&t, SIDE);
        for (int gpu = 0; gpu < t.ngpus; gpu++)
            snprintf(t.gpus[gpu].uuid, sizeof t.gpus[gpu].uuid, "GPU-%d%d-5c11", gpu, gpu);
        gpus_keep_visible(&t, rows[i].visible);
        for (int gpu = 0; gpu < t.ngpus; gpu++)
            kept[gpu] = t.gpus[gpu].uuid[4];
        ck_assert_msg(strcmp(kept, rows[i].kept) == 0, "\"%s\": %s, not %s", rows[i].visible,
                      kept, rows[i].kept);
        topology_free(&t);
    }
}
END_TEST

/* ---- to xmpirun ---- */

START_TEST(gpus_travel)
{
    struct topology sent, got;
    struct pack pack = { 0 };
    machine_read(&sent, SIDE);
    strcpy(sent.gpus[2].uuid, "GPU-22-5c11");
    shape_pack(&pack, &sent);
    struct unpack from = { pack.bytes, pack.bytes + pack.n, false };
    shape_unpack(&from, &got);
    ck_assert(!from.bad && from.at == from.end);
    ck_assert_int_eq(got.ngpus, 4);
    ck_assert_mem_eq(got.gpus, sent.gpus, 4 * sizeof *got.gpus);
    topology_free(&got);
    for (size_t n = 0; n < pack.n; n++) { /* cut short */
        from = (struct unpack){ pack.bytes, pack.bytes + n, false };
        shape_unpack(&from, &got);
        ck_assert(from.bad && got.npus == 0 && got.ngpus == 0);
    }
    topology_free(&sent);
    pack_free(&pack);
}
END_TEST

/* Hyperthreads that may be used, and of their core only the second one is near. */
START_TEST(half_a_core_is_near)
{
    struct topology t;
    struct gpu gpu = { .bus = "0000:01:00.0" };
    struct map_options by_gpu = { .by = LEVEL_GPU, .to = LEVEL_CORE };
    struct placement placement;
    const char *why;
    char text[32];
    ck_assert_int_eq(topology_synthetic(&t, "package:1 core:2 pu:2", NULL, &why), 0);
    cpuset_add(&gpu.near, 3);
    topology_add_gpu(&t, &gpu);
    ck_assert(fits(&t, &by_gpu, 1));
    map_cpus(&t, &by_gpu, 1, &placement);
    ck_assert_str_eq(cpuset_format(&placement.cpus, text, sizeof text), "2-3");
    topology_free(&t);
}
END_TEST

/* One CPU, and a GPU near to these. */
START_TEST(gpus_that_make_no_sense_are_refused)
{
    static const char *const near[] = { "", "x", "4096", "3-1" };
    for (size_t i = 0; i <= sizeof near / sizeof near[0]; i++) {
        struct pack pack = { 0 };
        struct topology got;
        bool many = i == sizeof near / sizeof near[0];
        for (int j = 0; j < 6; j++)
            pack_number(&pack, j == 0);
        pack_number(&pack, many ? 1 << 20 : 1);
        pack_text(&pack, "0000:01:00.0");
        pack_text(&pack, "");
        pack_text(&pack, many ? "0" : near[i]);
        struct unpack from = { pack.bytes, pack.bytes + pack.n, false };
        shape_unpack(&from, &got);
        ck_assert(from.bad && got.npus == 0 && got.ngpus == 0);
        pack_free(&pack);
    }
}
END_TEST

UNIT_MAIN("gpus", gpus_are_found_and_other_devices_are_not,
          ranks_and_gpus_are_near_to_each_other, gpus_have_equally_many_ranks,
          a_core_for_each_rank_near_its_gpu, the_default_binds_near_gpus,
          gpus_that_the_driver_shows_and_that_we_may_open,
          visible_gpus_are_those_that_cuda_shows, half_a_core_is_near, gpus_travel,
          gpus_that_make_no_sense_are_refused)

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpi info: version, build, links, libraries, CPUs, settings and limits.  Everything is read
 * from where the library itself has it (runtime/params.def, the forms of shared memory), or tried
 * (probe.h); it starts nothing, and takes half a second where libfabric is installed.
 */
#include "config.h"
#include "tools/info.h"

#include "mpi.h"
#include "coll/tuning_device.h"
#include "runtime/gpu.h"
#include "runtime/hw.h"
#include "runtime/param.h"
#include "runtime/reading.h"
#include "tools/grid.h"
#include "tools/probe.h"
#include "tools/report.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ---- what it is ---- */

/* The folder above the one that this program lies in, or where configure put it. */
static const char *prefix_here(char *path, size_t room)
{
    ssize_t n = readlink("/proc/self/exe", path, room - 1);
    if (n <= 0)
        return BUILD_PREFIX;
    path[n] = '\0';
    char *program = strrchr(path, '/');
    if (!program || program == path)
        return BUILD_PREFIX;
    *program = '\0';
    char *bin = strrchr(path, '/');
    if (!bin || strcmp(bin, "/bin") != 0)
        return BUILD_PREFIX; /* not installed */
    *bin = '\0';
    return path;
}

static void show_version(struct report *r)
{
    char path[PATH_MAX];
    report_group(r, "xmpi");
    report_text(r, "version", "%s", PACKAGE_VERSION);
    report_text(r, "standard", "MPI %d.%d", MPI_VERSION, MPI_SUBVERSION);
    report_text(r, "abi", "MPI standard ABI %d.%d (libmpi_abi.so.1)", MPI_ABI_VERSION,
                MPI_ABI_SUBVERSION);
    report_text(r, "prefix", "%s", prefix_here(path, sizeof path));
    report_end(r);
}

static void show_build(struct report *r)
{
    report_group(r, "build");
    report_text(r, "compiler", "%s, version %s", BUILD_CC, __VERSION__);
    report_text(r, "flags", "%s", BUILD_CFLAGS);
    report_truth(r, "argument checks", XMPI_CHECKING);
    report_text(r, "sanitizers", "%s", *BUILD_SANITIZERS ? BUILD_SANITIZERS : "none");
    report_text(r, "thread level", "%s", "MPI_THREAD_MULTIPLE");
    report_end(r);
}

/* ---- what it finds ---- */

static void show_way(struct report *r, const char *name, bool works, const char *text)
{
    if (!r->json) {
        report_text(r, name, "%s: %s", works ? "works" : "does not work", text);
        return;
    }
    report_group(r, name);
    report_truth(r, "works", works);
    report_text(r, works ? "for" : "why", "%s", text);
    report_end(r);
}

/* What rules go by (coll/rules.c), unless XMPI_SHM_SINGLE_COPY=cma or XPMEM spare it. */
static const char *reading_text(char text[PROBE_CHARS])
{
    struct reading_times times = reading_measure();
    snprintf(
        text, PROBE_CHARS,
        "process_vm_readv among ranks of one node; 32 KiB in %.1f us, two copies in %.1f: %s",
        (double)times.read / 1e3, (double)times.copied_twice / 1e3,
        reading_judge(times) == READING_DEAR ? "dear" : "not dear");
    return text;
}

static void show_links(struct report *r)
{
    char why[PROBE_CHARS], cost[PROBE_CHARS];
    report_group(r, "links");
    show_way(r, "self", true, "messages to oneself");
    bool shared = probe_shared_memory(why);
    show_way(r, "shm", shared, shared ? "ranks of one node, through shared memory" : why);
    bool cross = probe_cross_memory(why);
    show_way(r, "cross-memory reads", cross, cross ? reading_text(cost) : why);
    bool mapped = probe_mapped_memory(why);
    show_way(r, "mapped memory", mapped,
             mapped ? "XPMEM, memory of other ranks of one node without system calls" : why);
    report_end(r);
}

static void show_libraries(struct report *r)
{
    char text[PROBE_CHARS];
    report_group(r, "libraries opened when needed");
    probe_pmix(text);
    report_text(r, "PMIx", "%s", text);
    probe_hwloc(text);
    report_text(r, "hwloc", "%s", text);
    probe_libfabric(text);
    report_text(r, "libfabric", "%s", text);
    report_text(r, "CUDA", "%s",
                gpu_is_here() ? "a driver: buffers on devices, operations in their streams"
                              : "no driver of a GPU: memory of the host only");
    int device = gpu_choice(text);
    if (device >= 0)
        report_text(r, "CUDA device", "%d: %s", device, text);
    report_end(r);
}

static void show_cpus(struct report *r)
{
    char list[PROBE_CHARS];
    probe_cpus(list, sizeof list);
    report_group(r, "CPUs");
    report_number(r, "usable together", hw_usable_cpus());
    report_text(r, "affinity mask", "%s", list);
    report_number(r, "online", sysconf(_SC_NPROCESSORS_ONLN));
    report_end(r);
}

/* ---- settings ---- */

static const char *const type_names[] = { [PARAM_INT] = "number",
                                          [PARAM_SIZE] = "bytes",
                                          [PARAM_BOOL] = "yes or no",
                                          [PARAM_STRING] = "text" };

static void param_value(const struct param *p, char *text, size_t room)
{
    if (p->type == PARAM_STRING)
        snprintf(text, room, "%s", p->string ? p->string : "");
    else if (p->type == PARAM_BOOL)
        snprintf(text, room, "%s", p->number ? "yes" : "no");
    else
        snprintf(text, room, "%lld", p->number);
}

static const char *origin_of(const struct param *p)
{
    return p->is_set ? "environment" : p->from ? p->from : "default";
}

static void param_json(struct report *r, const struct param *p)
{
    char value[1024];
    param_value(p, value, sizeof value);
    report_group(r, p->name);
    report_text(r, "variable", "XMPI_%s", p->name);
    report_text(r, "type", "%s", type_names[p->type]);
    if (p->type == PARAM_STRING)
        report_text(r, "value", "%s", value);
    else if (p->type == PARAM_BOOL)
        report_truth(r, "value", p->number != 0);
    else
        report_number(r, "value", p->number);
    report_text(r, "default", "%s", p->standard);
    report_text(r, "origin", "%s", origin_of(p));
    report_text(r, "help", "%s", p->help);
    report_end(r);
}

static void param_line(const struct param *p)
{
    char value[1024];
    param_value(p, value, sizeof value);
    printf("  %-22s %s%s%s\n%25s%s\n", p->name, *value ? value : "(empty)",
           p->is_set ? "  from the environment"
           : p->from ? "  measured, "
                     : "",
           p->from ? p->from : "", "", p->help);
    if (p->is_set || p->from)
        printf("%25sDefault: %s.\n", "", *p->standard ? p->standard : "(empty)");
}

static void show_params(struct report *r)
{
    params_read();
    tuning_for_device();
    report_group(r, r->json ? "settings" : "settings (XMPI_<name> in the environment)");
    for (int i = 0; i < PARAM_COUNT; i++) {
        if (r->json)
            param_json(r, &params[i]);
        else
            param_line(&params[i]);
    }
    report_end(r);
}

/* One knob, by "EAGER" or "XMPI_EAGER". */
static int show_param(struct report *r, const char *name)
{
    params_read();
    tuning_for_device();
    const char *bare = strncasecmp(name, "XMPI_", 5) ? name : name + 5;
    for (int i = 0; i < PARAM_COUNT; i++) {
        const struct param *p = &params[i];
        if (strcasecmp(p->name, bare) != 0)
            continue;
        char value[1024];
        param_value(p, value, sizeof value);
        if (r->json) {
            param_json(r, p);
        } else {
            report_text(r, "variable", "XMPI_%s", p->name);
            report_text(r, "value", "%s", value);
            report_text(r, "default", "%s", p->standard);
            report_text(r, "origin", "%s", origin_of(p));
            report_text(r, "type", "%s", type_names[p->type]);
            report_text(r, "meaning", "%s", p->help);
        }
        return 0;
    }
    fprintf(stderr, "xmpi info: there is no setting %s; `xmpi info` lists them\n", name);
    return 1;
}

/* ---- the command ---- */

static void usage(FILE *to)
{
    fputs(
        "usage: xmpi info [--json] [--param NAME] [--grid 4x4 | --torus 4x4]\n\n"
        "Prints what this xmpi is, how it was built, which links work here, which libraries\n"
        "it finds, which network it would use and why, the settings in force and their origin, "
        "and the limits.\n\n"
        "  --param NAME   one setting only\n"
        "  --grid 4x4     what reordering would do for a grid on the ranks as they are bound:\n"
        "                 hop cost before and after, and the rank at each place; as in\n"
        "                 xmpirun -np 16 --bind-to core xmpi info --grid 4x4\n"
        "  --torus 4x4    the same with the ends of the grid joined\n"
        "  --json         one JSON object instead of text\n\n"
        "What a running program decides it tells itself: with XMPI_LOG=1 among other things\n"
        "the hop cost of a topology before and after reordering, with XMPI_EXPLAIN=all the\n"
        "plan of each collective.  `xmpirun --dry-run` shows where ranks would go.\n",
        to);
}

int info_main(int argc, char **argv)
{
    bool json = false;
    bool periodic = false;
    const char *param = NULL, *grid = NULL;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--json")) {
            json = true;
        } else if (!strcmp(argv[i], "--param") && i + 1 < argc) {
            param = argv[++i];
        } else if (!strncmp(argv[i], "--param=", 8)) {
            param = argv[i] + 8;
        } else if ((!strcmp(argv[i], "--grid") || !strcmp(argv[i], "--torus")) &&
                   i + 1 < argc) {
            periodic = !strcmp(argv[i], "--torus");
            grid = argv[++i];
        } else {
            bool help = !strcmp(argv[i], "--help") || !strcmp(argv[i], "-h");
            if (!help)
                fprintf(stderr, "xmpi info: %s is not an option\n", argv[i]);
            usage(help ? stdout : stderr);
            return help ? 0 : 2;
        }
    }
    if (grid)
        return grid_show(grid, periodic, json);
    struct report r = report_open(stdout, json);
    int code = 0;
    if (param) {
        code = show_param(&r, param);
    } else {
        show_version(&r);
        show_build(&r);
        show_links(&r);
        show_libraries(&r);
        info_networks(&r);
        show_cpus(&r);
        show_params(&r);
        info_limits(&r);
    }
    report_close(&r);
    return code;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Looking at this host: limits, files of the kernel, libraries, devices.  Nothing is judged here, and
 * nothing is started but what probe.c tries.  With a `root` the kernel's files are looked for below
 * it, so that a test can make them up; limits and libraries stay those of this process.
 */
#define _GNU_SOURCE 1 /* sched_getaffinity, CPU_COUNT_S */
#include "tools/machine_facts.h"

#include "launcher/cgroup.h"
#include "pml/survey.h"
#include "runtime/clock.h"
#include "runtime/fail.h"
#include "runtime/param.h"
#include "runtime/system_text.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

struct place { /* a path below the root */
    char path[PATH_MAX];
};

static struct place below(const char *root, const char *path)
{
    struct place place;
    snprintf(place.path, sizeof place.path, "%s%s", root, path);
    return place;
}

/* ---- files of the kernel ---- */

static long long shm_bytes(const char *root)
{
    struct statvfs fs;
    if (statvfs(below(root, "/dev/shm").path, &fs) != 0)
        return -1;
    return (long long)fs.f_blocks * (long long)fs.f_frsize;
}

static void clock_source(const char *root, char *text, size_t room)
{
    static const char name[] =
        "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    system_text(below(root, name).path, text, room);
    text[strcspn(text, "\n")] = '\0';
}

/* Entries of a folder that begin with `prefix` and a digit. */
static int count_devices(const char *root, const char *folder, const char *prefix)
{
    DIR *dir = opendir(below(root, folder).path);
    int n = 0;
    if (!dir)
        return 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        size_t length = strlen(prefix);
        if (strncmp(entry->d_name, prefix, length) == 0)
            n += length == 0 ? entry->d_name[0] != '.'
                             : strspn(entry->d_name + length, "0123456789") > 0;
    }
    closedir(dir);
    return n;
}

/* ---- limits and time ---- */

static long long limit(int which, bool hard)
{
    struct rlimit l;
    if (getrlimit((__rlimit_resource_t)which, &l) != 0)
        return -1;
    rlim_t value = hard ? l.rlim_max : l.rlim_cur;
    return value == RLIM_INFINITY ? -1 : (long long)value;
}

static int cpus_here(void)
{
    enum { MOST = 8192 };
    cpu_set_t *mask = CPU_ALLOC(MOST);
    size_t bytes = CPU_ALLOC_SIZE(MOST);
    int n = 1;
    if (mask && sched_getaffinity(0, bytes, mask) == 0)
        n = CPU_COUNT_S(bytes, mask);
    CPU_FREE(mask);
    return n;
}

/* The least of several batches: others disturb, nobody helps. */
static double clock_cost(void)
{
    enum { BATCHES = 20, READINGS = 500 };
    double least = 1e9;
    for (int batch = 0; batch < BATCHES; batch++) {
        uint64_t begin = clock_ns(), end = begin;
        for (int i = 0; i < READINGS; i++)
            end = clock_ns();
        double each = (double)(end - begin) / READINGS;
        if (each < least)
            least = each;
    }
    return least;
}

/* ---- the network ---- */

static void note_network(void *to, const struct network *network)
{
    static const char *const without_pinning[] = { "net", "tcp", "sockets", "shm" };
    struct machine_facts *facts = to;
    if (!network->used || facts->network.there)
        return;
    facts->network.there = facts->pins = true;
    snprintf(facts->network.text, sizeof facts->network.text, "provider %s, interface %.*s",
             network->provider, (int)strcspn(network->place, " "), network->place);
    size_t name = strcspn(network->provider, ";");
    for (size_t i = 0; i < sizeof without_pinning / sizeof *without_pinning; i++)
        if (strlen(without_pinning[i]) == name &&
            strncmp(network->provider, without_pinning[i], name) == 0)
            facts->pins = false;
}

static void look_at_network(struct machine_facts *facts)
{
    params_read();
    facts->fabric.there = probe_libfabric(facts->fabric.text);
    if (networks_survey(note_network, facts) && !facts->network.there)
        snprintf(facts->network.text, sizeof facts->network.text, "%s", fail_text());
}

/* ---- the agent ---- */

static bool is_in_path(const char *program)
{
    const char *path = getenv("PATH");
    char place[PATH_MAX];
    if (strchr(program, '/'))
        return access(program, X_OK) == 0;
    while (path && *path) {
        int folder = (int)strcspn(path, ":");
        snprintf(place, sizeof place, "%.*s/%s", folder, path, program);
        if (access(place, X_OK) == 0)
            return true;
        path += folder + (path[folder] == ':');
    }
    return false;
}

static struct fact look_at_agent(void)
{
    const char *template = getenv("XMPI_LAUNCH_AGENT");
    struct fact agent = { 0 };
    if (!template || !*template)
        template = "ssh";
    snprintf(agent.text, sizeof agent.text, "%.*s", (int)strcspn(template, " "), template);
    agent.there = is_in_path(agent.text);
    return agent;
}

/* ---- GPUs ---- */

/* Asks NVIDIA's driver, which may take a second where there are GPUs. */
static struct fact ask_cuda(void)
{
    struct fact gpu = { 0 };
    int (*init)(unsigned), (*count)(int *), n = 0, error;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *init_at = library ? dlsym(library, "cuInit") : NULL;
    void *count_at = library ? dlsym(library, "cuDeviceGetCount") : NULL;
    if (!init_at || !count_at) {
        snprintf(gpu.text, sizeof gpu.text, "libcuda.so.1 cannot be opened");
        return gpu;
    }
    memcpy(&init, &init_at, sizeof init);
    memcpy(&count, &count_at, sizeof count);
    error = init(0);
    if (!error)
        error = count(&n);
    gpu.there = !error && n > 0;
    if (error)
        snprintf(gpu.text, sizeof gpu.text, "the driver answers with error %d", error);
    else
        snprintf(gpu.text, sizeof gpu.text, "%d visible", n);
    return gpu;
}

/* ---- all ---- */

struct machine_facts machine_look(const char *root)
{
    struct machine_facts facts = { .shm_bytes = shm_bytes(root),
                                   .locked = limit(RLIMIT_MEMLOCK, false),
                                   .open_files = limit(RLIMIT_NOFILE, true),
                                   .cpus = cpus_here(),
                                   .online = (int)sysconf(_SC_NPROCESSORS_ONLN),
                                   .clock_ns = clock_cost(),
                                   .agent = look_at_agent() };
    facts.sharing.there = probe_shared_memory(facts.sharing.text);
    facts.reading.there = probe_cross_memory(facts.reading.text);
    facts.mapping.there = probe_mapped_memory(facts.mapping.text);
    facts.xpmem = access(below(root, "/dev/xpmem").path, F_OK) == 0;
    facts.quota = cgroup_cpu_quota(below(root, "/proc/self/cgroup").path,
                                   below(root, "/sys/fs/cgroup").path);
    clock_source(root, facts.clock, sizeof facts.clock);
    facts.pmix.there = probe_pmix(facts.pmix.text);
    facts.hwloc.there = probe_hwloc(facts.hwloc.text);
    look_at_network(&facts);
    facts.rdma = count_devices(root, "/sys/class/infiniband", "");
    facts.gpus = count_devices(root, "/dev", "nvidia");
    if (facts.gpus)
        facts.gpu = ask_cuda();
    facts.amd = access(below(root, "/dev/kfd").path, F_OK) == 0;
    return facts;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * PMIx_server_init takes 25 ms of CPU time when it is left alone.  These measures leave 2:
 *
 *     topology     The library would load the whole topology of the machine and only keep it.
 *                  It is given a trivial one: clients load their own, and where ranks run we
 *                  tell them in our own words (pmix_job.c).
 *     data store   `hash`, in memory; the default one fills files of 4 MB, also at the end.
 *     hwloc        does not look for plug-ins (graphics libraries among them).
 *     events       are passed on at once, not after a second.
 *     sockets      send small messages at once: with Nagle's algorithm news of a death took
 *                  40 ms.  Connections inherit this from the listening socket.
 *
 * What the library has to say about clients that die while they talk to it goes nowhere without
 * -v: that a rank has died is told by the launcher.
 *
 * All settings of the library are environment variables.  What an outer PMIx job left in ours
 * is taken out for good, ours are removed again, and what the user has set stays.
 */
#define _GNU_SOURCE 1 /* asprintf */
#include "launcher/pmix_start.h"

#include "launcher/out.h"
#include "launcher/pmix_lib.h"

#include <dirent.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

extern char **environ;

/* ---- the environment ---- */

static char quiet[16]; /* number of a descriptor of /dev/null */

static struct {
    const char *name, *value;
    bool set; /* by us */
} settings[] = {
    { "PMIX_MCA_gds", "hash", false },
    { "PMIX_MCA_pmix_event_caching_window", "0", false },
    { "HWLOC_PLUGINS_PATH", "/nonexistent", false },
    { "PMIX_OUTPUT_STDERR_FD", quiet, false },
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

static void settings_add(void)
{
    int fd = notices_wanted ? STDERR_FILENO : open("/dev/null", O_WRONLY | O_CLOEXEC);
    snprintf(quiet, sizeof quiet, "%d", fd);
    for (int i = 0; i < SETTINGS; i++) {
        settings[i].set = !getenv(settings[i].name);
        setenv(settings[i].name, settings[i].value, 0);
    }
}

static void settings_remove(void)
{
    for (int i = 0; i < SETTINGS; i++)
        if (settings[i].set)
            unsetenv(settings[i].name);
}

/* The library reads who its server is, and how to talk to it, from these. */
static void forget_outer_job(void)
{
    for (char **item = environ; *item;) {
        char name[128];
        size_t bytes = strcspn(*item, "=");
        bool ours = strncmp(*item, "PMIX_", 5) == 0 && strncmp(*item, "PMIX_MCA_", 9) != 0;
        if (ours && bytes < sizeof name) {
            snprintf(name, sizeof name, "%.*s", (int)bytes, *item);
            unsetenv(name);
        } else {
            item++;
        }
    }
}

/* ---- the network ---- */

/* Without a loopback interface the library listens elsewhere and clients never get through. */
static bool loopback_is_up(void)
{
    struct ifreq request = { .ifr_name = "lo" };
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool up = fd >= 0 && ioctl(fd, SIOCGIFFLAGS, &request) == 0 && request.ifr_flags & IFF_UP;
    if (fd >= 0)
        close(fd);
    return up;
}

static bool is_listening(int fd)
{
    int listening = 0;
    socklen_t bytes = sizeof listening;
    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &bytes) == 0 && listening;
}

/* The launcher itself listens nowhere: what listens is the library. */
static void hurry_messages(void)
{
    DIR *fds = opendir("/proc/self/fd");
    struct dirent *entry;
    while (fds && (entry = readdir(fds))) {
        int fd = atoi(entry->d_name), yes = 1;
        if (fd > STDERR_FILENO && is_listening(fd))
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    }
    if (fds)
        closedir(fds);
}

/* ---- the topology ---- */

/* hwloc's functions, in the hwloc that libpmix has loaded. */
static bool trivial_topology(pmix_topology_t *topology)
{
    static const char *const names[] = { "hwloc_topology_init", "hwloc_topology_set_synthetic",
                                         "hwloc_topology_load" };
    void *symbols[3];
    for (int i = 0; i < 3; i++)
        if (!(symbols[i] = pmix_lib_symbol(names[i])))
            return false;
    int (*init)(void **), (*set_synthetic)(void *, const char *), (*load)(void *);
    memcpy(&init, &symbols[0], sizeof init);
    memcpy(&set_synthetic, &symbols[1], sizeof set_synthetic);
    memcpy(&load, &symbols[2], sizeof load);
    topology->source = "hwloc";
    return init(&topology->topology) == 0 && set_synthetic(topology->topology, "pu:1") == 0 &&
           load(topology->topology) == 0;
}

/* ---- the server ---- */

static pmix_info_t text(const char *key, const char *value)
{
    pmix_info_t info = { .value.type = PMIX_STRING };
    strncpy(info.key, key, sizeof info.key - 1);
    info.value.data.string = (char *)value;
    return info;
}

static pmix_status_t init(const char *nspace, const char *host, const char *scratch,
                          pmix_server_module_t *module)
{
    char name[PMIX_MAX_NSLEN + 1];
    snprintf(name, sizeof name, "xmpirun-%s", nspace);
    pmix_topology_t topology = { 0 };
    pmix_info_t info[] = {
        text(PMIX_SERVER_TMPDIR, scratch),
        text(PMIX_SYSTEM_TMPDIR, scratch),
        text(PMIX_SERVER_NSPACE, name),
        text(PMIX_HOSTNAME, host),
        { .key = PMIX_SERVER_RANK, .value = { .type = PMIX_PROC_RANK, .data.rank = 0 } },
        { .key = PMIX_SERVER_TOOL_SUPPORT,
          .value = { .type = PMIX_BOOL, .data.flag = module->tool_connected != NULL } },
        { .key = PMIX_TOPOLOGY2, .value = { .type = PMIX_TOPO, .data.topo = &topology } },
    };
    size_t n = sizeof info / sizeof info[0];
    if (!trivial_topology(&topology))
        n--; /* it costs time, nothing else */
    return pmix_lib.server_init(module, info, n);
}

const char *pmix_server_start(const char *nspace, const char *host, const char *scratch,
                              pmix_server_module_t *module)
{
    if (!loopback_is_up())
        return "the loopback interface is down (ip link set lo up)";
    forget_outer_job();
    settings_add();
    const char *why = pmix_lib_open();
    if (!why) {
        pmix_status_t status = init(nspace, host, scratch, module);
        if (status != PMIX_SUCCESS)
            why = pmix_lib.Error_string(status);
    }
    settings_remove();
    if (!why)
        hurry_messages();
    return why;
}

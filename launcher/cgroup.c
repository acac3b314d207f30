/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Control groups.  A CPU quota is invisible to affinity masks and to hwloc: a container limited
 * to two CPUs of a machine with 64 still sees 64.  Limits nest, so every group from ours up to
 * the root counts; inside a container the path may not exist below the mount point, then the
 * walk upwards ends at the root of what is mounted, which is the container's own group.
 */
#include "launcher/cgroup.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The start of a small file as text; false when there is none. */
static bool slurp(const char *path, char *text, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, room - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0;
}

static bool lists(const char *controllers, size_t bytes, const char *wanted)
{
    size_t n = strlen(wanted);
    if (!n)
        return !bytes; /* version 2 has no list */
    for (const char *p = controllers; p < controllers + bytes;) {
        size_t word = strcspn(p, ",:");
        if (word == n && memcmp(p, wanted, n) == 0)
            return true;
        p += word + 1;
    }
    return false;
}

bool cgroup_path(const char *text, const char *controller, char *path, size_t room)
{
    while (*text) { /* "4:cpu,cpuacct:/user.slice" */
        const char *list = strchr(text, ':');
        const char *end = list ? strchr(list + 1, ':') : NULL;
        if (!end)
            return false;
        size_t bytes = strcspn(end + 1, "\n");
        if (lists(list + 1, (size_t)(end - list - 1), controller)) {
            snprintf(path, room, "%.*s", (int)bytes, end + 1);
            return true;
        }
        text = end + 1 + bytes;
        text += *text == '\n';
    }
    return false;
}

double cgroup_parse_max(const char *text)
{
    char *end;
    double quota = strtod(text, &end);
    double period = strtod(end, NULL);
    return end == text || period <= 0 ? 0 : quota / period;
}

static double limit_v2(const char *directory)
{
    char path[PATH_MAX], text[128];
    snprintf(path, sizeof path, "%s/cpu.max", directory);
    return slurp(path, text, sizeof text) ? cgroup_parse_max(text) : 0;
}

static double limit_v1(const char *directory)
{
    char path[PATH_MAX], quota[64], period[64];
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", directory);
    if (!slurp(path, quota, sizeof quota) || atof(quota) <= 0)
        return 0;
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", directory);
    if (!slurp(path, period, sizeof period) || atof(period) <= 0)
        return 0;
    return atof(quota) / atof(period);
}

/* The least limit of the groups from mount/path up to mount. */
static double least_limit(const char *mount, const char *path, double (*limit)(const char *))
{
    char directory[PATH_MAX / 2];
    snprintf(directory, sizeof directory, "%s%s", mount, path);
    double least = 0;
    while (strlen(directory) >= strlen(mount)) {
        double here = limit(directory);
        if (here > 0 && (least == 0 || here < least))
            least = here;
        char *slash = strrchr(directory, '/');
        if (!slash)
            break;
        *slash = 0;
    }
    return least;
}

double cgroup_cpu_quota(const char *self, const char *root)
{
    char text[4096], path[PATH_MAX / 4], mount[PATH_MAX / 4];
    if (!slurp(self, text, sizeof text))
        return 0;
    double least = 0;
    if (cgroup_path(text, "", path, sizeof path))
        least = least_limit(root, path, limit_v2);
    if (cgroup_path(text, "cpu", path, sizeof path)) {
        snprintf(mount, sizeof mount, "%s/cpu", root);
        double old = least_limit(mount, path, limit_v1);
        if (old > 0 && (least == 0 || old < least))
            least = old;
    }
    return least;
}

long cgroup_oom_kills(void)
{
    static char text[1 << 15];
    if (!slurp("/proc/vmstat", text, sizeof text))
        return -1;
    const char *line = strstr(text, "\noom_kill ");
    return line ? atol(line + strlen("\noom_kill ")) : -1;
}

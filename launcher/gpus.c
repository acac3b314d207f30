/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See gpus.h.  The driver has a folder per GPU, called by its place on PCI, and in it a text; the
 * kernel knows the CPUs near to this place:
 *
 *     /proc/driver/nvidia/gpus/0000:1b:00.0/information      GPU UUID:       GPU-8f6d9a3c-..  (or
 *                                                                GPU-????.., opened by nobody yet)
 *                                                            Device Minor:   3
 *     /sys/bus/pci/devices/0000:1b:00.0/local_cpulist        0-55,112-167
 *
 * A container has the folders of those that it was given.  A batch system may keep us from the file of
 * the device, here /dev/nvidia3: access() asks that without waking the GPU up.  hwloc would find the same,
 * but looks at all of PCI for 10 to 30 ms.
 *
 * CUDA's own numbers count the fastest first unless CUDA_DEVICE_ORDER=PCI_BUS_ID; where all are alike
 * that is the same order.  Elsewhere a number may be another GPU than the one meant here: then the
 * rank finds that it is not visible, and takes one that is (runtime/gpu_choice.c).
 */
#include "launcher/gpus.h"

#include "launcher/cli.h"
#include "launcher/environment.h"
#include "runtime/system_text.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDER "/proc/driver/nvidia/gpus"

enum { PATH_CHARS = 512, LINE_CHARS = 4 * CPUS_MAX };

/* ---- the driver ---- */

/* The value after "name:" and blanks, cut to the room there is. */
static void value_of(const char *line, const char *name, char *value, size_t room)
{
    size_t n = strlen(name);
    if (strncmp(line, name, n) != 0 || line[n] != ':')
        return;
    line += n + 1;
    line += strspn(line, " \t");
    snprintf(value, room, "%.*s", (int)strcspn(line, " \t\n"), line);
}

static bool is_usable(struct gpu *gpu, const char *root)
{
    char path[PATH_CHARS], line[LINE_CHARS], minor[16] = "";
    snprintf(path, sizeof path, "%s" FOLDER "/%s/information", root, gpu->bus);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    while (fgets(line, sizeof line, file)) {
        value_of(line, "GPU UUID", gpu->uuid, sizeof gpu->uuid);
        value_of(line, "Device Minor", minor, sizeof minor);
    }
    fclose(file);
    if (strchr(gpu->uuid, '?')) /* nobody has opened the driver yet */
        *gpu->uuid = 0;
    snprintf(path, sizeof path, "%s/dev/nvidia%s", root, minor);
    return *minor && access(path, R_OK | W_OK) == 0;
}

static void find_near(struct gpu *gpu, const char *root)
{
    char path[PATH_CHARS], line[LINE_CHARS];
    snprintf(path, sizeof path, "%s/sys/bus/pci/devices/%s/local_cpulist", root, gpu->bus);
    if (system_text(path, line, sizeof line) && !cpuset_parse(&gpu->near, line))
        gpu->near = (struct cpuset){ { 0 } }; /* not known: all CPUs */
}

void gpus_find(struct topology *topology, const char *root)
{
    char path[PATH_CHARS];
    snprintf(path, sizeof path, "%s" FOLDER, root);
    DIR *folder = opendir(path);
    if (!folder)
        return;
    for (struct dirent *entry; (entry = readdir(folder));) {
        struct gpu gpu = { 0 };
        size_t n = strlen(entry->d_name);
        if (entry->d_name[0] == '.' || n >= sizeof gpu.bus)
            continue;
        memcpy(gpu.bus, entry->d_name, n + 1);
        if (!is_usable(&gpu, root))
            continue;
        find_near(&gpu, root);
        topology_add_gpu(topology, &gpu);
    }
    closedir(folder);
}

/* ---- the user ---- */

/* The GPU that a word of n bytes names; -1: none, or several.  A part of one (MIG) is named by its GPU's UUID
 * and two numbers, or by a UUID of its own, of which nothing here tells whose part it is. */
static int gpu_named(const struct topology *topology, const char *word, size_t n)
{
    char *end;
    if (n > 8 && strncmp(word, "MIG-GPU-", 8) == 0) {
        word += 4;
        n = strcspn(word, "/, \t");
    }
    long number = strtol(word, &end, 10);
    if (n && end == word + n)
        return number >= 0 && number < topology->ngpus ? (int)number : -1;
    int found = -1;
    for (int i = 0; n > 4 && i < topology->ngpus; i++) {
        if (strncmp(topology->gpus[i].uuid, word, n) != 0)
            continue;
        if (found >= 0)
            return -1;
        found = i;
    }
    return found;
}

/* May the word be the UUID of a GPU whose UUID is not known, or of a part of one? */
static bool may_be_unnamed(const struct topology *topology, const char *word, size_t n)
{
    if (n > 4 && strncmp(word, "MIG-", 4) == 0)
        return true;
    for (int i = 0; n > 4 && strncmp(word, "GPU-", 4) == 0 && i < topology->ngpus; i++)
        if (!*topology->gpus[i].uuid)
            return true;
    return false;
}

void gpus_keep_visible(struct topology *topology, const char *visible)
{
    if (!visible || !topology->ngpus)
        return;
    bool *named = calloc((size_t)topology->ngpus, sizeof *named);
    if (!named)
        abort();
    for (;;) {
        visible += strspn(visible, " \t");
        size_t n = strcspn(visible, ", \t");
        int gpu = gpu_named(topology, visible, n);
        if (gpu < 0) {
            topology->unnamed_gpus |= may_be_unnamed(topology, visible, n);
            break;
        }
        named[gpu] = true;
        visible += n + strspn(visible + n, " \t");
        if (*visible++ != ',')
            break;
    }
    int kept = 0;
    for (int i = 0; i < topology->ngpus; i++)
        if (named[i])
            topology->gpus[kept++] = topology->gpus[i];
    topology->ngpus = kept;
    free(named);
}

/* Of several programs, the first one's. */
const char *gpus_visible(const struct options *options)
{
    static const struct strings none;
    struct environment env;
    environment_build(&env, options, &options->apps[0], &none);
    const char *value = environment_get(&env, "CUDA_VISIBLE_DEVICES");
    free(env.list); /* the text is the environment's or the options' */
    return value;
}

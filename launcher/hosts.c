/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Hosts.  Both customs are read:
 *
 *     name:2                       hydra; also on the command line, separated by commas
 *     name slots=2 max_slots=4     Open MPI; also cpu=2 and np=2
 *
 * A name given twice means twice the slots.  Names are not resolved: "this machine" is its host
 * name with or without the domain, localhost, and the loopback addresses, so that starting a
 * job never waits for a name server.
 */
#define _GNU_SOURCE 1 /* asprintf */
#include "launcher/hosts.h"

#include "launcher/out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool host_is_local(const char *name)
{
    if (strcmp(name, "localhost") == 0 || strncmp(name, "127.", 4) == 0 ||
        strcmp(name, "::1") == 0 || strncmp(name, "localhost.", 10) == 0)
        return true;
    char own[256] = "";
    gethostname(own, sizeof own - 1);
    size_t a = strcspn(name, "."), b = strcspn(own, ".");
    if (a != b || memcmp(name, own, a) != 0)
        return false;
    /* Two domains must agree; a name without one agrees with all. */
    return !name[a] || !own[b] || strcmp(name + a, own + b) == 0;
}

struct list {
    struct host *hosts;
    int n;
};

static struct host *host_named(struct list *list, const char *name)
{
    bool local = host_is_local(name);
    for (int i = 0; i < list->n; i++)
        if ((local && list->hosts[i].is_local) || strcmp(list->hosts[i].name, name) == 0)
            return &list->hosts[i];
    list->hosts = realloc(list->hosts, (size_t)(list->n + 1) * sizeof *list->hosts);
    if (!list->hosts)
        abort();
    list->hosts[list->n] = (struct host){ .name = strdup(name), .is_local = local };
    return &list->hosts[list->n++];
}

/* "name", "name:2"; `slots` overrides when not 0. */
static int add(struct list *list, char *word, int slots)
{
    char *colon = strrchr(word, ':');
    if (colon && strchr(word, ':') == colon) { /* more colons: an IPv6 address */
        char *end;
        long n = strtol(colon + 1, &end, 10);
        if (*end || end == colon + 1 || n < 1 || n > 1 << 20) {
            complain("host %s: expected a number of slots after the colon", word);
            return EXIT_USAGE;
        }
        slots = slots ? slots : (int)n;
        *colon = 0;
    }
    int before = list->n;
    struct host *host = host_named(list, word);
    bool again = list->n == before;
    if (again || slots)
        host->slots += (again && !host->slots) + (slots ? slots : 1);
    return 0;
}

static int read_line(struct list *list, char *line)
{
    line[strcspn(line, "#\n")] = 0;
    char *save, *name = strtok_r(line, " \t\r", &save);
    if (!name)
        return 0;
    int slots = 0;
    for (char *word = strtok_r(NULL, " \t\r", &save); word;
         word = strtok_r(NULL, " \t\r", &save))
        if (strncmp(word, "slots=", 6) == 0 || strncmp(word, "count=", 6) == 0)
            slots = atoi(word + 6);
        else if (strncmp(word, "cpu=", 4) == 0)
            slots = atoi(word + 4);
        else if (strncmp(word, "np=", 3) == 0)
            slots = atoi(word + 3);
    return add(list, name, slots);
}

static int read_hostfile(struct list *list, const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file) {
        complain("cannot read the host file %s: %s", path, strerror(errno));
        return EXIT_USAGE;
    }
    char *line = NULL;
    size_t room = 0;
    int status = 0;
    while (!status && getline(&line, &room, file) >= 0)
        status = read_line(list, line);
    free(line);
    fclose(file);
    return status;
}

static int read_all(const struct options *options, struct list *list)
{
    int status = 0;
    for (int i = 0; i < options->hosts.n && !status; i++) {
        char *save, *copy = strdup(options->hosts.text[i]);
        for (char *word = strtok_r(copy, ",", &save); word && !status;
             word = strtok_r(NULL, ",", &save))
            status = add(list, word, 0);
        free(copy);
    }
    for (int i = 0; i < options->hostfiles.n && !status; i++)
        status = read_hostfile(list, options->hostfiles.text[i]);
    return status;
}

/* A batch system gave us more than we can use: the user pays for it, so he is told. */
static void mention_idle_hosts(void)
{
    const char *count = getenv("SLURM_JOB_NUM_NODES");
    if (count && atoi(count) > 1)
        complain("this allocation has %s hosts, only this one is used: name them with -host",
                 count);
}

/* --nnodes: the first of them. */
static int cut_to(struct list *list, int nnodes)
{
    if (nnodes > list->n) {
        complain("--nnodes %d: there %s %d host%s; name more with -host or -hostfile", nnodes,
                 list->n == 1 ? "is" : "are", list->n, list->n == 1 ? "" : "s");
        return EXIT_USAGE;
    }
    if (nnodes > 0)
        list->n = nnodes;
    return 0;
}

int hosts_find(const struct options *options, struct host **hosts, int *nhosts)
{
    struct list list = { 0 };
    int status = read_all(options, &list);
    if (!status && !list.n) {
        char own[256] = "localhost";
        gethostname(own, sizeof own - 1);
        host_named(&list, own);
        if (options->nnodes < 1)
            mention_idle_hosts();
    }
    if (!status)
        status = cut_to(&list, options->nnodes);
    *hosts = list.hosts;
    *nhosts = list.n;
    return status;
}

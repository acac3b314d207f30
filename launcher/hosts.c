/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The list of hosts.  -host and -hostfile say which; without them the batch system does (batch.c),
 * and without one this machine is the only host.  A host of -host that the batch system gave us
 * has the slots it gave us, unless the user says how many.
 *
 * A name given twice means twice the slots.  Names are not resolved: "this machine" is its host
 * name, with or without the domain, what Slurm calls it, localhost, and the loopback addresses, in
 * whatever case, so that starting a job never waits for a name server.
 */
#include "launcher/hosts.h"

#include "launcher/batch.h"
#include "launcher/gather.h"
#include "launcher/out.h"
#include "launcher/ranges.h"
#include "runtime/text_hash.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

bool host_is_local(const char *name)
{
    if (strcasecmp(name, "localhost") == 0 || strncmp(name, "127.", 4) == 0 ||
        strcmp(name, "::1") == 0 || strncasecmp(name, "localhost.", 10) == 0)
        return true;
    const char *batch = batch_own_name();
    if (batch && strcasecmp(name, batch) == 0)
        return true;
    char own[256] = "";
    gethostname(own, sizeof own - 1);
    size_t a = strcspn(name, "."), b = strcspn(own, ".");
    if (a != b || strncasecmp(name, own, a) != 0)
        return false;
    /* Two domains must agree; a name without one agrees with all. */
    return !name[a] || !own[b] || strcasecmp(name + a, own + b) == 0;
}

/* ---- the list ---- */

/* Where the host is in the hash table, which has twice the room of the list, or the free place where it
 * would be.  All names of this machine are one. */
static int *entry_of(const struct host_list *list, const char *name, bool local)
{
    unsigned mask = 2 * (unsigned)list->room - 1;
    for (unsigned i = text_hash(local ? "" : name);; i++) {
        int *entry = &list->table[i & mask];
        const struct host *host = *entry ? &list->hosts[*entry - 1] : NULL;
        if (!host || (local && host->is_local) || strcmp(host->name, name) == 0)
            return entry;
    }
}

struct host *hosts_named(const struct host_list *list, const char *name)
{
    int number = list->n ? *entry_of(list, name, host_is_local(name)) : 0;
    return number ? &list->hosts[number - 1] : NULL;
}

static void grow(struct host_list *list)
{
    list->room = list->room ? 2 * list->room : 4;
    size_t room = (size_t)list->room;
    list->hosts = realloc(list->hosts, room * sizeof *list->hosts);
    free(list->table);
    list->table = calloc(2 * room, sizeof *list->table);
    if (!list->hosts || !list->table)
        abort();
    for (int i = 0; i < list->n; i++)
        *entry_of(list, list->hosts[i].name, list->hosts[i].is_local) = i + 1;
}

static struct host *host_new(struct host_list *list, const char *name)
{
    if (list->n == list->room)
        grow(list);
    bool local = host_is_local(name);
    char *copy = strdup(name);
    if (!copy)
        abort();
    list->hosts[list->n++] = (struct host){ .name = copy, .is_local = local };
    *entry_of(list, name, local) = list->n;
    return &list->hosts[list->n - 1];
}

void hosts_free(struct host_list *list)
{
    for (int i = 0; i < list->n; i++)
        free((char *)list->hosts[i].name);
    free(list->hosts);
    free(list->table);
    *list = (struct host_list){ 0 };
}

struct addition { /* of names to a list */
    struct host_list *list;
    struct host_words words;
    const char *where;
};

/* An address with colons, perhaps after a user and with the interface behind it: joe@fe80::1%eth0. */
static bool is_bare_address(const char *word)
{
    char text[INET6_ADDRSTRLEN];
    struct in6_addr address;
    const char *at = strrchr(word, '@');
    const char *begin = at ? at + 1 : word;
    size_t bytes = strcspn(begin, "%");
    if (bytes >= sizeof text)
        return false;
    memcpy(text, begin, bytes);
    text[bytes] = 0;
    return inet_pton(AF_INET6, text, &address) == 1;
}

/* Split "name:2", "[::1]:2" and "joe@[::1]:2"; what has more colons is a bare IPv6 address.  False: neither, or
 * what follows the name is no colon with a number. */
static bool split_slots(char *word, int *slots)
{
    char *open = strchr(word, '['), *close = open ? strchr(open, ']') : NULL;
    char *colon = close ? close + 1 : strrchr(word, ':');
    if (close && open != word && open[-1] != '@')
        return false;
    if (colon && !close && strchr(word, ':') != colon) {
        if (!is_bare_address(word))
            return false;
        colon = NULL;
    }
    if (colon && !*colon)
        colon = NULL;
    char *end;
    long n = colon ? strtol(colon + 1, &end, 10) : 0;
    if (colon && (*colon != ':' || *end || end == colon + 1 || n < 1 || n > RANGES_MOST))
        return false;
    *slots = (int)n;
    if (colon)
        *colon = 0;
    if (close) { /* without the brackets */
        *close = 0;
        memmove(open, open + 1, strlen(open));
    }
    return true;
}

/* Of a host that is named again; more than a job can have is as good as that. */
static int more_slots(int before, int more)
{
    int sum = (before ? before : 1) + (more ? more : 1);
    return sum < RANGES_MOST ? sum : RANGES_MOST;
}

static int add_one(void *to, char *word)
{
    const struct addition *addition = to;
    struct host_words words = addition->words;
    int slots = 0;
    char shown[100];
    snprintf(shown, sizeof shown, "%s", word);
    if (!split_slots(word, &slots) || !*word || strpbrk(word, " \t")) {
        complain("%shost \"%s\": expected a name, or a name, a colon and a number of slots; "
                 "commas are between hosts",
                 addition->where, shown);
        return EXIT_USAGE;
    }
    if (!words.slots)
        words.slots = slots;
    struct host *host = hosts_named(addition->list, word);
    if (host)
        host->slots = more_slots(host->slots, words.slots);
    else
        (host = host_new(addition->list, word))->slots = words.slots;
    if (words.max_slots)
        host->max_slots = words.max_slots;
    return 0;
}

int hosts_add(struct host_list *list, const char *text, struct host_words words,
              const char *where)
{
    const char *why;
    struct addition addition = { list, words, where };
    int status = ranges_walk(text, add_one, &addition, &why);
    if (status >= 0)
        return status;
    complain("%shosts %s: %s", where, text, why);
    return EXIT_USAGE;
}

/* ---- where they come from ---- */

static int read_wishes(const struct options *options, struct host_list *list)
{
    int status = 0;
    if (options->hosts_section < 0 && !options->spawned)
        complain("several sections name hosts: these are one list for all ranks, in order, and "
                 "not a list "
                 "for each section; --dry-run shows who runs where");
    for (int i = 0; i < options->hosts.n && !status; i++) {
        status = hosts_add(list, options->hosts.text[i], (struct host_words){ 0 }, "");
        if (!status && !list->n) {
            complain("-host \"%s\" names no host; leave it out to run where xmpirun would",
                     options->hosts.text[i]);
            status = EXIT_USAGE;
        }
    }
    for (int i = 0; i < options->hostfiles.n && !status; i++)
        status = hostfile_read(list, options->hostfiles.text[i], 0);
    return status;
}

/* What the batch system says.  Where the user has named hosts only slots are missed when it is not to be
 * understood. */
static int read_batch(struct host_list *given, bool named)
{
    int status = batch_hosts(given);
    if (!status)
        return 0;
    hosts_free(given);
    complain(named
                 ? "going on with the hosts that were named, without slots of the batch system"
                 : "-host or -hostfile names hosts instead");
    return named ? 0 : status;
}

/* The slots that the batch system gave us on hosts that the user named without any. */
static void take_slots(struct host_list *list, const struct host_list *given)
{
    for (int i = 0; i < list->n; i++) {
        const struct host *host = hosts_named(given, list->hosts[i].name);
        if (host && !list->hosts[i].slots)
            list->hosts[i].slots = host->slots;
    }
}

/* --nnodes: the first of them. */
static int cut_to(struct host_list *list, int nnodes)
{
    if (nnodes > list->n) {
        complain("--nnodes %d: there %s %d host%s; name more with -host or -hostfile, or "
                 "start an xmpirun on each with --node-rank",
                 nnodes, list->n == 1 ? "is" : "are", list->n, list->n == 1 ? "" : "s");
        return EXIT_USAGE;
    }
    if (nnodes > 0)
        list->n = nnodes;
    return 0;
}

int hosts_find(const struct options *options, struct host **hosts, int *nhosts)
{
    struct host_list list = { 0 }, given = { 0 };
    if (gather_is_wanted(options)) {
        *hosts = gather_hosts(options);
        *nhosts = options->nnodes;
        return 0;
    }
    int status = read_wishes(options, &list);
    if (!status)
        status = read_batch(&given, list.n);
    if (!status && !list.n) {
        list = given;
        given = (struct host_list){ 0 };
    }
    take_slots(&list, &given);
    hosts_free(&given);
    if (!status && !list.n) {
        char own[256] = "localhost";
        gethostname(own, sizeof own - 1);
        host_new(&list, own);
    }
    if (!status)
        status = cut_to(&list, options->nnodes);
    free(list.table);
    *hosts = list.hosts;
    *nhosts = list.n;
    return status;
}

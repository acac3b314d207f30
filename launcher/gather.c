/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See gather.h.  The same command on every host, but for the number of the node:
 *
 *     xmpirun --nnodes 2 --node-rank 0 --nproc-per-node 8 --master-addr a --master-port 29500 ./x
 *     xmpirun --nnodes 2 --node-rank 1 ...
 *
 * Node 0 becomes what xmpirun is in other jobs, the others become its xmpids, but with their own
 * command line, environment and directory.  The port is closed as soon as all have come, so that
 * the program can use it.  Who knows XMPI_SECRET belongs to the job; where it is not set everybody
 * does who reaches the port, and is told who runs where, and no more.
 */
#include "launcher/gather.h"

#include "launcher/out.h"
#include "launcher/remote.h"
#include "launcher/uplink.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

bool gather_is_wanted(const struct options *options)
{
    return options->node_rank >= 0 && options->nnodes > 1;
}

int gather_port(const struct options *options)
{
    char *end = NULL;
    long port = options->master_port ? strtol(options->master_port, &end, 10) : 0;
    return end && !*end && port > 0 && port < 65536 ? (int)port : 0;
}

int gather_check(const struct options *options)
{
    if (options->node_rank < 0)
        return 0;
    if (options->node_rank > 0 && options->node_rank >= options->nnodes)
        complain("--node-rank %d: it must be less than --nnodes %d", options->node_rank,
                 options->nnodes);
    else if (options->nnodes > 1 && (options->hosts.n || options->hostfiles.n))
        complain("--node-rank says that each host has an xmpirun of its own: leave out -host "
                 "and -hostfile, or --node-rank");
    else if (options->nnodes > 1 && (!options->master_addr || !gather_port(options)))
        complain("--node-rank needs --master-addr and the number of a --master-port, where "
                 "node 0 is found");
    else
        return 0;
    return EXIT_USAGE;
}

int gather_ranks_here(const struct options *options, const struct budget *budget)
{
    int n = options->map.per_host;
    if (n == PER_HOST_SLOTS)
        return budget->slots;
    return n < GATHER_MOST_RANKS ? n : GATHER_MOST_RANKS;
}

int gather_ranks(const struct options *options)
{
    int64_t n = 0;
    for (int i = 0; i < options->napps; i++)
        n += options->apps[i].np > 0 ? options->apps[i].np : options->napps > 1;
    return n < GATHER_MOST_RANKS ? (int)n : GATHER_MOST_RANKS;
}

struct host *gather_hosts(const struct options *options)
{
    struct host *hosts = calloc((size_t)options->nnodes, sizeof *hosts);
    char name[32];
    for (int i = 0; hosts && i < options->nnodes; i++) {
        snprintf(name, sizeof name, "node%d", i);
        hosts[i] = (struct host){ .name = strdup(name), .is_local = i == 0 };
    }
    if (!hosts)
        abort();
    return hosts;
}

void gather_secret(const struct options *options, uint8_t secret[KEY_BYTES])
{
    static const uint8_t start[KEY_BYTES] = "xmpi --node-rank";
    const char *known = getenv("XMPI_SECRET"), *id = options->job_name;
    uint8_t first[KEY_BYTES];
    siphash_key(start, known ? known : "", known ? strlen(known) : 0, first);
    siphash_key(first, id ? id : "", id ? strlen(id) : 0, secret);
}

/* --master-addr as a list for dial; NULL after a complaint. */
static char *addresses(const struct options *options)
{
    struct addrinfo *list = NULL, how = { .ai_socktype = SOCK_STREAM };
    int error = getaddrinfo(options->master_addr, options->master_port, &how, &list);
    if (error) {
        complain("--master-addr %s: %s", options->master_addr, gai_strerror(error));
        return NULL;
    }
    char *text = NULL, host[NI_MAXHOST], port[NI_MAXSERV];
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    for (struct addrinfo *at = list; to && at; at = at->ai_next)
        if (getnameinfo(at->ai_addr, at->ai_addrlen, host, sizeof host, port, sizeof port,
                        NI_NUMERICHOST | NI_NUMERICSERV) == 0)
            fprintf(to, at->ai_family == AF_INET6 ? "%s[%s]:%s" : "%s%s:%s",
                    at == list ? "" : ",", host, port);
    if (!to || fclose(to) != 0)
        abort();
    freeaddrinfo(list);
    return text;
}

int gather_join(const struct options *options)
{
    static uint8_t secret[KEY_BYTES];
    char *where = addresses(options);
    if (!where)
        return EXIT_USAGE;
    int patience = remote_patience(GATHER_SECONDS);
    if (patience < 0)
        return EXIT_USAGE;
    gather_secret(options, secret);
    struct budget budget;
    budget_read(&budget, options->hwthreads);
    struct call call = { .addresses = where,
                         .number = options->node_rank - 1,
                         .secret = secret,
                         .own = options,
                         .ranks = gather_ranks(options),
                         .ranks_here = gather_ranks_here(options, &budget),
                         .seconds = remote_seconds(options, patience) };
    return uplink_run(&call);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Booting under a launcher that gives each process RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT and
 * no more: torchrun, a script with ssh, a Kubernetes job.  The ranks meet at a store of rank 0
 * (store.h), which says who shares a node; the first rank of each node makes its segment:
 *
 *     HELLO, host -> TABLE -> (first of the node: make it, SEGMENT) -> map it -> READY -> GO
 *
 * MPI_Init waits for all ranks.  A node is what can see each other's processes: same boot of the
 * machine, same PID namespace, same user.  The port is not MASTER_PORT, which programs use themselves.
 * Deaths are told by nobody; the launcher ends the others when a rank fails.
 */
#include "runtime/boot_way.h"
#include "runtime/fail.h"
#include "runtime/log.h"
#include "runtime/param.h"
#include "runtime/store.h"
#include "runtime/system_text.h"

#include "mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TAKEN_ENV "XMPI_STORE_RANK" /* <rank>:<pid> of the process that has it */
enum { PORT_STEP = 700, PORT_HIGH = 64000, RANKS_MOST = 1 << 24 };

struct gathering {
    int rank, size, port;
    int32_t *nodes; /* of each rank */
    int *peers;     /* world ranks of our node, ascending */
    int nlocal, local_rank, nnodes;
    int master_pid; /* of rank 0, so that all call the job alike */
    int fd;         /* of the segment, in the first rank of the node */
};

/* ---- who are we ---- */

static int number_read(const char *name, long least, long most, int *to)
{
    char *end;
    const char *text = getenv(name);
    long value = strtol(text, &end, 10);
    if (*end || end == text || value < least || value > most)
        return fail(MPI_ERR_OTHER, "%s=%s: expected a number from %ld to %ld", name, text,
                    least, most);
    *to = (int)value;
    return MPI_SUCCESS;
}

/* A child of an MPI process inherits the variables of its rank. */
static int rank_is_free(int rank)
{
    const char *taken = getenv(TAKEN_ENV);
    int whose = -1, pid = 0;
    if (!taken || sscanf(taken, "%d:%d", &whose, &pid) != 2 || whose != rank || pid == getpid())
        return MPI_SUCCESS;
    return fail(MPI_ERR_OTHER,
                "this process was started by rank %d of the job (pid %d), which is an MPI "
                "process itself; unset RANK in its environment to let it run on its own",
                rank, pid);
}

static int variables_read(struct gathering *g)
{
    int master, error = number_read("WORLD_SIZE", 2, RANKS_MOST, &g->size);
    if (!error)
        error = number_read("RANK", 0, g->size - 1, &g->rank);
    if (!error)
        error = number_read("MASTER_PORT", 1, 65535, &master);
    if (error)
        return error;
    params_read();
    g->port = (int)param_number(STORE_PORT);
    if (g->port <= 0)
        g->port = master > PORT_HIGH ? master - PORT_STEP : master + PORT_STEP;
    return rank_is_free(g->rank);
}

static void host_name(char *text, size_t room)
{
    char boot_id[40];
    if (!system_text("/proc/sys/kernel/random/boot_id", boot_id, sizeof boot_id))
        strcpy(boot_id, "?");
    boot_id[strcspn(boot_id, "\n")] = '\0';
    struct stat pids = { 0 };
    stat("/proc/self/ns/pid", &pids);
    snprintf(text, room, "%s:%llx:%u", boot_id, (unsigned long long)pids.st_ino, getuid());
}

/* ---- who else is there ---- */

static int nodes_ask(struct gathering *g)
{
    char host[STORE_HOST_CHARS];
    struct store_word got;
    size_t bytes = (size_t)g->size * sizeof *g->nodes;
    host_name(host, sizeof host);
    g->nodes = malloc(bytes);
    g->peers = malloc((size_t)g->size * sizeof *g->peers);
    if (!g->nodes || !g->peers)
        return fail(MPI_ERR_OTHER, "out of memory for a job of %d ranks", g->size);
    struct store_word hello = { .kind = STORE_HELLO,
                                .rank = g->rank,
                                .a = g->size,
                                .b = getpid(),
                                .bytes = (uint32_t)strlen(host) };
    int error = store_call(&hello, host, STORE_TABLE, &got, g->nodes, bytes);
    if (error)
        return error;
    g->nnodes = got.a;
    g->master_pid = got.b;
    for (int rank = 0; rank < g->size; rank++) {
        if (rank == g->rank)
            g->local_rank = g->nlocal;
        if (g->nodes[rank] == g->nodes[g->rank])
            g->peers[g->nlocal++] = rank;
    }
    return MPI_SUCCESS;
}

static struct boot_header *segment_make(struct gathering *g)
{
    char job[BOOT_JOB_CHARS];
    snprintf(job, sizeof job, "store-%d-%d", g->port, g->master_pid);
    struct boot_shape shape = { .job = job,
                                .size = g->size,
                                .nlocal = g->nlocal,
                                .node = g->nodes[g->rank],
                                .nnodes = g->nnodes,
                                .peers = g->peers };
    struct boot_header *segment = boot_make(&shape, &g->fd);
    if (!segment)
        return NULL;
    if (g->nnodes > 1)
        memcpy(bootseg_nodes(segment), g->nodes, (size_t)g->size * sizeof *g->nodes);
    struct store_word word = {
        .kind = STORE_SEGMENT, .rank = g->rank, .a = getpid(), .b = g->fd
    };
    return store_call(&word, NULL, 0, NULL, NULL, 0) ? NULL : segment;
}

static struct boot_header *segment_map(const struct gathering *g)
{
    struct store_word got;
    const char *why;
    if (store_call(NULL, NULL, STORE_SEGMENT, &got, NULL, 0))
        return NULL;
    struct boot_header *segment = boot_map(got.a, got.b, NULL, &why);
    if (!segment)
        fail(MPI_ERR_OTHER, "cannot map the segment of rank %d, /proc/%d/fd/%d: %s",
             g->peers[0], got.a, got.b, why);
    return segment;
}

/* When this has come back nobody needs the first rank's file any more. */
static int all_are_ready(const struct gathering *g)
{
    struct store_word got, word = { .kind = STORE_READY, .rank = g->rank };
    return store_call(&word, NULL, STORE_GO, &got, NULL, 0);
}

static int gather(struct gathering *g)
{
    const char *address = g->rank == 0 ? "127.0.0.1" : getenv("MASTER_ADDR");
    int seconds = (int)param_number(STORE_TIMEOUT), error = MPI_SUCCESS;
    if (g->rank == 0)
        error = store_server_start(g->port, g->size, seconds);
    if (!error)
        error = store_connect(address, g->port, seconds);
    if (!error)
        error = nodes_ask(g);
    if (error)
        return error;
    struct boot_header *segment = g->local_rank == 0 ? segment_make(g) : segment_map(g);
    if (!segment || all_are_ready(g))
        return MPI_ERR_OTHER;
    return boot_join(segment, g->local_rank);
}

/* ---- the way ---- */

static int store_open(void)
{
    struct gathering g = { .fd = -1 };
    int error = variables_read(&g);
    if (!error)
        error = gather(&g);
    if (error)
        store_disconnect();
    if (g.fd >= 0)
        close(g.fd);
    free(g.nodes);
    free(g.peers);
    if (error)
        return error;
    char taken[40];
    snprintf(taken, sizeof taken, "%d:%d", g.rank, getpid());
    setenv(TAKEN_ENV, taken, 1);
    return MPI_SUCCESS;
}

/* Rank 0 stays until the others need its store no more. */
static void store_close(void)
{
    struct store_word bye = { .kind = STORE_BYE, .rank = boot.rank };
    store_call(&bye, NULL, 0, NULL, NULL, 0);
    store_disconnect();
    store_server_stop();
    munmap(boot.segment, boot.segment->bytes);
    unsetenv(TAKEN_ENV);
}

static void store_abort(int code, const char *text)
{
    (void)code;
    if (text && *text)
        say("%s", text);
}

/* ---- how the network reaches a process ---- */

static int store_publish(const void *card, size_t bytes)
{
    struct store_word word = { .kind = STORE_CARD,
                               .rank = boot.rank,
                               .bytes = (uint32_t)bytes };
    return store_call(&word, card, 0, NULL, NULL, 0);
}

static int store_contact(int world, void *card, size_t *bytes)
{
    struct store_word got, word = { .kind = STORE_ASK, .rank = boot.rank, .a = world };
    int error = store_call(&word, NULL, STORE_CARD, &got, card, BOOT_CONTACT_BYTES);
    *bytes = error ? 0 : got.bytes;
    return error;
}

const struct boot_way boot_store = {
    .name = "store",
    .open = store_open,
    .close = store_close,
    .abort = store_abort,
    .publish = store_publish,
    .contact = store_contact,
};

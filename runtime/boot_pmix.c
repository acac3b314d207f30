/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Booting over a PMIx server (Slurm, prterun).  libpmix is opened here and nowhere else.  The
 * server knows who we are; the segment we make ourselves:
 *
 *     local rank 0                                 other ranks of the node
 *     make and format a segment
 *     put "pid:fd" for the node, commit
 *     ------------------------ one fence over the whole job ------------------------
 *                                                  get "pid:fd", map it through /proc
 *
 * Cost: PMIx_Init (2-6 ms of CPU), one fence, one get per rank.  Only local rank 0 asks for the
 * node of each rank; no rank ever asks every other for anything.  A second fence when we close
 * keeps the first rank's file open until everybody has mapped it.
 *
 * Servers differ in the integer types of their answers, so all numbers go through one
 * converting reader.  What a server does not know is worked out or marked as unknown.
 */
#include "runtime/boot_way.h"
#include "runtime/death.h"
#include "runtime/fail.h"
#include "runtime/log.h"
#include "runtime/pmix_sets.h"
#include "runtime/symbols.h"

#include "mpi.h"

#include <dlfcn.h>
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LIBRARY     "libpmix.so.2"
#define SEGMENT_KEY "xmpi.segment"
#define CONTACT_KEY "xmpi.contact"
#define TAKEN_ENV   "XMPI_PMIX_RANK" /* <namespace>:<rank>:<pid> of the process that has it */

enum { CONTACT_PATIENCE_US = 5000000 };

static struct {
    void *library;
    __typeof__(PMIx_Init) *init;
    __typeof__(PMIx_Finalize) *finalize;
    __typeof__(PMIx_Abort) *abort;
    __typeof__(PMIx_Put) *put;
    __typeof__(PMIx_Commit) *commit;
    __typeof__(PMIx_Fence) *fence;
    __typeof__(PMIx_Get) *get;
    __typeof__(PMIx_Error_string) *error_string;
    __typeof__(PMIx_Register_event_handler) *register_handler;
} pmix;

static pmix_proc_t self;
static int segment_fd = -1; /* of local rank 0 */

struct job {
    int size, local_rank, nlocal, node, nnodes, appnum, universe;
    int *peers;  /* world ranks of this node, ascending */
    char *psets; /* the first rank of the node knows them; NULL: none */
};

/* ---- the library ---- */

static int library_open(void)
{
    static const struct symbol functions[] = {
        { "PMIx_Init", &pmix.init },
        { "PMIx_Finalize", &pmix.finalize },
        { "PMIx_Abort", &pmix.abort },
        { "PMIx_Put", &pmix.put },
        { "PMIx_Commit", &pmix.commit },
        { "PMIx_Fence", &pmix.fence },
        { "PMIx_Get", &pmix.get },
        { "PMIx_Error_string", &pmix.error_string },
        { "PMIx_Register_event_handler", &pmix.register_handler },
    };
    if (pmix.library)
        return MPI_SUCCESS;
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return fail(MPI_ERR_OTHER,
                    "PMIX_NAMESPACE is set, so this is a rank of a PMIx job, but " LIBRARY
                    " cannot be opened: %s (Debian: libpmix2)",
                    dlerror());
    const char *missing =
        symbols_find(library, functions, sizeof functions / sizeof functions[0]);
    if (missing) {
        dlclose(library);
        return fail(MPI_ERR_OTHER, LIBRARY " has no function %s: not a libpmix", missing);
    }
    pmix.library = library;
    return MPI_SUCCESS;
}

static int pmix_failed(pmix_status_t status, const char *what)
{
    return fail(MPI_ERR_OTHER, "PMIx job %s, rank %u: %s: %s", self.nspace, self.rank, what,
                pmix.error_string(status));
}

/* ---- who are we ---- */

/* A child of an MPI process inherits the variables of its rank.  The server would take it for
 * that rank and a fence would never end, so the rank's owner leaves its name. */
static int rank_is_free(void)
{
    const char *nspace = getenv("PMIX_NAMESPACE"), *rank = getenv("PMIX_RANK");
    const char *taken = getenv(TAKEN_ENV);
    char name[PMIX_MAX_NSLEN + 64];
    int n = snprintf(name, sizeof name, "%s:%s:", nspace, rank ? rank : "");
    if (!taken || strncmp(taken, name, (size_t)n) != 0 || atoi(taken + n) == getpid())
        return MPI_SUCCESS;
    return fail(
        MPI_ERR_OTHER,
        "this process was started by rank %s of job %s (pid %s), which is an MPI process "
        "itself; unset PMIX_NAMESPACE in its environment to let it run on its own",
        rank, nspace, taken + n);
}

static void rank_take(void)
{
    char name[PMIX_MAX_NSLEN + 64];
    snprintf(name, sizeof name, "%s:%u:%d", self.nspace, self.rank, getpid());
    setenv(TAKEN_ENV, name, 1);
}

static int server_join(void)
{
    pmix_status_t status = pmix.init(&self, NULL, 0);
    if (status != PMIX_SUCCESS)
        return fail(MPI_ERR_OTHER,
                    "cannot join PMIx job %s: %s; its server may be gone (the variables "
                    "PMIX_* kept from an earlier job?)",
                    getenv("PMIX_NAMESPACE"), pmix.error_string(status));
    rank_take();
    return MPI_SUCCESS;
}

/* ---- asking the server ---- */

/* What the server told this process when it joined; no message is sent.  NULL: not told. */
static pmix_value_t *answer_get(pmix_rank_t rank, const char *key)
{
    pmix_proc_t proc = self;
    proc.rank = rank;
    pmix_info_t known_only = { .key = PMIX_OPTIONAL };
    known_only.value.type = PMIX_BOOL;
    known_only.value.data.flag = true;
    pmix_value_t *value = NULL;
    return pmix.get(&proc, key, &known_only, 1, &value) == PMIX_SUCCESS ? value : NULL;
}

static void answer_free(pmix_value_t *value)
{
    if (value && value->type == PMIX_STRING)
        free(value->data.string);
    free(value);
}

static long long value_number(const pmix_value_t *v, long long unknown)
{
    switch (v->type) {
    case PMIX_BYTE:
    case PMIX_UINT8:
        return v->data.uint8;
    case PMIX_INT8:
        return v->data.int8;
    case PMIX_INT16:
        return v->data.int16;
    case PMIX_UINT16:
        return v->data.uint16;
    case PMIX_INT:
    case PMIX_INT32:
        return v->data.int32;
    case PMIX_UINT:
    case PMIX_UINT32:
    case PMIX_PROC_RANK:
        return v->data.uint32;
    case PMIX_INT64:
        return v->data.int64;
    case PMIX_UINT64:
    case PMIX_SIZE:
        return (long long)v->data.uint64;
    case PMIX_STRING:
        return v->data.string ? atoll(v->data.string) : unknown;
    default:
        return unknown;
    }
}

static int number_get(pmix_rank_t rank, const char *key, int unknown)
{
    pmix_value_t *value = answer_get(rank, key);
    if (!value)
        return unknown;
    long long number = value_number(value, unknown);
    answer_free(value);
    return number >= 0 && number <= INT32_MAX ? (int)number : unknown;
}

static int compare_ranks(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* "0,1,5" into job->peers. */
static int peers_read(struct job *job, const char *text)
{
    size_t most = 1;
    for (const char *at = text; *at; at++)
        most += *at == ',';
    job->peers = malloc(most * sizeof *job->peers);
    if (!job->peers)
        return fail(MPI_ERR_OTHER, "out of memory for a list of %zu ranks", most);
    job->nlocal = 0;
    for (const char *at = text; *at; at += strcspn(at, ","), at += *at == ',')
        job->peers[job->nlocal++] = atoi(at);
    qsort(job->peers, (size_t)job->nlocal, sizeof *job->peers, compare_ranks);
    job->local_rank = -1;
    for (int i = 0; i < job->nlocal; i++)
        if (job->peers[i] == (int)self.rank)
            job->local_rank = i;
    if (job->local_rank < 0)
        return fail(MPI_ERR_OTHER,
                    "PMIx job %s: rank %u is not among the ranks of its node, %s", self.nspace,
                    self.rank, text);
    return MPI_SUCCESS;
}

static int peers_get(struct job *job)
{
    char alone[16];
    snprintf(alone, sizeof alone, "%u", self.rank);
    int local_size = number_get(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE, job->size);
    pmix_value_t *value = answer_get(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS);
    const char *text = value && value->type == PMIX_STRING ? value->data.string : NULL;
    if (!text && local_size == 1)
        text = alone;
    int error = text ? peers_read(job, text)
                     : fail(MPI_ERR_OTHER,
                            "PMIx job %s: the server does not say which ranks share a node "
                            "(" PMIX_LOCAL_PEERS ")",
                            self.nspace);
    answer_free(value);
    return error;
}

static int job_ask(struct job *job)
{
    job->size = number_get(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, 0);
    if (job->size <= (int)self.rank)
        return fail(MPI_ERR_OTHER, "PMIx job %s: the server gives a size of %d to rank %u",
                    self.nspace, job->size, self.rank);
    int error = peers_get(job);
    if (error)
        return error;
    job->node = number_get(self.rank, PMIX_NODEID, 0);
    job->nnodes =
        number_get(PMIX_RANK_WILDCARD, PMIX_NUM_NODES, job->nlocal == job->size ? 1 : 2);
    job->appnum = number_get(self.rank, PMIX_APPNUM, -1);
    job->universe = number_get(PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE, 0);
    return MPI_SUCCESS;
}

/* ---- the segment of the node ---- */

static struct boot_header *segment_make(const struct job *job)
{
    struct boot_shape shape = { .job = self.nspace,
                                .psets = job->psets,
                                .size = job->size,
                                .nlocal = job->nlocal,
                                .node = job->node,
                                .nnodes = job->nnodes,
                                .universe = job->universe,
                                .peers = job->peers };
    struct boot_header *segment = boot_make(&shape, &segment_fd);
    for (int rank = 0; segment && job->nnodes > 1 && rank < job->size; rank++)
        bootseg_nodes(segment)[rank] = number_get((pmix_rank_t)rank, PMIX_NODEID, -1);
    return segment;
}

static int segment_publish(void)
{
    char text[32];
    snprintf(text, sizeof text, "%d:%d", getpid(), segment_fd);
    pmix_value_t value = { .type = PMIX_STRING, .data.string = text };
    pmix_status_t status = pmix.put(PMIX_LOCAL, SEGMENT_KEY, &value);
    if (status == PMIX_SUCCESS)
        status = pmix.commit();
    return status == PMIX_SUCCESS ? MPI_SUCCESS : pmix_failed(status, "cannot publish");
}

static int job_fence(void)
{
    pmix_proc_t everybody = self;
    everybody.rank = PMIX_RANK_WILDCARD;
    pmix_status_t status = pmix.fence(&everybody, 1, NULL, 0);
    return status == PMIX_SUCCESS ? MPI_SUCCESS : pmix_failed(status, "cannot fence");
}

static struct boot_header *segment_lookup(const struct job *job)
{
    pmix_proc_t first = self;
    first.rank = (pmix_rank_t)job->peers[0];
    pmix_value_t *value = NULL;
    pmix_status_t status = pmix.get(&first, SEGMENT_KEY, NULL, 0, &value);
    if (status != PMIX_SUCCESS) {
        pmix_failed(status, "cannot find the segment of the node");
        return NULL;
    }
    int pid = 0, fd = -1;
    struct boot_header *segment = NULL;
    const char *why = "not understood";
    if (value->type == PMIX_STRING && sscanf(value->data.string, "%d:%d", &pid, &fd) == 2)
        segment = boot_map(pid, fd, NULL, &why);
    if (!segment)
        fail(MPI_ERR_OTHER,
             "cannot map the segment of rank %d, /proc/%d/fd/%d: %s; ranks of one node must be "
             "able to see each other's processes (same user, same PID namespace)",
             job->peers[0], pid, fd, why);
    answer_free(value);
    return segment;
}

static struct boot_header *segment_share(struct job *job)
{
    struct boot_header *segment = NULL;
    bool first = job->local_rank == 0;
    if (first)
        job->psets = pmix_sets_ask(pmix.library, self.nspace);
    if (first && (!(segment = segment_make(job)) || segment_publish()))
        return NULL;
    if (job_fence())
        return NULL;
    return first ? segment : segment_lookup(job);
}

/* ---- the way ---- */

/* When something fails after the server was joined we stay connected: the program ends, the
 * server sees a rank vanish and ends the job, and nobody is left in a fence. */
/* ---- deaths ---- */

/* In libpmix's thread. */
static void process_died(size_t id, pmix_status_t status, const pmix_proc_t *source,
                         pmix_info_t info[], size_t ninfo, pmix_info_t results[],
                         size_t nresults, pmix_event_notification_cbfunc_fn_t go_on,
                         void *chain)
{
    (void)id, (void)status, (void)results, (void)nresults;
    const pmix_proc_t *dead = source;
    for (size_t i = 0; i < ninfo; i++)
        if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC))
            dead = info[i].value.data.proc;
    if (dead && strcmp(dead->nspace, self.nspace) == 0 && dead->rank != self.rank &&
        dead->rank < (pmix_rank_t)boot.size && death_tell((int)dead->rank) != 0)
        log_line("rank %u has died, and there is no memory to tell", dead->rank);
    if (go_on)
        go_on(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, chain);
}

static void is_registered(pmix_status_t status, size_t id, void *nothing)
{
    (void)status, (void)id, (void)nothing;
}

/* Servers that tell of no deaths do no harm: libpmix calls no handlers then. */
static void watch_deaths(void)
{
    static pmix_status_t codes[] = { PMIX_ERR_PROC_ABORTED, PMIX_ERR_PROC_TERM_WO_SYNC };
    pmix.register_handler(codes, sizeof codes / sizeof codes[0], NULL, 0, process_died,
                          is_registered, NULL);
}

static int pmix_open(void)
{
    struct job job = { 0 };
    int error = rank_is_free();
    if (!error)
        error = library_open();
    if (!error)
        error = server_join();
    if (!error)
        error = job_ask(&job);
    struct boot_header *segment = error ? NULL : segment_share(&job);
    if (segment) {
        bootseg_rank(segment, job.local_rank)->appnum = job.appnum;
        error = boot_join(segment, job.local_rank);
    } else if (!error) {
        error = MPI_ERR_OTHER;
    }
    if (!error)
        watch_deaths();
    free(job.peers);
    free(job.psets);
    return error;
}

/* Who is dead does not come to the fence.  The handler of deaths uses the segment until PMIx is
 * finalized. */
static void pmix_close(void)
{
    if (death_epoch() == 0 && job_fence())
        log_line("%s", fail_text());
    pmix.finalize(NULL, 0);
    munmap(boot.segment, boot.segment->bytes);
    if (segment_fd >= 0)
        close(segment_fd);
    segment_fd = -1;
    unsetenv(TAKEN_ENV);
}

static void pmix_abort(int code, const char *text)
{
    if (text && *text)
        say("%s", text);
    pmix.abort(code, text, NULL, 0);
}

/* ---- how the network reaches a process ---- */

/* After the fence whoever asks gets an answer; nobody is told what he does not ask for. */
static int pmix_publish(const void *card, size_t bytes)
{
    pmix_value_t value = { .type = PMIX_BYTE_OBJECT };
    value.data.bo.bytes = (char *)card;
    value.data.bo.size = bytes;
    pmix_status_t status = pmix.put(PMIX_GLOBAL, CONTACT_KEY, &value);
    if (status == PMIX_SUCCESS)
        status = pmix.commit();
    return status == PMIX_SUCCESS ? job_fence()
                                  : pmix_failed(status, "cannot publish its network address");
}

/* Slurm's servers need a while after their first fence before they answer each other's questions,
 * and say "error" until then. */
static pmix_status_t contact_get(const pmix_proc_t *proc, pmix_value_t **value)
{
    pmix_status_t status;
    unsigned slept_us = 0, nap_us = 1000;
    while ((status = pmix.get(proc, CONTACT_KEY, NULL, 0, value)) == PMIX_ERROR &&
           slept_us < CONTACT_PATIENCE_US) {
        usleep(nap_us);
        slept_us += nap_us;
        nap_us = nap_us < 64000 ? 2 * nap_us : nap_us;
    }
    return status;
}

static int pmix_contact(int world, void *card, size_t *bytes)
{
    pmix_proc_t proc = self;
    proc.rank = (pmix_rank_t)world;
    pmix_value_t *value = NULL;
    pmix_status_t status = contact_get(&proc, &value);
    if (status != PMIX_SUCCESS)
        return pmix_failed(status, "cannot get the network address of another rank");
    *bytes = 0;
    if (value->type == PMIX_BYTE_OBJECT && value->data.bo.size <= BOOT_CONTACT_BYTES) {
        *bytes = value->data.bo.size;
        memcpy(card, value->data.bo.bytes, *bytes);
    }
    if (value->type == PMIX_BYTE_OBJECT)
        free(value->data.bo.bytes);
    free(value);
    return *bytes ? MPI_SUCCESS
                  : fail(MPI_ERR_OTHER,
                         "PMIx job %s: what rank %d published under " CONTACT_KEY
                         " is not understood",
                         self.nspace, world);
}

const struct boot_way boot_pmix = {
    .name = "pmix",
    .open = pmix_open,
    .close = pmix_close,
    .abort = pmix_abort,
    .publish = pmix_publish,
    .contact = pmix_contact,
};

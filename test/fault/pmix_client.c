/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A plain PMIx client, for pmix.sh: no MPI in it.  The first argument says what to do; the exit
 * code is 0 when all that was expected came true.
 *
 *     all            who am I, put, commit, fence, get, names and who sees them, groups and
 *                    connections of all and of some, spawn (refused on several hosts), events
 *     abort CODE     rank 1 aborts, the others wait for ever
 *     death          the last rank kills itself; the others wait for the news of it
 *     alone          the last rank, which is alone on its host, kills itself; a fence of all fails
 *     early          the same, but it finalizes and ends well
 *     left           rank 0, alone on its host, ends; others ask for its data and have an answer
 *     mute           rank 0 ends and has never committed anything; others ask for its data, before
 *                    that and after
 *     bulky MIB      puts so much; a fence that brings it to all fails, and the next one does not
 *     patience       the last rank looks for a name that nobody publishes, for a second
 *     heir           the last rank, alone on its host, publishes a name for as long as it lives; its host is lost
 *     silent         rank 1 exits with 0 and without PMIx_Finalize
 *     again CODE     all finalize and join again; then rank 1 exits with CODE, and the others wait for ever
 *     program N      its program number is N, and the program has two ranks
 */
#include <errno.h>
#include <pmix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pmix_proc_t me;
static unsigned size;

#define CHECK(condition)                                                                       \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            printf("rank %u: %s:%d: not true: %s\n", me.rank, __FILE__, __LINE__, #condition); \
            exit(99);                                                                          \
        }                                                                                      \
    } while (0)

static pmix_proc_t peer(pmix_rank_t rank)
{
    pmix_proc_t proc = me;
    proc.rank = rank;
    return proc;
}

static unsigned number(pmix_rank_t rank, const char *key)
{
    pmix_proc_t proc = peer(rank);
    pmix_value_t *value = NULL;
    pmix_status_t status = PMIx_Get(&proc, key, NULL, 0, &value);
    if (status != PMIX_SUCCESS) {
        printf("rank %u: %s of %u: %s\n", me.rank, key, rank, PMIx_Error_string(status));
        exit(98);
    }
    unsigned n = value->type == PMIX_UINT16 ? value->data.uint16 : value->data.uint32;
    PMIX_VALUE_RELEASE(value);
    return n;
}

/* The text of a key; malloced, NULL when there is none. */
static char *word(pmix_rank_t rank, const char *key)
{
    pmix_proc_t proc = peer(rank);
    pmix_value_t *value = NULL;
    if (PMIx_Get(&proc, key, NULL, 0, &value) != PMIX_SUCCESS)
        return NULL;
    CHECK(value->type == PMIX_STRING);
    char *text = strdup(value->data.string);
    PMIX_VALUE_RELEASE(value);
    return text;
}

static bool is_here(pmix_rank_t rank)
{
    char *mine = word(me.rank, PMIX_HOSTNAME), *theirs = word(rank, PMIX_HOSTNAME);
    CHECK(mine && theirs);
    bool here = strcmp(mine, theirs) == 0;
    free(mine), free(theirs);
    return here;
}

static void fence(int collect)
{
    pmix_proc_t everybody = peer(PMIX_RANK_WILDCARD);
    bool yes = true;
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    CHECK(PMIx_Fence(&everybody, 1, collect ? &info : NULL, collect ? 1 : 0) == PMIX_SUCCESS);
}

static void check_identity(void)
{
    char *nspace = getenv("PMIX_NAMESPACE"), *rank = getenv("RANK");
    CHECK(nspace && strcmp(nspace, me.nspace) == 0);
    CHECK(rank && (unsigned)atoi(rank) == me.rank);
    CHECK(size == (unsigned)atoi(getenv("WORLD_SIZE")));
    unsigned here = (unsigned)atoi(getenv("LOCAL_WORLD_SIZE")), found = 0;
    unsigned nodes = getenv("EXPECT_NODES") ? (unsigned)atoi(getenv("EXPECT_NODES")) : 1;
    CHECK(number(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE) == here);
    CHECK(number(PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE) >= size);
    CHECK(number(PMIX_RANK_WILDCARD, PMIX_NUM_NODES) == nodes);
    CHECK(number(me.rank, PMIX_LOCAL_RANK) == (unsigned)atoi(getenv("LOCAL_RANK")));
    for (unsigned r = 0; r < size; r++) {
        CHECK(nodes > 1 || number(r, PMIX_LOCAL_RANK) == r);
        CHECK(number(r, PMIX_NODE_RANK) == number(r, PMIX_LOCAL_RANK));
        CHECK(number(r, PMIX_APPNUM) == 0);
        found += is_here(r);
    }
    CHECK(found == here);
    CHECK(number(me.rank, PMIX_NODEID) < nodes);
    char *jobid = word(PMIX_RANK_WILDCARD, PMIX_JOBID);
    CHECK(jobid && *jobid);
    char *host = word(me.rank, PMIX_HOSTNAME);
    CHECK(host && *host);
    char *peers = word(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS);
    CHECK(peers && (nodes > 1 || strncmp(peers, "0", 1) == 0));
    unsigned commas = 0;
    for (char *at = peers; *at; at++)
        commas += *at == ',';
    CHECK(commas + 1 == here);
    free(jobid), free(host), free(peers);
}

/* Only of a bound rank; both or neither. */
static void check_place(void)
{
    char *locality = word(me.rank, PMIX_LOCALITY_STRING), *cpus = word(me.rank, PMIX_CPUSET);
    if (getenv("EXPECT_BOUND"))
        CHECK(locality && cpus);
    CHECK(!locality || strncmp(locality, "hwloc:", 6) == 0);
    CHECK(!cpus || strncmp(cpus, "hwloc:", 6) == 0);
    free(locality), free(cpus);
}

static void check_exchange(void)
{
    pmix_value_t value = { .type = PMIX_STRING };
    char text[64];
    snprintf(text, sizeof text, "card of %u", me.rank);
    value.data.string = text;
    CHECK(PMIx_Put(PMIX_GLOBAL, "test.card", &value) == PMIX_SUCCESS);
    CHECK(PMIx_Commit() == PMIX_SUCCESS);
    fence(1);
    for (unsigned r = 0; r < size; r++) {
        char *card = word(r, "test.card"), expected[64];
        snprintf(expected, sizeof expected, "card of %u", r);
        CHECK(card && strcmp(card, expected) == 0);
        free(card);
    }
    value.data.string = getenv("LOCAL_RANK"); /* not collected: asked for one by one */
    CHECK(PMIx_Put(PMIX_GLOBAL, "test.late", &value) == PMIX_SUCCESS);
    CHECK(PMIx_Commit() == PMIX_SUCCESS);
    fence(0);
    for (unsigned r = 0; r < size; r++) {
        char *late = word(r, "test.late");
        CHECK(late && (unsigned)atoi(late) == number(r, PMIX_LOCAL_RANK));
        free(late);
    }
    fence(0);        /* who has all may end, and its data with it */
    if (size == 1) { /* the library waits for two seconds */
        pmix_proc_t nobody = peer(size);
        pmix_value_t *none = NULL;
        CHECK(PMIx_Get(&nobody, "test.card", NULL, 0, &none) != PMIX_SUCCESS);
    }
    if (getenv("EXPECT_NODES") && me.rank == 0) {
        pmix_proc_t nobody = peer(1u << 30);
        pmix_value_t *none = NULL;
        CHECK(PMIx_Get(&nobody, "test.card", NULL, 0, &none) != PMIX_SUCCESS);
    }
}

/* The answer may be any. */
static void ask_who_left(void)
{
    pmix_value_t value = { .type = PMIX_STRING, .data.string = "mine" };
    CHECK(PMIx_Put(PMIX_GLOBAL, "test.left", &value) == PMIX_SUCCESS);
    CHECK(PMIx_Commit() == PMIX_SUCCESS);
    fence(0);
    if (me.rank == 0)
        return;
    usleep(300000);
    free(word(0, "test.left"));
}

static void ask_who_is_mute(void)
{
    fence(0);
    usleep(me.rank == 0 ? 400000 : me.rank == 1 ? 0 : 800000);
    CHECK(me.rank == 0 || !word(0, "test.never"));
}

/* ---- names ---- */

static pmix_status_t publish(const char *key, unsigned n, pmix_data_range_t range,
                             pmix_persistence_t life)
{
    pmix_info_t info[3];
    PMIX_INFO_LOAD(&info[0], key, &n, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[1], PMIX_RANGE, &range, PMIX_DATA_RANGE);
    PMIX_INFO_LOAD(&info[2], PMIX_PERSISTENCE, &life, PMIX_PERSIST);
    return PMIx_Publish(info, 3);
}

/* For `least` values, 0: all; wait: 0 do not, otherwise so many seconds */
static pmix_status_t lookup_some(const char *key, int least, int wait, unsigned *n,
                                 pmix_rank_t *by)
{
    pmix_pdata_t found;
    pmix_info_t info[2];
    PMIX_PDATA_CONSTRUCT(&found);
    strncpy(found.key, key, sizeof found.key - 1);
    PMIX_INFO_LOAD(&info[0], PMIX_WAIT, &least, PMIX_INT);
    PMIX_INFO_LOAD(&info[1], PMIX_TIMEOUT, &wait, PMIX_INT);
    pmix_status_t status = PMIx_Lookup(&found, 1, info, wait ? 2 : 0);
    if (status == PMIX_SUCCESS) {
        *n = found.value.data.uint32;
        *by = found.proc.rank;
    }
    return status;
}

static pmix_status_t lookup(const char *key, int wait, unsigned *n, pmix_rank_t *by)
{
    return lookup_some(key, 0, wait, n, by);
}

/* Nothing but time tells the launcher that has the names to answer. */
static void look_in_vain(void)
{
    unsigned n = 0;
    pmix_rank_t by = 0;
    fence(0);
    if (me.rank == size - 1) {
        usleep(300000);
        CHECK(lookup("never", 1, &n, &by) == PMIX_ERR_TIMEOUT);
    }
    fence(0);
}

static void check_names(void)
{
    unsigned n = 0;
    pmix_rank_t by = 0;
    char key[32], mine[32], *keys[] = { mine, NULL };
    snprintf(mine, sizeof mine, "name%u", me.rank);
    snprintf(key, sizeof key, "name%u", (me.rank + 1) % size);
    CHECK(lookup("nobody's", 0, &n, &by) == PMIX_ERR_NOT_FOUND);
    if (me.rank % 2)
        usleep(20000); /* some wait for what is not there yet */
    CHECK(publish(mine, 100 + me.rank, PMIX_RANGE_SESSION, PMIX_PERSIST_SESSION) ==
          PMIX_SUCCESS);
    CHECK(publish(mine, 1, PMIX_RANGE_SESSION, PMIX_PERSIST_SESSION) == PMIX_ERR_DUPLICATE_KEY);
    CHECK(lookup(key, 20, &n, &by) == PMIX_SUCCESS);
    CHECK(n == 100 + by && by == (me.rank + 1) % size);
    CHECK(publish("own", me.rank, PMIX_RANGE_PROC_LOCAL, PMIX_PERSIST_PROC) == PMIX_SUCCESS);
    CHECK(lookup("own", 0, &n, &by) == PMIX_SUCCESS && n == me.rank && by == me.rank);
    CHECK(lookup_some("own", 5, 100, &n, &by) == PMIX_SUCCESS); /* of one key */
    fence(0);
    CHECK(PMIx_Unpublish(keys, NULL, 0) == PMIX_SUCCESS);
    CHECK(PMIx_Unpublish(keys, NULL, 0) == PMIX_ERR_NOT_FOUND);
    fence(0);
    CHECK(lookup(key, 0, &n, &by) == PMIX_ERR_NOT_FOUND);
    if (me.rank == 0) {
        if (size == 1)
            CHECK(lookup("never", 1, &n, &by) == PMIX_ERR_TIMEOUT);
        CHECK(publish("once", 7, PMIX_RANGE_NAMESPACE, PMIX_PERSIST_FIRST_READ) ==
              PMIX_SUCCESS);
        CHECK(lookup("once", 0, &n, &by) == PMIX_SUCCESS && n == 7);
        CHECK(lookup("once", 0, &n, &by) == PMIX_ERR_NOT_FOUND);
        CHECK(publish("x", 1, PMIX_RANGE_CUSTOM, PMIX_PERSIST_SESSION) ==
              PMIX_ERR_NOT_SUPPORTED);
    }
    fence(0);
}

/* What starts a rank is its host's launcher. */
static void outlive_name(void)
{
    unsigned n = 0;
    pmix_rank_t by = 0;
    if (me.rank == size - 1)
        CHECK(publish("mine", 7, PMIX_RANGE_SESSION, PMIX_PERSIST_PROC) == PMIX_SUCCESS);
    fence(0);
    if (me.rank == size - 1) {
        kill(getppid(), SIGKILL);
        pause();
    }
    for (int i = 0; i < 500 && lookup("mine", 0, &n, &by) == PMIX_SUCCESS; i++)
        usleep(10000);
    CHECK(lookup("mine", 0, &n, &by) == PMIX_ERR_NOT_FOUND);
}

/* Who sees a name: the same host, the same program's ranks, oneself; also what is unpublished. */
static void check_ranges(void)
{
    unsigned n = 0;
    pmix_rank_t by = 0;
    char key[32], mine[32], *keys[] = { mine, NULL };
    snprintf(mine, sizeof mine, "near%u", me.rank);
    CHECK(publish(mine, me.rank, PMIX_RANGE_LOCAL, PMIX_PERSIST_SESSION) == PMIX_SUCCESS);
    snprintf(mine, sizeof mine, "job%u", me.rank);
    CHECK(publish(mine, me.rank, PMIX_RANGE_NAMESPACE, PMIX_PERSIST_SESSION) == PMIX_SUCCESS);
    fence(0);
    for (unsigned r = 0; r < size; r++) {
        snprintf(key, sizeof key, "near%u", r);
        bool seen = lookup(key, 0, &n, &by) == PMIX_SUCCESS;
        CHECK(seen == is_here(r) && (!seen || (n == r && by == r)));
        snprintf(key, sizeof key, "job%u", r);
        CHECK(lookup(key, 0, &n, &by) == PMIX_SUCCESS && n == r && by == r);
    }
    fence(0);
    CHECK(PMIx_Unpublish(keys, NULL, 0) == PMIX_SUCCESS);
    fence(0);
    CHECK(lookup(key, 0, &n, &by) == PMIX_ERR_NOT_FOUND);
    snprintf(key, sizeof key, "near%u", me.rank);
    CHECK(lookup(key, 0, &n, &by) == PMIX_SUCCESS && n == me.rank);
    CHECK(PMIx_Unpublish(NULL, NULL, 0) == PMIX_SUCCESS); /* all of mine */
    CHECK(lookup(key, 0, &n, &by) == PMIX_ERR_NOT_FOUND);
    fence(0);
}

/* ---- groups, connections, spawn ---- */

/* Of ranks first, first + stride, ..; the context id. */
static size_t construct(const char *name, unsigned first, unsigned stride)
{
    pmix_proc_t *members = calloc(size, sizeof *members);
    unsigned n = 0;
    for (unsigned r = first; r < size; r += stride)
        members[n++] = peer(r);
    pmix_info_t ask, *results = NULL;
    size_t nresults = 0, context = 0;
    bool yes = true;
    PMIX_INFO_LOAD(&ask, PMIX_GROUP_ASSIGN_CONTEXT_ID, &yes, PMIX_BOOL);
    CHECK(PMIx_Group_construct(name, members, n, &ask, 1, &results, &nresults) == PMIX_SUCCESS);
    bool given = false;
    for (size_t i = 0; i < nresults; i++)
        if (PMIX_CHECK_KEY(&results[i], PMIX_GROUP_CONTEXT_ID)) {
            given = true;
            context = results[i].value.data.size;
        }
    CHECK(given);
    free(members);
    return context;
}

static void tell_id(const char *key, size_t id)
{
    pmix_value_t value = { .type = PMIX_SIZE, .data.size = id };
    CHECK(PMIx_Put(PMIX_GLOBAL, key, &value) == PMIX_SUCCESS);
    CHECK(PMIx_Commit() == PMIX_SUCCESS);
    fence(1);
}

static size_t id_of(pmix_rank_t rank, const char *key)
{
    pmix_proc_t proc = peer(rank);
    pmix_value_t *value = NULL;
    CHECK(PMIx_Get(&proc, key, NULL, 0, &value) == PMIX_SUCCESS);
    size_t id = value->data.size;
    PMIX_VALUE_RELEASE(value);
    return id;
}

static void check_groups(void)
{
    size_t first = construct("one", 0, 1), second = construct("two", 0, 1);
    CHECK(first != second);
    tell_id("test.context", second);
    CHECK(id_of((me.rank + 1) % size, "test.context") == second);
    CHECK(PMIx_Group_destruct("one", NULL, 0) == PMIX_SUCCESS);
    CHECK(PMIx_Group_destruct("two", NULL, 0) == PMIX_SUCCESS);
}

/* Two groups at the same time, which share no rank, and then no number. */
static void check_parts(void)
{
    const char *name = me.rank % 2 ? "odd" : "even";
    size_t id = construct(name, me.rank % 2, 2);
    tell_id("test.part", id);
    for (unsigned r = 0; r < size; r++)
        CHECK((id_of(r, "test.part") == id) == (r % 2 == me.rank % 2));
    CHECK(PMIx_Group_destruct(name, NULL, 0) == PMIX_SUCCESS);
    pmix_proc_t ends[] = { peer(0), peer(size - 1) };
    if (size > 1 && (me.rank == 0 || me.rank == size - 1)) {
        CHECK(PMIx_Connect(ends, 2, NULL, 0) == PMIX_SUCCESS);
        CHECK(PMIx_Disconnect(ends, 2, NULL, 0) == PMIX_SUCCESS);
    }
}

static void check_connections(void)
{
    pmix_proc_t everybody = peer(PMIX_RANK_WILDCARD);
    CHECK(PMIx_Connect(&everybody, 1, NULL, 0) == PMIX_SUCCESS);
    CHECK(PMIx_Disconnect(&everybody, 1, NULL, 0) == PMIX_SUCCESS);
    pmix_app_t app = { .cmd = "/bin/true", .maxprocs = 1 };
    pmix_nspace_t child;
    if (me.rank == 0) /* the rest: pmix_spawn.c */
        CHECK(PMIx_Spawn(NULL, 0, &app, 1, child) == PMIX_SUCCESS);
    fence(0);
}

/* ---- events ---- */

static volatile sig_atomic_t told_of = -1; /* the first one */

static void on_death(size_t id, pmix_status_t status, const pmix_proc_t *source,
                     pmix_info_t info[], size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *data)
{
    (void)id, (void)source, (void)results, (void)nresults;
    for (size_t i = 0; i < ninfo && status == PMIX_ERR_PROC_ABORTED; i++)
        if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC) && told_of < 0)
            told_of = (int)info[i].value.data.proc->rank;
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static volatile sig_atomic_t called = 0;

static void on_call(size_t id, pmix_status_t status, const pmix_proc_t *source,
                    pmix_info_t info[], size_t ninfo, pmix_info_t *results, size_t nresults,
                    pmix_event_notification_cbfunc_fn_t done, void *data)
{
    (void)id, (void)status, (void)info, (void)ninfo, (void)results, (void)nresults;
    if (source->rank == 0)
        called = 1;
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

/* One client's own event reaches all others. */
static void check_events(void)
{
    pmix_status_t code = PMIX_EXTERNAL_ERR_BASE - 7;
    CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, on_call, NULL, NULL) >= 0);
    fence(0);
    if (me.rank == 0)
        CHECK(PMIx_Notify_event(code, &me, PMIX_RANGE_NAMESPACE, NULL, 0, NULL, NULL) >= 0);
    for (int i = 0; i < 25000 && me.rank && !called; i++)
        usleep(200);
    CHECK(me.rank == 0 || called);
    fence(0);
}

static void outlive(bool well)
{
    pmix_proc_t everybody = peer(PMIX_RANK_WILDCARD);
    fence(0);
    if (me.rank == size - 1 && well)
        return;
    if (me.rank == size - 1)
        kill(getpid(), SIGKILL);
    CHECK(PMIx_Fence(&everybody, 1, NULL, 0) != PMIX_SUCCESS);
}

static void put_much(size_t bytes)
{
    pmix_proc_t everybody = peer(PMIX_RANK_WILDCARD);
    bool yes = true;
    pmix_info_t info;
    char *much = malloc(bytes);
    CHECK(much);
    memset(much, 'x', bytes);
    pmix_value_t value = { .type = PMIX_BYTE_OBJECT, .data.bo = { much, bytes } };
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    CHECK(PMIx_Put(PMIX_GLOBAL, "test.much", &value) == PMIX_SUCCESS);
    CHECK(PMIx_Commit() == PMIX_SUCCESS);
    CHECK(PMIx_Fence(&everybody, 1, &info, 1) == PMIX_ERR_OUT_OF_RESOURCE);
    fence(0);
    free(much);
}

/* The launcher stops a job that has lost a rank: survivors ignore its first signal, and have
 * some 300 ms until the second one. */
static void wait_for_news(void)
{
    signal(SIGTERM, SIG_IGN);
    pmix_status_t codes[] = { PMIX_ERR_PROC_ABORTED };
    CHECK(PMIx_Register_event_handler(codes, 1, NULL, 0, on_death, NULL, NULL) >= 0);
    fence(0);
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    if (me.rank == size - 1)
        kill(getpid(), SIGKILL);
    for (int i = 0; i < 25000 && told_of < 0; i++)
        usleep(200);
    clock_gettime(CLOCK_MONOTONIC, &to);
    CHECK(told_of == (int)size - 1);
    printf("rank %u knows that rank %d is dead after %ld us\n", me.rank, (int)told_of,
           (to.tv_sec - from.tv_sec) * 1000000L + (to.tv_nsec - from.tv_nsec) / 1000);
    fflush(stdout);
    _exit(0);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "all";
    pmix_status_t status = PMIx_Init(&me, NULL, 0);
    if (status != PMIX_SUCCESS) {
        printf("PMIx_Init: %s\n", PMIx_Error_string(status));
        return 97;
    }
    size = number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
    if (strcmp(what, "all") == 0) {
        check_identity();
        check_place();
        check_exchange();
        check_names();
        check_ranges();
        check_groups();
        check_parts();
        check_connections();
        check_events();
    } else if (strcmp(what, "program") == 0) {
        CHECK(number(me.rank, PMIX_APPNUM) == (unsigned)atoi(argv[2]));
        CHECK(number(PMIX_RANK_WILDCARD, PMIX_JOB_NUM_APPS) == 2);
        check_exchange();
    } else if (strcmp(what, "abort") == 0) {
        fence(0);
        if (me.rank == 1 % size)
            PMIx_Abort(atoi(argv[2]), "out of cheese\n", NULL, 0);
        pause();
    } else if (strcmp(what, "death") == 0) {
        wait_for_news();
    } else if (strcmp(what, "alone") == 0) {
        outlive(false);
    } else if (strcmp(what, "early") == 0) {
        outlive(true);
    } else if (strcmp(what, "bulky") == 0) {
        put_much((size_t)atoi(argv[2]) << 20);
    } else if (strcmp(what, "left") == 0) {
        ask_who_left();
    } else if (strcmp(what, "patience") == 0) {
        look_in_vain();
    } else if (strcmp(what, "heir") == 0) {
        outlive_name();
    } else if (strcmp(what, "mute") == 0) {
        ask_who_is_mute();
    } else if (strcmp(what, "again") == 0) {
        CHECK(PMIx_Finalize(NULL, 0) == PMIX_SUCCESS);
        CHECK(PMIx_Init(&me, NULL, 0) == PMIX_SUCCESS);
        if (me.rank == 1 % size)
            exit(atoi(argv[2]));
        pause();
    } else if (strcmp(what, "silent") == 0) {
        fence(0);
        if (me.rank == 1 % size)
            exit(0);
        pause();
    }
    CHECK(PMIx_Finalize(NULL, 0) == PMIX_SUCCESS);
    return 0;
}

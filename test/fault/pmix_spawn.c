/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A plain PMIx client that spawns itself, for spawn.sh.  The first argument says what to do; the exit code
 * is 0 when all that was expected came true.  A process that was spawned sees it in PMIX_PARENT_ID.
 * TEST_HOSTS is set where jobs are on several hosts.
 *
 *     all            two programs of 2 and 1 ranks: identity, environment, directory; then all ranks of
 *                    both jobs connect, ask for each other's data, names, and meet in a fence
 *     twice          two jobs at the same time
 *     many N         N jobs, one after the other
 *     chain N HOSTS  a job of 2 ranks, on these hosts, that spawns another one, and so on N times; each connects
 *                    with its parent's job
 *     leave 1        a job of one rank on this host, which spawns one on a and b and ends while that waits for it
 *     past           the spawned ranks end while the parents ask for what they have never put
 *     refused        what cannot be: programs and directories that are not there, directives that nobody
 *                    knows, other hosts; the caller goes on
 *     wait FILE      the spawned ranks add a line to the file and wait for ever, as the parents do
 *     end FILE       the same, but the parents end well and the spawned ranks after half a second
 *     die FILE       the same, but the first parent kills itself once the file has two lines
 *     killed         the last spawned rank kills itself; the others of both jobs wait for ever
 *     abort CODE     the last spawned rank calls PMIx_Abort
 *     silent         the last spawned rank exits with 0 and without PMIx_Finalize
 *     code N         spawned ranks exit with N
 *     hasty N US     rank 0 exits with N while what it spawns is being started, so many microseconds after it was asked for
 *     say            every rank prints two lines
 *     run PROGRAM    the first rank spawns two ranks of any program
 *     quiet FILE     rank 0 spawns; the others add a line when they hear of a death in their own job
 */
#include "pmix_family.h"

static void check_text(const char *nspace, pmix_rank_t rank, const char *key,
                       const char *expected)
{
    pmix_value_t *value = get(nspace, rank, key);
    CHECK(value->type == PMIX_STRING && strcmp(value->data.string, expected) == 0);
    PMIX_VALUE_RELEASE(value);
}

/* ---- two jobs that know each other ---- */

static void check_names(const char *theirs)
{
    pmix_info_t mine;
    pmix_pdata_t found;
    int all = 0;
    pmix_info_t wait;
    const char *own = is_spawned ? "name of the spawned" : "name of the first",
               *other = is_spawned ? "name of the first" : "name of the spawned";
    if (me.rank == 0) {
        PMIX_INFO_LOAD(&mine, own, me.nspace, PMIX_STRING);
        CHECK(PMIx_Publish(&mine, 1) == PMIX_SUCCESS);
    }
    PMIX_PDATA_CONSTRUCT(&found);
    strcpy(found.key, other);
    PMIX_INFO_LOAD(&wait, PMIX_WAIT, &all, PMIX_INT);
    CHECK(PMIx_Lookup(&found, 1, &wait, 1) == PMIX_SUCCESS);
    CHECK(strcmp(found.proc.nspace, theirs) == 0 && found.proc.rank == 0);
    CHECK(strcmp(found.value.data.string, theirs) == 0);
}

/* Both jobs call this, each with the name of the other one. */
static void check_together(const char *theirs)
{
    char text[64];
    unsigned n = 0;
    pmix_proc_t both[] = { process(is_spawned ? theirs : me.nspace, PMIX_RANK_WILDCARD),
                           process(is_spawned ? me.nspace : theirs, PMIX_RANK_WILDCARD) };
    snprintf(text, sizeof text, "card of %u of %s", me.rank, is_spawned ? "spawned" : "first");
    put("test.card", text);
    CHECK(PMIx_Connect(both, 2, NULL, 0) == PMIX_SUCCESS);
    n = number(theirs, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
    CHECK(n == (is_spawned ? 2 : 3));
    for (unsigned r = 0; r < n; r++) {
        snprintf(text, sizeof text, "card of %u of %s", r, is_spawned ? "first" : "spawned");
        check_text(theirs, r, "test.card", text);
        if (!getenv("TEST_HOSTS")) /* libpmix 4.2 does not ask for it elsewhere */
            CHECK(number(theirs, r, PMIX_LOCAL_RANK) == r);
    }
    check_names(theirs);
    CHECK(PMIx_Fence(both, 2, NULL, 0) == PMIX_SUCCESS);
    CHECK(PMIx_Disconnect(both, 2, NULL, 0) == PMIX_SUCCESS);
}

/* rank: the first ones are those of the first program. */
static void check_identity(void)
{
    char here[4096];
    unsigned app = me.rank < 2 ? 0 : 1;
    CHECK(size == 3 && strcmp(getenv("PMIX_NAMESPACE"), me.nspace) == 0);
    CHECK(strcmp(parent.nspace, me.nspace) != 0 && parent.rank == 0);
    CHECK((unsigned)atoi(getenv("RANK")) == me.rank && atoi(getenv("WORLD_SIZE")) == 3);
    CHECK(number(me.nspace, PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE) ==
          (unsigned)atoi(getenv("LOCAL_WORLD_SIZE")));
    CHECK(getenv("TEST_HOSTS") || atoi(getenv("LOCAL_WORLD_SIZE")) == 3);
    CHECK(number(me.nspace, PMIX_RANK_WILDCARD, PMIX_JOB_NUM_APPS) == 2);
    CHECK(number(me.nspace, me.rank, PMIX_APPNUM) == app);
    CHECK(strcmp(getenv("TEST_WORD"), app ? "second" : "first") == 0);
    CHECK(strcmp(getenv("TEST_ALL"), "everywhere") == 0);
    CHECK(getcwd(here, sizeof here) && (app || strcmp(here, "/") == 0));
    fence(true);
}

static void do_all(char **argv)
{
    if (is_spawned) {
        check_identity();
        check_together(parent.nspace);
        return;
    }
    /* Callers may give their own environment, which says who they are. */
    char *first[] = { "TEST_WORD=first", "PMIX_RANK=7", "PMIX_NAMESPACE=me",
                      "XMPI_BOOT=me",    "RANK=7",      NULL };
    char *second[] = { "TEST_WORD=second", NULL };
    pmix_app_t apps[] = { myself(2, argv), myself(1, argv) };
    pmix_envar_t all = { .envar = "TEST_ALL", .value = "everywhere" };
    pmix_info_t root, everywhere;
    pmix_nspace_t spawned;
    PMIX_INFO_LOAD(&root, PMIX_WDIR, "/", PMIX_STRING);
    PMIX_INFO_LOAD(&everywhere, PMIX_SET_ENVAR, &all, PMIX_ENVAR);
    apps[0].env = first;
    apps[1].env = second;
    apps[0].info = &root;
    apps[0].ninfo = 1;
    if (me.rank == 0) {
        CHECK(PMIx_Spawn(&everywhere, 1, apps, 2, spawned) == PMIX_SUCCESS);
        put("test.spawned", spawned);
    }
    fence(true);
    pmix_value_t *value = get(me.nspace, 0, "test.spawned");
    strcpy(spawned, value->data.string);
    PMIX_VALUE_RELEASE(value);
    check_together(spawned);
}

/* ---- several jobs ---- */

static volatile int answers, good;

static void has_answer(pmix_status_t status, char nspace[], void *data)
{
    (void)nspace, (void)data;
    good += status == PMIX_SUCCESS;
    answers++;
}

static void do_twice(char **argv)
{
    if (is_spawned) {
        fence(true);
        return;
    }
    pmix_app_t app = myself(2, argv);
    for (int i = 0; i < 2; i++)
        CHECK(PMIx_Spawn_nb(NULL, 0, &app, 1, has_answer, NULL) == PMIX_SUCCESS);
    while (answers < 2)
        usleep(1000);
    CHECK(good == 2);
}

static void do_many(char **argv)
{
    for (int i = 0; !is_spawned && i < atoi(argv[2]); i++) {
        pmix_app_t app = myself(1, argv);
        pmix_nspace_t spawned;
        CHECK(PMIx_Spawn(NULL, 0, &app, 1, spawned) == PMIX_SUCCESS);
    }
}

/* Both jobs call this; the other one has two ranks. */
static void exchange(const char *theirs, const char *mine_is, const char *theirs_is)
{
    char text[64];
    pmix_proc_t both[] = { process(me.nspace, PMIX_RANK_WILDCARD),
                           process(theirs, PMIX_RANK_WILDCARD) };
    snprintf(text, sizeof text, "%s %u", mine_is, me.rank);
    put(mine_is, text);
    CHECK(PMIx_Connect(both, 2, NULL, 0) == PMIX_SUCCESS);
    CHECK(number(theirs, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE) == 2);
    for (unsigned r = 0; r < 2; r++) {
        snprintf(text, sizeof text, "%s %u", theirs_is, r);
        check_text(theirs, r, theirs_is, text);
    }
    CHECK(PMIx_Fence(both, 2, NULL, 0) == PMIX_SUCCESS);
    CHECK(PMIx_Disconnect(both, 2, NULL, 0) == PMIX_SUCCESS);
}

static void do_chain(char **argv)
{
    char left[16], *words[] = { program, "chain", left, argv[3], NULL };
    pmix_app_t app = myself(2, words);
    pmix_info_t hosts;
    pmix_nspace_t child;
    if (is_spawned)
        exchange(parent.nspace, "to parent", "to child");
    if (atoi(argv[2]) == 0)
        return;
    snprintf(left, sizeof left, "%d", atoi(argv[2]) - 1);
    if (me.rank == 0) {
        PMIX_INFO_LOAD(&hosts, PMIX_HOST, argv[3], PMIX_STRING);
        CHECK(PMIx_Spawn(&hosts, argv[3] ? 1 : 0, &app, 1, child) == PMIX_SUCCESS);
        put("test.spawned", child);
    }
    fence(true);
    pmix_value_t *value = get(me.nspace, 0, "test.spawned");
    strcpy(child, value->data.string);
    PMIX_VALUE_RELEASE(value);
    exchange(child, "to child", "to parent");
}

/* `next` on these hosts. */
static void spawn_on(char *hosts, int np, char *next)
{
    char *words[] = { program, "leave", next, NULL };
    pmix_app_t app = myself(np, words);
    pmix_info_t where;
    pmix_nspace_t child;
    PMIX_INFO_LOAD(&where, PMIX_HOST, hosts, PMIX_STRING);
    CHECK(PMIx_Spawn(&where, 1, &app, 1, child) == PMIX_SUCCESS);
}

static void do_leave(const char *generation)
{
    enum { A_WHILE_US = 500000 }; /* for the third to wait: nothing depends on it */
    pmix_info_t over, wait;
    pmix_pdata_t found;
    int all = 0;
    PMIX_INFO_LOAD(&over, "test.over", me.nspace, PMIX_STRING);
    PMIX_INFO_LOAD(&wait, PMIX_WAIT, &all, PMIX_INT);
    PMIX_PDATA_CONSTRUCT(&found);
    strcpy(found.key, over.key);
    if (*generation == '1') {
        spawn_on("localhost:8", 1, "2");
        CHECK(PMIx_Lookup(&found, 1, &wait, 1) == PMIX_SUCCESS);
    } else if (*generation == '2') {
        spawn_on("a:1,b:1", 2, "3");
        usleep(A_WHILE_US);
    } else {
        pmix_proc_t both[] = { process(parent.nspace, PMIX_RANK_WILDCARD),
                               process(me.nspace, PMIX_RANK_WILDCARD) };
        CHECK(PMIx_Connect(both, 2, NULL, 0) != PMIX_SUCCESS);
        CHECK(me.rank || PMIx_Publish(&over, 1) == PMIX_SUCCESS);
    }
}

static void do_past(char **argv)
{
    pmix_nspace_t child;
    pmix_app_t app = myself(2, argv);
    if (is_spawned) {
        exchange(parent.nspace, "to parent", "to child");
        return;
    }
    spawn(&app, 1, child);
    exchange(child, "to child", "to parent");
    for (unsigned i = 0; i < 6; i++) {
        pmix_proc_t proc = process(child, i % 2);
        pmix_value_t *value = NULL;
        CHECK(PMIx_Get(&proc, "test.never", NULL, 0, &value) != PMIX_SUCCESS);
    }
}

/* ---- what cannot be ---- */

static pmix_status_t try_spawn(pmix_app_t app, pmix_info_t *info)
{
    pmix_nspace_t spawned;
    return PMIx_Spawn(info, info ? 1 : 0, &app, 1, spawned);
}

static void do_refused(char **argv)
{
    CHECK(!is_spawned);
    pmix_app_t good = myself(1, argv), bad = good;
    pmix_info_t info;
    bool yes = true;
    bad.argv = NULL; /* the library would put the name in front, with realloc */
    bad.cmd = "/there/is/no/such/program";
    CHECK(try_spawn(bad, NULL) == PMIX_ERR_JOB_EXE_NOT_FOUND);
    bad.cmd = "/etc/passwd";
    CHECK(try_spawn(bad, NULL) == PMIX_ERR_JOB_EXE_NOT_FOUND);
    bad = good;
    bad.cwd = "/there/is/no/such/directory";
    CHECK(try_spawn(bad, NULL) != PMIX_SUCCESS);
    bad = good;
    bad.maxprocs = 0;
    CHECK(try_spawn(bad, NULL) == PMIX_ERR_BAD_PARAM);
    PMIX_INFO_LOAD(&info, "test.unheard-of", &yes, PMIX_BOOL);
    PMIX_INFO_REQUIRED(&info);
    CHECK(try_spawn(good, &info) == PMIX_ERR_NOT_SUPPORTED);
    PMIX_INFO_LOAD(&info, PMIX_HOST, "elsewhere.invalid", PMIX_STRING);
    CHECK(try_spawn(good, &info) == PMIX_ERR_JOB_FAILED_TO_LAUNCH);
    PMIX_INFO_LOAD(&info, PMIX_MAPBY, "nonsense", PMIX_STRING);
    CHECK(try_spawn(good, &info) == PMIX_ERR_JOB_FAILED_TO_MAP);
    fence(true);
}

/* ---- ends ---- */

static void add_line(const char *file)
{
    FILE *to = fopen(file, "a");
    CHECK(to && fprintf(to, "%s %u\n", is_spawned ? "spawned" : "first", me.rank) > 0);
    fclose(to);
}

static int lines_of(const char *file)
{
    int c, lines = 0;
    FILE *from = fopen(file, "r");
    while (from && (c = getc(from)) != EOF)
        lines += c == '\n';
    if (from)
        fclose(from);
    return lines;
}

static void do_wait(const char *what, const char *file)
{
    bool ends = strcmp(what, "end") == 0;
    if (is_spawned) {
        usleep(ends ? 500000 : 0);
        add_line(file);
    }
    if (!is_spawned && strcmp(what, "die") == 0 && me.rank == 0) {
        while (lines_of(file) < 2)
            usleep(1000);
        kill(getpid(), SIGKILL);
    }
    while (!ends)
        pause();
}

static void on_death(size_t id, pmix_status_t status, const pmix_proc_t *source,
                     pmix_info_t info[], size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *data)
{
    (void)id, (void)status, (void)source, (void)results, (void)nresults;
    for (size_t i = 0; i < ninfo; i++)
        if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC)) {
            bool ours = strcmp(info[i].value.data.proc->nspace, me.nspace) == 0;
            add_line(ours ? getenv("TEST_FILE") : getenv("TEST_FOREIGN"));
        }
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

/* A death in one job is news there, and not in the other one. */
static void do_quiet(void)
{
    pmix_status_t code = PMIX_ERR_PROC_ABORTED;
    signal(SIGTERM, SIG_IGN);
    CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, on_death, NULL, NULL) >= 0);
    fence(false);
    if (is_spawned && me.rank == size - 1)
        kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

static void do_end(const char *what, char **argv)
{
    bool last = is_spawned && me.rank == size - 1;
    fence(false);
    if (last && strcmp(what, "killed") == 0)
        kill(getpid(), SIGKILL);
    if (last && strcmp(what, "abort") == 0)
        PMIx_Abort(atoi(argv[2]), "out of cheese", NULL, 0);
    if (last && strcmp(what, "silent") == 0)
        exit(0);
    if (is_spawned && strcmp(what, "code") == 0) {
        PMIx_Finalize(NULL, 0);
        exit(atoi(argv[2]));
    }
    for (;;)
        pause();
}

static void do_hasty(char **argv)
{
    pmix_app_t app = myself(2, argv);
    if (!is_spawned && me.rank == 0) {
        CHECK(PMIx_Spawn_nb(NULL, 0, &app, 1, has_answer, NULL) == PMIX_SUCCESS);
        usleep((useconds_t)atoi(argv[3]));
        _exit(atoi(argv[2]));
    }
    for (;;)
        pause();
}

static void do_say(void)
{
    for (int i = 0; i < 2; i++)
        printf("line %d of %u of %s\n", i, me.rank, is_spawned ? "spawned" : "first");
    fflush(stdout);
}

static void act(const char *what, char **argv)
{
    pmix_nspace_t spawned;
    pmix_app_t app = myself(2, argv);
    char *none[] = { argv[2], argv[2] ? argv[3] : NULL, NULL };
    if (strcmp(what, "all") == 0)
        do_all(argv);
    else if (strcmp(what, "twice") == 0)
        do_twice(argv);
    else if (strcmp(what, "many") == 0)
        do_many(argv);
    else if (strcmp(what, "chain") == 0)
        do_chain(argv);
    else if (strcmp(what, "leave") == 0)
        do_leave(argv[2]);
    else if (strcmp(what, "past") == 0)
        do_past(argv);
    else if (strcmp(what, "refused") == 0)
        do_refused(argv);
    else if (strcmp(what, "hasty") == 0)
        do_hasty(argv);
    else if (strcmp(what, "run") == 0) {
        app = (pmix_app_t){ .cmd = argv[2], .argv = none, .maxprocs = 2 };
        spawn(&app, 1, spawned);
    } else {
        if (!is_spawned)
            spawn(&app, 1, spawned);
        if (strcmp(what, "say") == 0)
            do_say();
        else if (strcmp(what, "quiet") == 0)
            do_quiet();
        else if (strcmp(what, "wait") == 0 || strcmp(what, "end") == 0 ||
                 strcmp(what, "die") == 0)
            do_wait(what, argv[2]);
        else
            do_end(what, argv);
    }
}

int main(int argc, char **argv)
{
    begin(argv);
    act(argc > 1 ? argv[1] : "all", argv);
    CHECK(PMIx_Finalize(NULL, 0) == PMIX_SUCCESS);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Thread levels.  The second argument is the level asked for, 0 to 3 (SINGLE to MULTIPLE).  What
 * is provided, who is the main thread; functions that are always thread-safe, from several
 * threads: before MPI_Init_thread, beside the main thread's calls (from MPI_THREAD_FUNNELED on),
 * and after MPI_Finalize.
 */
#include "test/thread/threads.h"

#include <stdatomic.h>

enum { ROUNDS = 2000 };
static const int levels[] = { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                              MPI_THREAD_MULTIPLE };

static atomic_int stop;

static void handler(MPI_Session *session, int *code, ...)
{
    (void)session;
    (void)code;
}

/* Of the functions that may be called at any time. */
static void any_time(int me)
{
    MPI_Info info;
    MPI_Errhandler errhandler;
    char value[32], text[MPI_MAX_ERROR_STRING];
    int flag, n = sizeof value, version, minor, code;
    CHECK_OK(MPI_Info_create(&info));
    snprintf(text, sizeof text, "thread %d", me);
    CHECK_OK(MPI_Info_set(info, "who", text));
    CHECK_OK(MPI_Info_get_string(info, "who", &n, value, &flag));
    CHECK(flag && strcmp(value, text) == 0);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Session_create_errhandler(handler, &errhandler));
    CHECK_OK(MPI_Errhandler_free(&errhandler));
    CHECK_OK(MPI_Get_version(&version, &minor));
    CHECK_OK(MPI_Initialized(&flag));
    CHECK_OK(MPI_Add_error_class(&code));
    CHECK_OK(MPI_Add_error_string(code, "made for a moment"));
    CHECK_OK(MPI_Error_string(code, text, &n));
    CHECK(strstr(text, "moment"));
    CHECK_OK(MPI_Remove_error_string(code));
    CHECK_OK(MPI_Remove_error_class(code));
}

static void storm(int me)
{
    for (int i = 0; i < ROUNDS / 4; i++)
        any_time(me);
}

static void *storm_beside(void *me)
{
    while (!atomic_load(&stop))
        any_time((int)(intptr_t)me);
    return NULL;
}

static void main_work(void)
{
    for (int i = 0; i < ROUNDS / 10; i++) {
        MPI_Datatype type;
        MPI_Comm dup;
        int data = i;
        CHECK_OK(MPI_Type_contiguous(i % 7 + 1, MPI_INT, &type));
        CHECK_OK(MPI_Type_commit(&type));
        CHECK_OK(MPI_Type_free(&type));
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
        CHECK_OK(MPI_Bcast(&data, 1, MPI_INT, 0, dup));
        CHECK_ERROR(MPI_Send(&data, 1, MPI_INT, 0, -5, dup), MPI_ERR_TAG);
        CHECK_OK(MPI_Comm_free(&dup));
    }
}

static void *ask(void *level)
{
    int provided, flag;
    CHECK_OK(MPI_Query_thread(&provided));
    CHECK_OK(MPI_Is_thread_main(&flag));
    CHECK(provided >= *(int *)level && !flag);
    return NULL;
}

static void ask_questions(int level, int provided)
{
    int flag, got;
    CHECK(provided >= level && provided <= MPI_THREAD_MULTIPLE);
    CHECK_OK(MPI_Query_thread(&got));
    CHECK(got == provided);
    CHECK_OK(MPI_Is_thread_main(&flag));
    CHECK(flag);
    if (level < MPI_THREAD_SERIALIZED)
        return;
    pthread_t other;
    CHECK(pthread_create(&other, NULL, ask, &level) == 0);
    CHECK(pthread_join(other, NULL) == 0);
}

static void run_beside(void)
{
    pthread_t others[MOST_THREADS];
    for (int i = 0; i < nthreads; i++)
        CHECK(pthread_create(&others[i], NULL, storm_beside, (void *)(intptr_t)i) == 0);
    main_work();
    atomic_store(&stop, 1);
    for (int i = 0; i < nthreads; i++)
        CHECK(pthread_join(others[i], NULL) == 0);
}

static void session_level(MPI_Info info, const char *wanted, MPI_Session *session)
{
    char value[64];
    int n = sizeof value, flag;
    MPI_Info used;
    CHECK_OK(MPI_Session_init(info, MPI_ERRORS_RETURN, session));
    CHECK_OK(MPI_Session_get_info(*session, &used));
    CHECK_OK(MPI_Info_get_string(used, "thread_level", &n, value, &flag));
    CHECK(flag && (!wanted || strcmp(value, wanted) == 0));
    CHECK_OK(MPI_Info_free(&used));
}

static void sessions_beside(int level, int provided)
{
    MPI_Session modest, any;
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_SERIALIZED"));
    session_level(info, "MPI_THREAD_SERIALIZED", &modest);
    session_level(MPI_INFO_NULL, NULL, &any);
    CHECK_OK(MPI_Info_free(&info));
    ask_questions(level, provided);
    main_work();
    CHECK_OK(MPI_Session_finalize(&any));
    CHECK_OK(MPI_Session_finalize(&modest));
}

int main(int argc, char **argv)
{
    int level = levels[argc > 2 ? atoi(argv[2]) : 3], provided = -1, flag;
    nthreads = argc > 1 ? atoi(argv[1]) : 4;
    threads_run(storm);
    CHECK_OK(MPI_Init_thread(&argc, &argv, level, &provided));
    errors_return();
    ask_questions(level, provided);
    if (level > MPI_THREAD_SINGLE)
        run_beside();
    main_work();
    sessions_beside(level, provided);
    int rc = check_done();
    CHECK_OK(MPI_Finalized(&flag));
    CHECK(flag);
    threads_run(storm);
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tools interface: events and the counters of algorithms.  A message that comes too early, a
 * collective and a rank that sleeps are seen by callbacks; what a callback may not see is counted
 * as dropped; nothing is heard of after a registration has ended.
 */
#include "check.h"

#include <unistd.h>

enum { TEXT = 256, MOST = 8 };

static struct {
    int calls, dropped, freed;
    MPI_Count values[MOST], when;
    void *user;
} seen;

static int index_of(const char *name)
{
    int index = -1;
    CHECK(MPI_T_event_get_index(name, &index) == MPI_SUCCESS);
    return index;
}

static void look(MPI_T_event_instance instance, MPI_T_event_registration registration,
                 MPI_T_cb_safety safety, void *user)
{
    (void)registration;
    MPI_Count copy[MOST], one;
    int source = -1;
    seen.calls++;
    seen.user = user;
    CHECK(safety == MPI_T_CB_REQUIRE_MPI_RESTRICTED);
    CHECK(MPI_T_event_copy(instance, copy) == MPI_SUCCESS);
    for (int i = 0; MPI_T_event_read(instance, i, &one) == MPI_SUCCESS; i++) {
        CHECK(i < MOST && one == copy[i]);
        seen.values[i] = one;
    }
    CHECK(MPI_T_event_read(instance, -1, &one) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_event_read(instance, 0, NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_event_get_timestamp(instance, &seen.when) == MPI_SUCCESS);
    CHECK(MPI_T_event_get_source(instance, &source) == MPI_SUCCESS && source == 0);
}

static void drop(MPI_Count count, MPI_T_event_registration registration, int source,
                 MPI_T_cb_safety safety, void *user)
{
    (void)registration, (void)safety, (void)user;
    CHECK(source == 0);
    seen.dropped += (int)count;
}

static void is_free(MPI_T_event_registration registration, MPI_T_cb_safety safety, void *user)
{
    (void)registration;
    CHECK(safety == MPI_T_CB_REQUIRE_NONE);
    seen.freed++;
    seen.user = user;
}

static MPI_T_event_registration registered(const char *name, MPI_T_cb_safety safety)
{
    static int mark;
    MPI_T_event_registration registration;
    CHECK(MPI_T_event_handle_alloc(index_of(name), NULL, MPI_INFO_NULL, &registration) ==
          MPI_SUCCESS);
    CHECK(MPI_T_event_register_callback(registration, safety, MPI_INFO_NULL, &mark, look) ==
          MPI_SUCCESS);
    CHECK(MPI_T_event_set_dropped_handler(registration, drop) == MPI_SUCCESS);
    memset(&seen, 0, sizeof seen);
    return registration;
}

static void end(MPI_T_event_registration registration)
{
    CHECK(MPI_T_event_handle_free(registration, &seen, is_free) == MPI_SUCCESS);
    CHECK(seen.freed == 1 && seen.user == &seen);
    CHECK(MPI_T_event_handle_free(registration, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE);
}

static void early_message(int bytes)
{
    char data[64] = "";
    MPI_Request request;
    MPI_Isend(data, bytes, MPI_CHAR, 0, 17, MPI_COMM_SELF, &request);
    MPI_Probe(0, 17, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Recv(data, bytes, MPI_CHAR, 0, 17, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Everything that is said about sources and events. */
static void described(void)
{
    int sources, events, n, length;
    char name[TEXT], text[TEXT];
    MPI_Count per_second, most, first, second;
    MPI_T_source_order order;
    MPI_Info info = MPI_INFO_NULL;
    CHECK(MPI_T_source_get_num(&sources) == MPI_SUCCESS && sources == 1);
    length = n = TEXT;
    CHECK(MPI_T_source_get_info(0, name, &length, text, &n, &order, &per_second, &most,
                                &info) == MPI_SUCCESS);
    CHECK(length == (int)strlen(name) + 1 && n == (int)strlen(text) + 1);
    CHECK(order == MPI_T_SOURCE_ORDERED && per_second > 0 && most > per_second);
    CHECK(info != MPI_INFO_NULL && MPI_Info_free(&info) == MPI_SUCCESS);
    CHECK(MPI_T_source_get_timestamp(0, &first) == MPI_SUCCESS);
    usleep(20000);
    CHECK(MPI_T_source_get_timestamp(0, &second) == MPI_SUCCESS);
    CHECK((double)(second - first) / (double)per_second >= 0.02);
    CHECK(MPI_T_source_get_timestamp(1, &first) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_source_get_timestamp(0, NULL) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_event_get_num(&events) == MPI_SUCCESS && events == 3);
    for (int i = 0; i < events; i++) {
        MPI_Datatype types[MOST];
        MPI_Aint places[MOST];
        MPI_T_enum elements;
        int items, elements_n = MOST, bind;
        length = TEXT;
        CHECK(MPI_T_event_get_info(i, name, &length, NULL, types, places, &elements_n,
                                   &elements, NULL, NULL, NULL, &bind) == MPI_SUCCESS);
        CHECK(index_of(name) == i && bind == MPI_T_BIND_NO_OBJECT && elements_n > 0);
        CHECK(types[0] == MPI_COUNT && places[0] == 0);
        CHECK(MPI_T_enum_get_info(elements, &items, NULL, NULL) == MPI_SUCCESS);
        CHECK(items == elements_n);
        types[0] = MPI_INT;
        elements_n = 0; /* nothing is written, the number is told all the same */
        MPI_T_event_get_info(i, NULL, NULL, NULL, types, places, &elements_n, NULL, NULL, NULL,
                             NULL, NULL);
        CHECK(types[0] == MPI_INT && elements_n == items);
    }
    CHECK(MPI_T_event_get_info(events, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                               NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
}

/* No other rank sends anything meanwhile: the messages of those who are ahead would be unexpected here,
 * too. */
static void alone(void (*test)(void))
{
    int me = world_rank(), last = world_size() - 1;
    if (me > 0)
        MPI_Recv(NULL, 0, MPI_INT, me - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    test();
    if (me < last) {
        MPI_Send(NULL, 0, MPI_INT, me + 1, 1, MPI_COMM_WORLD);
        MPI_Recv(NULL, 0, MPI_INT, last, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int to = 0; me == last && to < last; to++)
        MPI_Send(NULL, 0, MPI_INT, to, 2, MPI_COMM_WORLD);
}

static void unexpected(void)
{
    MPI_T_event_registration registration =
        registered("xmpi_message_unexpected", MPI_T_CB_REQUIRE_MPI_RESTRICTED);
    MPI_Count before, after;
    MPI_T_source_get_timestamp(0, &before);
    early_message(48);
    MPI_T_source_get_timestamp(0, &after);
    CHECK(seen.calls == 1 && seen.dropped == 0 && seen.user != NULL);
    CHECK(seen.values[0] == 0 && seen.values[1] == 17 && seen.values[2] == 48);
    CHECK(seen.when >= before && seen.when <= after);
    CHECK(MPI_T_event_read(NULL, 0, &before) == MPI_T_ERR_INVALID_HANDLE);
    /* without a callback it is lost, with an unsafe one too */
    CHECK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                        MPI_INFO_NULL, NULL, NULL) == MPI_SUCCESS);
    CHECK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL,
                                        NULL, look) == MPI_SUCCESS);
    early_message(1);
    CHECK(seen.calls == 1 && seen.dropped == 1);
    CHECK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE,
                                        MPI_INFO_NULL, NULL, look) == MPI_SUCCESS);
    early_message(1);
    CHECK(seen.calls == 2 && seen.dropped == 1);
    CHECK(MPI_T_event_register_callback(registration, (MPI_T_cb_safety)7, MPI_INFO_NULL, NULL,
                                        look) == MPI_T_ERR_INVALID);
    end(registration);
    early_message(1);
    CHECK(seen.calls == 2 && seen.dropped == 1);
}

static unsigned long long counted(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    unsigned long long value = 99;
    CHECK(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS);
    return value;
}

/* The event names the variable that counts it. */
static void plans(void)
{
    MPI_T_event_registration registration =
        registered("xmpi_plan_chosen", MPI_T_CB_REQUIRE_THREAD_SAFE);
    int value = 1, sum, count, length = TEXT, class;
    char name[TEXT];
    CHECK_OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(seen.calls == 1 && seen.values[1] == sizeof(int) && seen.values[2] == world_size());
    int index = (int)seen.values[0];
    CHECK(MPI_T_pvar_get_info(index, name, &length, NULL, &class, NULL, NULL, NULL, NULL, NULL,
                              NULL, NULL, NULL) == MPI_SUCCESS);
    CHECK(strncmp(name, "xmpi_coll_allreduce_", 20) == 0 && class == MPI_T_PVAR_CLASS_COUNTER);
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_T_pvar_session_create(&session);
    CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) == MPI_SUCCESS);
    MPI_T_pvar_start(session, handle);
    for (int i = 0; i < 5; i++)
        CHECK_OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(counted(session, handle) == 5 && seen.calls == 7);
    int *blocks = calloc((size_t)world_size(), sizeof(int));
    for (int i = 0; i < 5; i++) {
        CHECK_OK(MPI_Reduce_scatter_block(blocks, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK((size_t)seen.values[1] == sizeof(int) * (size_t)world_size());
    }
    free(blocks);
    MPI_T_pvar_session_free(&session);
    MPI_Info info = MPI_INFO_NULL;
    CHECK(MPI_T_event_handle_get_info(registration, &info) == MPI_SUCCESS);
    CHECK(MPI_Info_free(&info) == MPI_SUCCESS);
    CHECK(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, &info) ==
          MPI_SUCCESS);
    CHECK(MPI_Info_free(&info) == MPI_SUCCESS);
    CHECK(MPI_T_event_handle_set_info(registration, MPI_INFO_NULL) == MPI_SUCCESS);
    end(registration);
}

/* Rank 0 lets the others wait until they sleep. */
static void sleeping(void)
{
    MPI_T_event_registration registration =
        registered("xmpi_sleep", MPI_T_CB_REQUIRE_MPI_RESTRICTED);
    MPI_Barrier(MPI_COMM_WORLD);
    seen.calls = 0;
    if (world_rank() == 0) {
        usleep(500000);
        for (int i = 1; i < world_size(); i++)
            MPI_Send(NULL, 0, MPI_INT, i, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(seen.calls > 0 && seen.values[0] >= 0);
    }
    end(registration);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_T_event_registration left;
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    described(); /* before MPI_Init */
    MPI_Init(&argc, &argv);
    alone(unexpected);
    plans();
    sleeping();
    left = registered("xmpi_plan_chosen", MPI_T_CB_REQUIRE_MPI_RESTRICTED);
    MPI_T_finalize();
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(seen.calls == 0);
    CHECK(MPI_T_event_handle_free(left, NULL, NULL) == MPI_T_ERR_NOT_INITIALIZED);
    return check_done();
}

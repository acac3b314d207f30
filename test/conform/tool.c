/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tools interface: strings, indices by name, control variables that can and cannot be set,
 * counters that agree with the messages sent, sessions that do not disturb each other, queues of
 * communicators, categories that hold every variable once, and every error class.
 */
#include "check.h"

enum { TEXT = 256 };

/* ---- strings: the same rules everywhere ---- */

typedef int describe(int index, char *name, int *name_len, char *text, int *text_len);

static int cvar(int index, char *name, int *name_len, char *text, int *text_len)
{
    return MPI_T_cvar_get_info(index, name, name_len, NULL, NULL, NULL, text, text_len, NULL,
                               NULL);
}

static int pvar(int index, char *name, int *name_len, char *text, int *text_len)
{
    return MPI_T_pvar_get_info(index, name, name_len, NULL, NULL, NULL, NULL, text, text_len,
                               NULL, NULL, NULL, NULL);
}

static int category(int index, char *name, int *name_len, char *text, int *text_len)
{
    return MPI_T_category_get_info(index, name, name_len, text, text_len, NULL, NULL, NULL);
}

static void strings(describe *describe, int n)
{
    CHECK(n > 0);
    for (int i = 0; i < n; i++) {
        char name[TEXT], text[TEXT];
        int name_len = TEXT, text_len = TEXT, needed = 0, short_len = 4;
        CHECK(describe(i, name, &name_len, text, &text_len) == MPI_SUCCESS);
        CHECK(name_len == (int)strlen(name) + 1 && text_len == (int)strlen(text) + 1);
        CHECK(describe(i, NULL, &needed, NULL, NULL) == MPI_SUCCESS && needed == name_len);
        memset(text, 'x', sizeof text);
        CHECK(describe(i, text, &short_len, NULL, NULL) == MPI_SUCCESS);
        CHECK(short_len == name_len && strncmp(text, name, 3) == 0 && text[3] == '\0');
        CHECK(text[4] == 'x');
        text[0] = 'x';
        CHECK(describe(i, text, NULL, NULL, NULL) == MPI_SUCCESS && text[0] == 'x');
    }
    CHECK(describe(n, NULL, NULL, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
    CHECK(describe(-1, NULL, NULL, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
}

static void indices(int cvars, int pvars, int categories)
{
    char name[TEXT];
    int found, class, length;
    for (int i = 0; i < cvars; i++) {
        cvar(i, name, &(int){ TEXT }, NULL, NULL);
        CHECK(MPI_T_cvar_get_index(name, &found) == MPI_SUCCESS && found == i);
    }
    for (int i = 0; i < pvars; i++) {
        length = TEXT;
        MPI_T_pvar_get_info(i, name, &length, NULL, &class, NULL, NULL, NULL, NULL, NULL, NULL,
                            NULL, NULL);
        CHECK(MPI_T_pvar_get_index(name, class, &found) == MPI_SUCCESS && found == i);
        CHECK(MPI_T_pvar_get_index(name, class % 10 + 1, &found) == MPI_T_ERR_INVALID_NAME);
    }
    for (int i = 0; i < categories; i++) {
        category(i, name, &(int){ TEXT }, NULL, NULL);
        CHECK(MPI_T_category_get_index(name, &found) == MPI_SUCCESS && found == i);
    }
    CHECK(MPI_T_cvar_get_index("no such thing", &found) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_category_get_index("no such thing", &found) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_event_get_index("no such thing", &found) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_cvar_get_index(NULL, &found) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_get_index("no such thing", NULL) == MPI_T_ERR_INVALID);
}

/* Arrays are no longer than asked for, and sorted; the sum of all is returned. */
typedef int members(int category, int len, int indices[]);

static void members_hold(int category, members *get, int n, int most, int *seen)
{
    int list[TEXT];
    memset(list, 255, sizeof list);
    CHECK(get(category, TEXT, list) == MPI_SUCCESS);
    for (int k = 0; k < n; k++) {
        CHECK(list[k] >= 0 && list[k] < most && (k == 0 || list[k] > list[k - 1]));
        seen[list[k]]++;
    }
    CHECK(list[n] == -1);
    memset(list, 255, sizeof list);
    CHECK(get(category, n / 2, list) == MPI_SUCCESS && list[n / 2] == -1);
    CHECK(get(category, 0, NULL) == MPI_SUCCESS);
    CHECK(get(category, -1, list) == MPI_T_ERR_INVALID);
    CHECK(get(category, 1, NULL) == MPI_T_ERR_INVALID);
}

/* Every variable and every event in one category, and a tree of categories. */
static void categories_hold(int categories, int cvars, int pvars)
{
    int events, seen[4][TEXT] = { { 0 } }, roots = 0;
    MPI_T_event_get_num(&events);
    for (int i = 0; i < categories; i++) {
        int c, p, sub, e;
        MPI_T_category_get_info(i, NULL, NULL, NULL, NULL, &c, &p, &sub);
        MPI_T_category_get_num_events(i, &e);
        members_hold(i, MPI_T_category_get_cvars, c, cvars, seen[0]);
        members_hold(i, MPI_T_category_get_pvars, p, pvars, seen[1]);
        members_hold(i, MPI_T_category_get_events, e, events, seen[2]);
        members_hold(i, MPI_T_category_get_categories, sub, categories, seen[3]);
    }
    for (int i = 0; i < cvars; i++)
        CHECK(seen[0][i] == 1);
    for (int i = 0; i < pvars; i++)
        CHECK(seen[1][i] == 1);
    for (int i = 0; i < events; i++)
        CHECK(seen[2][i] == 1);
    for (int i = 0; i < categories; i++) {
        CHECK(seen[3][i] <= 1);
        roots += seen[3][i] == 0;
    }
    CHECK(roots == 1);
    int stamp;
    CHECK(MPI_T_category_changed(&stamp) == MPI_SUCCESS);
    CHECK(MPI_T_category_get_cvars(categories, 0, NULL) == MPI_T_ERR_INVALID_INDEX);
}

/* ---- control variables ---- */

static MPI_T_cvar_handle control(const char *name, int *count)
{
    int index = -1;
    MPI_T_cvar_handle handle;
    CHECK(MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_handle_alloc(index, NULL, &handle, count) == MPI_SUCCESS);
    return handle;
}

static void controls(void)
{
    int count, choice = -1;
    MPI_Count eager, wanted = 100, minus = -1;
    MPI_T_cvar_handle handle = control("XMPI_EAGER", &count), gone;
    CHECK(count == 1 && MPI_T_cvar_read(handle, &eager) == MPI_SUCCESS && eager == 65536);
    CHECK(MPI_T_cvar_write(handle, &wanted) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_write(handle, &minus) == MPI_T_ERR_INVALID);
    MPI_Count now;
    CHECK(MPI_T_cvar_read(handle, &now) == MPI_SUCCESS && now == 100);
    CHECK(MPI_T_cvar_write(handle, &eager) == MPI_SUCCESS);
    gone = handle;
    CHECK(MPI_T_cvar_handle_free(&gone) == MPI_SUCCESS && gone == MPI_T_CVAR_HANDLE_NULL);
    CHECK(MPI_T_cvar_handle_free(&gone) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_cvar_read(MPI_T_CVAR_HANDLE_NULL, &now) == MPI_T_ERR_INVALID_HANDLE);

    handle = control("XMPI_EXPLAIN", &count);
    char text[TEXT], back[TEXT];
    CHECK(count == TEXT && MPI_T_cvar_write(handle, "bcast") == MPI_SUCCESS);
    CHECK(MPI_T_cvar_read(handle, back) == MPI_SUCCESS && strcmp(back, "bcast") == 0);
    memset(text, 'x', sizeof text);
    CHECK(MPI_T_cvar_write(handle, text) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_write(handle, "") == MPI_SUCCESS);

    static const char *const choices[] = { "auto", "always", "never" };
    const char *asked = getenv("XMPI_POLITE");
    handle = control("XMPI_POLITE", &count); /* a choice, and not to be changed */
    CHECK(count == 1 && MPI_T_cvar_read(handle, &choice) == MPI_SUCCESS);
    CHECK(choice >= 0 && choice < 3 && strcmp(choices[choice], asked ? asked : "auto") == 0);
    CHECK(MPI_T_cvar_write(handle, &choice) == MPI_T_ERR_CVAR_SET_NEVER);
}

/* What says that it can be set can be set to what it is; what does not, cannot. */
static void scopes(int cvars)
{
    for (int i = 0; i < cvars; i++) {
        int scope, bind, count;
        char value[TEXT];
        MPI_T_cvar_handle handle;
        MPI_T_cvar_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind, &scope);
        int of_comm = bind == MPI_T_BIND_MPI_COMM;
        MPI_Comm world = MPI_COMM_WORLD;
        CHECK(of_comm || bind == MPI_T_BIND_NO_OBJECT);
        CHECK(scope == MPI_T_SCOPE_READONLY || scope == MPI_T_SCOPE_ALL_EQ ||
              (scope == MPI_T_SCOPE_LOCAL && !of_comm));
        CHECK(MPI_T_cvar_handle_alloc(i, of_comm ? &world : NULL, &handle, &count) ==
              MPI_SUCCESS);
        CHECK(count >= 1 && count <= TEXT && MPI_T_cvar_read(handle, value) == MPI_SUCCESS);
        CHECK(MPI_T_cvar_write(handle, value) ==
              (scope == MPI_T_SCOPE_READONLY ? MPI_T_ERR_CVAR_SET_NEVER : MPI_SUCCESS));
        CHECK(MPI_T_cvar_read(handle, NULL) == MPI_T_ERR_INVALID);
        CHECK(MPI_T_cvar_handle_free(&handle) == MPI_SUCCESS);
    }
}

static void enumerations(void)
{
    int index, n, value, length = TEXT;
    char name[TEXT];
    MPI_Datatype type;
    MPI_T_enum words;
    MPI_T_cvar_get_index("XMPI_POLITE", &index);
    MPI_T_cvar_get_info(index, NULL, NULL, NULL, &type, &words, NULL, NULL, NULL, NULL);
    CHECK(type == MPI_INT && words != MPI_T_ENUM_NULL);
    CHECK(MPI_T_enum_get_info(words, &n, name, &length) == MPI_SUCCESS && n == 3);
    length = TEXT;
    CHECK(MPI_T_enum_get_item(words, 1, &value, name, &length) == MPI_SUCCESS);
    CHECK(value == 1 && strcmp(name, "always") == 0 && length == 7);
    CHECK(MPI_T_enum_get_item(words, 3, &value, name, &length) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &n, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE);
}

/* ---- performance variables ---- */

static MPI_T_pvar_handle counter(MPI_T_pvar_session session, const char *name, int class,
                                 MPI_Comm *comm)
{
    int index = -1, count = 0;
    MPI_T_pvar_handle handle;
    CHECK(MPI_T_pvar_get_index(name, class, &index) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_handle_alloc(session, index, comm, &handle, &count) == MPI_SUCCESS);
    CHECK(count == 1);
    return handle;
}

static unsigned long long value_of(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    unsigned long long value = 99;
    CHECK(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS);
    return value;
}

static void to_myself(int n)
{
    for (int i = 0; i < n; i++) {
        int out = i, in;
        MPI_Sendrecv(&out, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
    }
}

static void counters(void)
{
    MPI_T_pvar_session mine, other;
    MPI_T_pvar_session_create(&mine);
    MPI_T_pvar_session_create(&other);
    MPI_T_pvar_handle sent =
        counter(mine, "xmpi_messages_sent", MPI_T_PVAR_CLASS_COUNTER, NULL);
    MPI_T_pvar_handle bytes =
        counter(mine, "xmpi_bytes_received", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
    MPI_T_pvar_handle theirs =
        counter(other, "xmpi_messages_sent", MPI_T_PVAR_CLASS_COUNTER, NULL);
    to_myself(3);
    CHECK(value_of(mine, sent) == 0); /* not started */
    CHECK(MPI_T_pvar_start(mine, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    to_myself(5);
    CHECK(value_of(mine, sent) == 5 && value_of(mine, bytes) == 20);
    CHECK(MPI_T_pvar_stop(mine, sent) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_start(other, theirs) == MPI_SUCCESS);
    to_myself(2);
    CHECK(value_of(mine, sent) == 5 && value_of(mine, bytes) == 28);
    CHECK(value_of(other, theirs) == 2);
    MPI_T_pvar_start(mine, sent);
    unsigned long long value = 100;
    CHECK(MPI_T_pvar_write(mine, sent, &value) == MPI_SUCCESS);
    to_myself(1);
    CHECK(MPI_T_pvar_readreset(mine, sent, &value) == MPI_SUCCESS && value == 101);
    to_myself(1);
    CHECK(value_of(mine, sent) == 1 && value_of(other, theirs) == 4);
    CHECK(MPI_T_pvar_reset(mine, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    CHECK(value_of(mine, sent) == 0 && value_of(mine, bytes) == 0);

    CHECK(MPI_T_pvar_read(other, sent, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_read(mine, MPI_T_PVAR_ALL_HANDLES, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_read(MPI_T_PVAR_SESSION_NULL, sent, &value) == MPI_T_ERR_INVALID_SESSION);
    MPI_T_pvar_handle gone = sent;
    CHECK(MPI_T_pvar_handle_free(mine, &gone) == MPI_SUCCESS);
    CHECK(gone == MPI_T_PVAR_HANDLE_NULL);
    CHECK(MPI_T_pvar_start(mine, sent) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_session_free(&mine) == MPI_SUCCESS && mine == MPI_T_PVAR_SESSION_NULL);
    CHECK(MPI_T_pvar_session_free(&mine) == MPI_T_ERR_INVALID_SESSION);
    CHECK(MPI_T_pvar_session_free(&other) == MPI_SUCCESS);
}

static unsigned long long tinies(MPI_Comm comm)
{
    MPI_T_pvar_session session;
    int one = 1, sum;
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_handle handle =
        counter(session, "xmpi_coll_allreduce_tiny", MPI_T_PVAR_CLASS_COUNTER, NULL);
    MPI_T_pvar_start(session, handle);
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    unsigned long long value = value_of(session, handle);
    MPI_T_pvar_session_free(&session);
    return value;
}

/* Communicators made while XMPI_TINY is 0 have no shared slots. */
static void slots(void)
{
    int count, yes = -1, now;
    MPI_Comm with, without;
    MPI_T_cvar_handle handle = control("XMPI_TINY", &count);
    CHECK(count == 1 && MPI_T_cvar_read(handle, &yes) == MPI_SUCCESS && yes == 1);
    CHECK(MPI_T_cvar_write(handle, &(int){ -1 }) == MPI_T_ERR_INVALID);
    MPI_Comm_dup(MPI_COMM_WORLD, &with);
    CHECK(MPI_T_cvar_write(handle, &(int){ 0 }) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_read(handle, &now) == MPI_SUCCESS && now == 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &without);
    CHECK(MPI_T_cvar_write(handle, &yes) == MPI_SUCCESS);
    unsigned long long before = tinies(with); /* 0 where there is no node to share */
    CHECK(before <= 1 && tinies(without) == 0 && tinies(with) == before);
    MPI_Comm_free(&with);
    MPI_Comm_free(&without);
    CHECK(MPI_T_cvar_handle_free(&handle) == MPI_SUCCESS);
}

static void queues(void)
{
    MPI_Comm comm, never = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_T_pvar_session session;
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_handle waiting =
        counter(session, "xmpi_unexpected_queue", MPI_T_PVAR_CLASS_LEVEL, &comm);
    MPI_T_pvar_handle posted =
        counter(session, "xmpi_posted_queue", MPI_T_PVAR_CLASS_LEVEL, &comm);
    MPI_T_pvar_handle bytes =
        counter(session, "xmpi_unexpected_queue_bytes", MPI_T_PVAR_CLASS_LEVEL, &comm);
    int out = 1, in, index, count;
    MPI_Request requests[2];
    CHECK(value_of(session, bytes) == 0);
    CHECK(value_of(session, waiting) == 0 && value_of(session, posted) == 0);
    MPI_Isend(&out, 1, MPI_INT, 0, 1, comm, &requests[0]);
    MPI_Irecv(&in, 1, MPI_INT, 0, 2, comm, &requests[1]);
    MPI_Probe(0, 1, comm, MPI_STATUS_IGNORE);
    CHECK(value_of(session, waiting) == 1 && value_of(session, posted) == 1);
    CHECK(value_of(session, bytes) == sizeof out);
    MPI_Recv(&in, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
    MPI_Send(&out, 1, MPI_INT, 0, 2, comm);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(value_of(session, waiting) == 0 && value_of(session, posted) == 0);
    unsigned long long value = 5;
    CHECK(MPI_T_pvar_start(session, posted) == MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_write(session, posted, &value) == MPI_T_ERR_PVAR_NO_WRITE);
    CHECK(MPI_T_pvar_reset(session, posted) == MPI_T_ERR_PVAR_NO_WRITE);
    CHECK(MPI_T_pvar_readreset(session, posted, &value) == MPI_T_ERR_PVAR_NO_WRITE);
    MPI_T_pvar_get_index("xmpi_posted_queue", MPI_T_PVAR_CLASS_LEVEL, &index);
    CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &posted, &count) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_pvar_handle_alloc(session, index, &never, &posted, &count) ==
          MPI_T_ERR_INVALID);
    CHECK(MPI_T_pvar_handle_alloc(session, -1, NULL, &posted, &count) ==
          MPI_T_ERR_INVALID_INDEX);
    MPI_Comm_free(&comm);
    CHECK(MPI_T_pvar_read(session, waiting, &value) == MPI_T_ERR_INVALID_HANDLE);
    MPI_T_pvar_session_free(&session);
}

/* A rank that waits for half a second is idle most of that time. */
static void idleness(void)
{
    MPI_T_pvar_session session;
    double idle = -1;
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_handle handle = counter(session, "xmpi_time_idle", MPI_T_PVAR_CLASS_TIMER, NULL);
    MPI_T_pvar_start(session, handle);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank() == 0) {
        for (double end = MPI_Wtime() + 0.5; MPI_Wtime() < end;)
            continue;
        for (int i = 1; i < world_size(); i++)
            MPI_Send(NULL, 0, MPI_INT, i, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    CHECK(MPI_T_pvar_read(session, handle, &idle) == MPI_SUCCESS);
    CHECK(idle >= 0 && (world_rank() == 0 || idle > 0.2));
    idle = -1;
    CHECK(MPI_T_pvar_write(session, handle, &idle) == MPI_T_ERR_INVALID);
    idle = 7;
    CHECK(MPI_T_pvar_stop(session, handle) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_write(session, handle, &idle) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_read(session, handle, &idle) == MPI_SUCCESS && idle == 7);
    MPI_T_pvar_session_free(&session);
}

int main(int argc, char **argv)
{
    int provided, cvars, pvars, categories;
    CHECK(MPI_T_cvar_get_num(&cvars) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    CHECK(MPI_T_cvar_get_num(&cvars) == MPI_SUCCESS && cvars > 0);
    controls(); /* before MPI_Init */
    MPI_Init(&argc, &argv);
    CHECK(MPI_Query_thread(&provided) == MPI_SUCCESS && provided < MPI_THREAD_MULTIPLE);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_finalize(); /* counted */
    MPI_T_pvar_get_num(&pvars);
    MPI_T_category_get_num(&categories);
    strings(cvar, cvars);
    strings(pvar, pvars);
    strings(category, categories);
    indices(cvars, pvars, categories);
    categories_hold(categories, cvars, pvars);
    controls();
    enumerations();
    slots();
    counters();
    queues();
    idleness();
    scopes(cvars);
    CHECK(MPI_T_cvar_get_num(NULL) == MPI_T_ERR_INVALID);
    MPI_T_finalize();
    CHECK(MPI_T_cvar_get_num(&cvars) == MPI_T_ERR_NOT_INITIALIZED);
    return check_done();
}

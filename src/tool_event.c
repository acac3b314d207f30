/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Events of the tools interface (MPI 5.0, 15.3.8): the notices of runtime/notice.h, with a time.
 * There is one source, whose clock counts nanoseconds.  All elements of events are MPI_COUNT.
 *
 *     notice_give ---> event_raise ---> the callback of each registration
 *
 * A notice comes from the middle of the library, so a callback has to be one that keeps to
 * MPI_T_CB_REQUIRE_MPI_RESTRICTED or is safer still: of those that a registration has, the least
 * safe one that will do is called, while the engine lock is held, by the thread that met the
 * event.  Where there is none, and for events that a callback itself causes, the event is lost:
 * the dropped handler hears of it at once.
 */
#include "src/tool.h"

#include "runtime/clock.h"
#include "runtime/fail.h"
#include "runtime/lock.h"
#include "runtime/notice.h"
#include "src/api/tool.h"
#include "src/handle.h"
#include "src/info.h"

#include <stdlib.h>
#include <string.h>

/* ---- what there is ---- */

enum { MOST_ELEMENTS = 3, SOURCES = 1, TICKS_PER_SECOND = 1000000000 };

static const char *const unexpected_items[] = { "source", "tag", "bytes" };
static const char *const plan_items[] = { "pvar_index", "bytes", "ranks" };
static const char *const sleep_items[] = { "waited_ns" };

static const struct event {
    const char *name, *description;
    enum tool_category category;
    struct tool_enum elements;
} events[] = {
    [NOTICE_UNEXPECTED] = { "xmpi_message_unexpected",
                            "A point-to-point message arrived before its receive was posted: "
                            "rank of the sender in its communicator, tag, bytes of data.",
                            CATEGORY_MESSAGES,
                            { "elements of xmpi_message_unexpected", 3, unexpected_items } },
    [NOTICE_PLAN] = { "xmpi_plan_chosen",
                      "An algorithm was chosen for a collective: index of the performance "
                      "variable that counts it, bytes as the rules count them, ranks.",
                      CATEGORY_COLL,
                      { "elements of xmpi_plan_chosen", 3, plan_items } },
    [NOTICE_SLEEP] = { "xmpi_sleep",
                       "A call that waits goes to sleep: nanoseconds since it stopped "
                       "spinning.",
                       CATEGORY_WAITING,
                       { "elements of xmpi_sleep", 1, sleep_items } },
};

int tool_events(void)
{
    return NOTICES;
}

enum tool_category tool_event_category(int index)
{
    return events[index].category;
}

const struct tool_enum *tool_event_elements(int index)
{
    return &events[index].elements;
}

static int event_check(int event_index)
{
    if (event_index >= 0 && event_index < NOTICES)
        return MPI_SUCCESS;
    return tool_fail_index("event_index", event_index, NOTICES, "events");
}

static int source_check(int source_index)
{
    if (source_index >= 0 && source_index < SOURCES)
        return MPI_SUCCESS;
    return tool_fail_index("source_index", source_index, SOURCES, "sources of events");
}

static int hints_check(MPI_Info info)
{
    if (info == MPI_INFO_NULL || handle_info(info))
        return MPI_SUCCESS;
    return fail(MPI_T_ERR_INVALID_HANDLE, "argument info is no info object");
}

/* A new info object with the hints that are in force, of which there are none. */
static int no_hints(MPI_Info *info)
{
    if (!info)
        return MPI_SUCCESS;
    struct info *made = info_new();
    if (!made)
        return fail(MPI_T_ERR_MEMORY, "no memory for an info object");
    *info = info_handle(made);
    return MPI_SUCCESS;
}

int xmpi_t_source_get_num(int *num_sources)
{
    return tool_number(num_sources, SOURCES);
}

int xmpi_t_source_get_info(int source_index, char *name, int *name_len, char *desc,
                           int *desc_len, MPI_T_source_order *ordering,
                           MPI_Count *ticks_per_second, MPI_Count *max_ticks, MPI_Info *info)
{
    int rc = source_check(source_index);
    if (rc)
        return rc;
    tool_text("xmpi", name, name_len);
    tool_text("This process; its clock is that of MPI_Wtime, in nanoseconds.", desc, desc_len);
    if (ordering)
        *ordering = MPI_T_SOURCE_ORDERED;
    if (ticks_per_second)
        *ticks_per_second = TICKS_PER_SECOND;
    if (max_ticks)
        *max_ticks = INT64_MAX;
    return no_hints(info);
}

int xmpi_t_source_get_timestamp(int source_index, MPI_Count *timestamp)
{
    int rc = source_check(source_index);
    if (!rc && !timestamp)
        rc = tool_fail_null("timestamp");
    if (!rc)
        *timestamp = (MPI_Count)clock_ns();
    return rc;
}

int xmpi_t_event_get_num(int *num_events)
{
    return tool_number(num_events, NOTICES);
}

int xmpi_t_event_get_info(int event_index, char *name, int *name_len, int *verbosity,
                          MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[],
                          int *num_elements, MPI_T_enum *enumtype, MPI_Info *info, char *desc,
                          int *desc_len, int *bind)
{
    int rc = event_check(event_index);
    if (rc)
        return rc;
    const struct event *event = &events[event_index];
    int room = num_elements ? *num_elements : 0, n = event->elements.n;
    for (int i = 0; i < n && i < room; i++) {
        if (array_of_datatypes)
            array_of_datatypes[i] = MPI_COUNT;
        if (array_of_displacements)
            array_of_displacements[i] = i * (MPI_Aint)sizeof(MPI_Count);
    }
    tool_int(num_elements, n);
    tool_text(event->name, name, name_len);
    tool_text(event->description, desc, desc_len);
    tool_int(verbosity, MPI_T_VERBOSITY_TUNER_BASIC);
    tool_int(bind, MPI_T_BIND_NO_OBJECT);
    if (enumtype)
        *enumtype = (MPI_T_enum)&event->elements;
    return no_hints(info);
}

int xmpi_t_event_get_index(const char *name, int *event_index)
{
    if (!name || !event_index)
        return tool_fail_null(name ? "event_index" : "name");
    for (int i = 0; i < NOTICES; i++)
        if (strcmp(name, events[i].name) == 0)
            return tool_number(event_index, i);
    return tool_fail_name(name, "event");
}

/* ---- registrations ---- */

/* From the least safe to the safest. */
static const MPI_T_cb_safety levels[] = { MPI_T_CB_REQUIRE_NONE,
                                          MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                          MPI_T_CB_REQUIRE_THREAD_SAFE,
                                          MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE };
enum { LEVELS = sizeof levels / sizeof *levels, LEVEL_NEEDED = 1 };

struct registration { /* an MPI_T_event_registration */
    struct registration *next;
    int event;
    MPI_T_event_dropped_cb_function *dropped;
    struct {
        MPI_T_event_cb_function *function; /* NULL: none */
        void *user_data;
    } callbacks[LEVELS];
};
static struct registration *registrations;

static int registration_of(MPI_T_event_registration handle, struct registration **found)
{
    *found = registrations;
    while (*found && *found != (struct registration *)handle)
        *found = (*found)->next;
    if (*found)
        return MPI_SUCCESS;
    return fail(MPI_T_ERR_INVALID_HANDLE, "argument event_registration is not one of "
                                          "MPI_T_event_handle_alloc");
}

static int level_of(MPI_T_cb_safety safety, int *level)
{
    for (*level = 0; *level < LEVELS; ++*level)
        if (levels[*level] == safety)
            return MPI_SUCCESS;
    return fail(MPI_T_ERR_INVALID, "argument cb_safety is %d, which is no level of safety",
                (int)safety);
}

static notice_listener event_raise;

/* Listen to what is registered for, and to nothing else. */
static void listen_again(void)
{
    uint32_t wanted = 0;
    for (const struct registration *r = registrations; r; r = r->next)
        wanted |= 1u << r->event;
    notices_listen(wanted, event_raise);
}

int xmpi_t_event_handle_alloc(int event_index, void *obj_handle, MPI_Info info,
                              MPI_T_event_registration *event_registration)
{
    (void)obj_handle; /* events belong to the process */
    int rc = event_check(event_index);
    if (!rc)
        rc = hints_check(info);
    if (!rc && !event_registration)
        rc = tool_fail_null("event_registration");
    if (rc)
        return rc;
    struct registration *made = calloc(1, sizeof *made);
    if (!made)
        return fail(MPI_T_ERR_OUT_OF_HANDLES, "no memory for a registration");
    made->event = event_index;
    made->next = registrations;
    registrations = made;
    *event_registration = (MPI_T_event_registration)made;
    listen_again();
    return MPI_SUCCESS;
}

int xmpi_t_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info)
{
    struct registration *registration;
    int rc = registration_of(event_registration, &registration);
    return rc ? rc : hints_check(info);
}

int xmpi_t_event_handle_get_info(MPI_T_event_registration event_registration,
                                 MPI_Info *info_used)
{
    struct registration *registration;
    int rc = registration_of(event_registration, &registration);
    if (!rc && !info_used)
        rc = tool_fail_null("info_used");
    return rc ? rc : no_hints(info_used);
}

/* NULL takes a callback away. */
int xmpi_t_event_register_callback(MPI_T_event_registration event_registration,
                                   MPI_T_cb_safety cb_safety, MPI_Info info, void *user_data,
                                   MPI_T_event_cb_function event_cb_function)
{
    struct registration *registration;
    int level, rc = registration_of(event_registration, &registration);
    if (!rc)
        rc = level_of(cb_safety, &level);
    if (!rc)
        rc = hints_check(info);
    if (rc)
        return rc;
    registration->callbacks[level].function = event_cb_function;
    registration->callbacks[level].user_data = user_data;
    return MPI_SUCCESS;
}

int xmpi_t_event_callback_set_info(MPI_T_event_registration event_registration,
                                   MPI_T_cb_safety cb_safety, MPI_Info info)
{
    struct registration *registration;
    int level, rc = registration_of(event_registration, &registration);
    if (!rc)
        rc = level_of(cb_safety, &level);
    return rc ? rc : hints_check(info);
}

int xmpi_t_event_callback_get_info(MPI_T_event_registration event_registration,
                                   MPI_T_cb_safety cb_safety, MPI_Info *info_used)
{
    struct registration *registration;
    int level, rc = registration_of(event_registration, &registration);
    if (!rc)
        rc = level_of(cb_safety, &level);
    if (!rc && !info_used)
        rc = tool_fail_null("info_used");
    return rc ? rc : no_hints(info_used);
}

static void registration_delete(struct registration *gone)
{
    struct registration **link = &registrations;
    while (*link != gone)
        link = &(*link)->next;
    *link = gone->next;
    free(gone);
}

/* No callback runs when this returns, so the last word can be said at once. */
int xmpi_t_event_handle_free(MPI_T_event_registration event_registration, void *user_data,
                             MPI_T_event_free_cb_function free_cb_function)
{
    struct registration *registration;
    int rc = registration_of(event_registration, &registration);
    if (rc)
        return rc;
    registration_delete(registration);
    listen_again();
    if (!free_cb_function)
        return MPI_SUCCESS;
    int held = engine_release();
    free_cb_function(event_registration, MPI_T_CB_REQUIRE_NONE, user_data);
    engine_retake(held);
    return MPI_SUCCESS;
}

int xmpi_t_event_set_dropped_handler(MPI_T_event_registration event_registration,
                                     MPI_T_event_dropped_cb_function dropped_cb_function)
{
    struct registration *registration;
    int rc = registration_of(event_registration, &registration);
    if (!rc)
        registration->dropped = dropped_cb_function;
    return rc;
}

void tool_events_close(void)
{
    while (registrations)
        registration_delete(registrations);
    listen_again();
}

/* ---- instances: valid while a callback runs ---- */

static struct instance { /* an MPI_T_event_instance */
    int event;
    MPI_Count when;
    MPI_Count values[MOST_ELEMENTS];
} * current;

static void instance_fill(struct instance *instance, enum notice what, const int64_t *values)
{
    instance->event = what;
    instance->when = (MPI_Count)clock_ns();
    for (int i = 0; i < events[what].elements.n; i++)
        instance->values[i] = values[i];
    if (what == NOTICE_PLAN)
        instance->values[0] = tool_pvar_of_algorithm((int)values[0]);
}

/* The least safe callback that will do; LEVELS: none. */
static int level_for(const struct registration *registration)
{
    int level = LEVEL_NEEDED;
    while (level < LEVELS && !registration->callbacks[level].function)
        level++;
    return level;
}

static void event_tell(struct registration *registration, struct instance *instance,
                       bool nested)
{
    MPI_T_event_registration handle = (MPI_T_event_registration)registration;
    int level = level_for(registration);
    if (level < LEVELS && !nested)
        registration->callbacks[level].function((MPI_T_event_instance)instance, handle,
                                                levels[LEVEL_NEEDED],
                                                registration->callbacks[level].user_data);
    else if (registration->dropped)
        registration->dropped(1, handle, 0, levels[LEVEL_NEEDED],
                              level < LEVELS ? registration->callbacks[level].user_data
                                             : registration->callbacks[0].user_data);
}

static void event_raise(enum notice what, const int64_t *values)
{
    struct instance instance, *outer = current;
    instance_fill(&instance, what, values);
    if (!outer)
        current = &instance;
    for (struct registration *r = registrations, *next; r; r = next) {
        next = r->next;
        if (r->event == (int)what)
            event_tell(r, &instance, outer != NULL);
    }
    current = outer;
}

static int instance_check(MPI_T_event_instance handle)
{
    if (current && (struct instance *)handle == current)
        return MPI_SUCCESS;
    return fail(MPI_T_ERR_INVALID_HANDLE, "argument event_instance is not that of a callback "
                                          "that runs now");
}

int xmpi_t_event_read(MPI_T_event_instance event_instance, int element_index, void *buffer)
{
    int rc = instance_check(event_instance);
    if (rc)
        return rc;
    int n = events[current->event].elements.n;
    if (element_index < 0 || element_index >= n)
        return tool_fail_index("element_index", element_index, n, "elements");
    if (!buffer)
        return tool_fail_null("buffer");
    memcpy(buffer, &current->values[element_index], sizeof(MPI_Count));
    return MPI_SUCCESS;
}

int xmpi_t_event_copy(MPI_T_event_instance event_instance, void *buffer)
{
    int rc = instance_check(event_instance);
    if (!rc && !buffer)
        rc = tool_fail_null("buffer");
    if (!rc)
        memcpy(buffer, current->values,
               (size_t)events[current->event].elements.n * sizeof(MPI_Count));
    return rc;
}

int xmpi_t_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count *event_timestamp)
{
    int rc = instance_check(event_instance);
    if (!rc && !event_timestamp)
        rc = tool_fail_null("event_timestamp");
    if (!rc)
        *event_timestamp = current->when;
    return rc;
}

int xmpi_t_event_get_source(MPI_T_event_instance event_instance, int *source_index)
{
    int rc = instance_check(event_instance);
    if (!rc && !source_index)
        rc = tool_fail_null("source_index");
    return rc ? rc : tool_number(source_index, 0);
}

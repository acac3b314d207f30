/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tools interface (MPI 5.0, 15.3): starting and ending it, enumerations, categories.  Every
 * variable and every event is in exactly one category.  The categories are a tree under "xmpi", and
 * nothing of this changes while a program runs.
 */
#include "src/tool.h"

#include "runtime/fail.h"
#include "runtime/param.h"
#include "src/api/tool.h"
#include "src/handle.h"

#include <stdio.h>
#include <string.h>

int tool_users;

/* These functions take the engine lock at every thread level. */
int xmpi_t_init_thread(int required, int *provided)
{
    (void)required;
    if (!provided)
        return tool_fail_null("provided");
    params_read();
    tool_users++;
    *provided = MPI_THREAD_MULTIPLE;
    return MPI_SUCCESS;
}

static void tools_close(void)
{
    tool_cvars_close();
    tool_pvars_close();
    tool_events_close();
}

int xmpi_t_finalize(void)
{
    if (--tool_users == 0)
        tools_close();
    return MPI_SUCCESS;
}

/* ---- results and complaints ---- */

void tool_text(const char *text, char *to, int *room)
{
    int needed = (int)strlen(text) + 1;
    if (!room)
        return;
    if (to && *room > 0)
        snprintf(to, (size_t)*room, "%s", text);
    *room = needed;
}

void tool_int(int *place, int value)
{
    if (place)
        *place = value;
}

int tool_number(int *place, int n)
{
    if (!place)
        return fail(MPI_T_ERR_INVALID,
                    "the place for the number is NULL; pass the address of an int");
    *place = n;
    return MPI_SUCCESS;
}

int tool_fail_null(const char *argument)
{
    return fail_null(MPI_T_ERR_INVALID, argument);
}

int tool_fail_index(const char *argument, int index, int n, const char *things)
{
    if (n == 0)
        return fail(MPI_T_ERR_INVALID_INDEX, "argument %s is %d; there are no %s", argument,
                    index, things);
    return fail(MPI_T_ERR_INVALID_INDEX, "argument %s is %d; %s run from 0 to %d", argument,
                index, things, n - 1);
}

int tool_fail_name(const char *name, const char *thing)
{
    return fail(MPI_T_ERR_INVALID_NAME, "there is no %s \"%s\"", thing, name);
}

int tool_bind_comm(const void *obj_handle, MPI_Comm *comm)
{
    *comm = obj_handle ? *(const MPI_Comm *)obj_handle : MPI_COMM_NULL;
    if (handle_comm(*comm))
        return MPI_SUCCESS;
    return fail(MPI_T_ERR_INVALID, "argument obj_handle must point to a communicator");
}

int tool_bound_comm(MPI_Comm handle, struct comm **comm)
{
    *comm = handle_comm(handle);
    if (*comm)
        return MPI_SUCCESS;
    return fail(MPI_T_ERR_INVALID_HANDLE, "the communicator of the handle was freed");
}

/* ---- enumerations ---- */

static const char *const polite_items[] = { "auto", "always", "never" };
const struct tool_enum tool_enum_polite = { "how a rank waits", 3, polite_items };

static const char *const copy_items[] = { "auto", "none", "cma", "xpmem", "both" };
const struct tool_enum tool_enum_copy = { "who copies long messages", 5, copy_items };

static bool enum_is_known(const struct tool_enum *wanted)
{
    for (int i = 0; i < tool_events(); i++)
        if (wanted == tool_event_elements(i))
            return true;
    if (tool_pvar_has_enum(wanted))
        return true;
    return wanted == &tool_enum_polite || wanted == &tool_enum_copy;
}

static int enum_of(MPI_T_enum handle, const struct tool_enum **found)
{
    *found = (const struct tool_enum *)handle;
    if (enum_is_known(*found))
        return MPI_SUCCESS;
    return fail(MPI_T_ERR_INVALID_HANDLE, "argument enumtype is no enumeration of a variable");
}

int xmpi_t_enum_get_info(MPI_T_enum enumtype, int *num, char *name, int *name_len)
{
    const struct tool_enum *found;
    int rc = enum_of(enumtype, &found);
    if (rc)
        return rc;
    tool_int(num, found->n);
    tool_text(found->name, name, name_len);
    return MPI_SUCCESS;
}

int xmpi_t_enum_get_item(MPI_T_enum enumtype, int indx, int *value, char *name, int *name_len)
{
    const struct tool_enum *found;
    int rc = enum_of(enumtype, &found);
    if (rc)
        return rc;
    if (indx < 0 || indx >= found->n)
        return tool_fail_index("indx", indx, found->n, "items");
    tool_int(value, indx);
    tool_text(found->items[indx], name, name_len);
    return MPI_SUCCESS;
}

/* ---- categories ---- */

static const struct {
    const char *name, *description;
    enum tool_category parent; /* of the first one: itself */
} categories[TOOL_CATEGORIES] = {
    [CATEGORY_ALL] = { "xmpi", "Everything of this library.", CATEGORY_ALL },
    [CATEGORY_OTHER] = { "xmpi_other", "What belongs to no other category.", CATEGORY_ALL },
    [CATEGORY_MESSAGES] = { "xmpi_messages", "Messages between processes.", CATEGORY_ALL },
    [CATEGORY_WAITING] = { "xmpi_waiting", "How processes wait, and for how long.",
                           CATEGORY_ALL },
    [CATEGORY_COLL] = { "xmpi_collectives", "Collective operations.", CATEGORY_ALL },
    [CATEGORY_ALGORITHMS] = { "xmpi_algorithms", "How often each algorithm was chosen.",
                              CATEGORY_COLL },
};

/* The parent of a category, as if it were a variable; the root has none. */
static enum tool_category category_parent(int index)
{
    return index == CATEGORY_ALL ? TOOL_CATEGORIES : categories[index].parent;
}

/* The variables of a category: how many, and the first `room` of their indices. */
static int category_members(int category, int n, enum tool_category (*category_of)(int index),
                            int room, int *indices)
{
    int members = 0;
    for (int i = 0; i < n; i++) {
        if ((int)category_of(i) != category)
            continue;
        if (members < room)
            indices[members] = i;
        members++;
    }
    return members;
}

static int category_check(int cat_index)
{
    if (cat_index >= 0 && cat_index < TOOL_CATEGORIES)
        return MPI_SUCCESS;
    return tool_fail_index("cat_index", cat_index, TOOL_CATEGORIES, "categories");
}

static int category_array_check(int cat_index, int len, const int *indices)
{
    int rc = category_check(cat_index);
    if (!rc && len < 0)
        rc = fail(MPI_T_ERR_INVALID, "argument len is %d, must not be negative", len);
    if (!rc && len > 0 && !indices)
        rc = tool_fail_null("indices");
    return rc;
}

int xmpi_t_category_get_num(int *num_cat)
{
    return tool_number(num_cat, TOOL_CATEGORIES);
}

int xmpi_t_category_get_info(int cat_index, char *name, int *name_len, char *desc,
                             int *desc_len, int *num_cvars, int *num_pvars, int *num_categories)
{
    int rc = category_check(cat_index);
    if (rc)
        return rc;
    tool_text(categories[cat_index].name, name, name_len);
    tool_text(categories[cat_index].description, desc, desc_len);
    tool_int(num_cvars, category_members(cat_index, tool_cvars(), tool_cvar_category, 0, NULL));
    tool_int(num_pvars, category_members(cat_index, tool_pvars(), tool_pvar_category, 0, NULL));
    tool_int(num_categories,
             category_members(cat_index, TOOL_CATEGORIES, category_parent, 0, NULL));
    return MPI_SUCCESS;
}

int xmpi_t_category_get_num_events(int cat_index, int *num_events)
{
    int rc = category_check(cat_index);
    if (rc)
        return rc;
    return tool_number(
        num_events, category_members(cat_index, tool_events(), tool_event_category, 0, NULL));
}

int xmpi_t_category_get_index(const char *name, int *cat_index)
{
    if (!name || !cat_index)
        return tool_fail_null(name ? "cat_index" : "name");
    for (int i = 0; i < TOOL_CATEGORIES; i++)
        if (strcmp(name, categories[i].name) == 0)
            return tool_number(cat_index, i);
    return tool_fail_name(name, "category");
}

int xmpi_t_category_get_cvars(int cat_index, int len, int indices[])
{
    int rc = category_array_check(cat_index, len, indices);
    if (!rc)
        category_members(cat_index, tool_cvars(), tool_cvar_category, len, indices);
    return rc;
}

int xmpi_t_category_get_pvars(int cat_index, int len, int indices[])
{
    int rc = category_array_check(cat_index, len, indices);
    if (!rc)
        category_members(cat_index, tool_pvars(), tool_pvar_category, len, indices);
    return rc;
}

int xmpi_t_category_get_events(int cat_index, int len, int indices[])
{
    int rc = category_array_check(cat_index, len, indices);
    if (!rc)
        category_members(cat_index, tool_events(), tool_event_category, len, indices);
    return rc;
}

int xmpi_t_category_get_categories(int cat_index, int len, int indices[])
{
    int rc = category_array_check(cat_index, len, indices);
    if (!rc)
        category_members(cat_index, TOOL_CATEGORIES, category_parent, len, indices);
    return rc;
}

int xmpi_t_category_changed(int *update_number)
{
    return tool_number(update_number, 0);
}

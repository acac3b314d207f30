/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tools interface (MPI 5.0, 15.3).  The control variables are the knobs of runtime/param:
 * the library reads them when it starts, so tools can look at them and not change them.  There
 * are no performance variables, events and categories yet.  A handle is the address of a knob.
 */
#include "src/tool.h"

#include "runtime/fail.h"
#include "runtime/param.h"
#include "src/api/tool.h"

#include <stdio.h>
#include <string.h>

int tool_users;

int xmpi_t_init_thread(int required, int *provided)
{
    (void)required;
    params_read();
    tool_users++;
    if (provided)
        *provided =
            MPI_THREAD_MULTIPLE; /* every call takes the engine lock when threads exist */
    return MPI_SUCCESS;
}

int xmpi_t_finalize(void)
{
    tool_users--;
    return MPI_SUCCESS;
}

/* ---- counts ---- */

static int number(int *place, int n)
{
    if (!place)
        return fail(MPI_T_ERR_INVALID, "the place for the number is NULL");
    *place = n;
    return MPI_SUCCESS;
}

int xmpi_t_cvar_get_num(int *num_cvar)
{
    return number(num_cvar, PARAM_COUNT);
}

int xmpi_t_pvar_get_num(int *num_pvar)
{
    return number(num_pvar, 0);
}

int xmpi_t_source_get_num(int *num_sources)
{
    return number(num_sources, 0);
}

int xmpi_t_event_get_num(int *num_events)
{
    return number(num_events, 0);
}

int xmpi_t_category_get_num(int *num_cat)
{
    return number(num_cat, 0);
}

int xmpi_t_category_changed(int *update_number)
{
    return number(update_number, 0);
}

/* ---- control variables ---- */

static MPI_Datatype type_of_param(const struct param *param)
{
    if (param->type == PARAM_STRING)
        return MPI_CHAR;
    return param->type == PARAM_BOOL ? MPI_INT : MPI_COUNT;
}

static const char *text_of_param(const struct param *param)
{
    return param->string ? param->string : "";
}

/* The convention of MPI_T for strings: *room says how much fits and becomes what is needed. */
static void give_text(const char *text, char *to, int *room)
{
    int needed = (int)strlen(text) + 1;
    if (!room)
        return;
    if (to && *room > 0)
        snprintf(to, (size_t)*room, "%s", text);
    *room = needed;
}

static void give_int(int *place, int value)
{
    if (place)
        *place = value;
}

static struct param *param_at(int index)
{
    return index >= 0 && index < PARAM_COUNT ? &params[index] : NULL;
}

int xmpi_t_cvar_get_info(int cvar_index, char *name, int *name_len, int *verbosity,
                         MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc,
                         int *desc_len, int *bind, int *scope)
{
    const struct param *param = param_at(cvar_index);
    if (!param)
        return fail(MPI_T_ERR_INVALID_INDEX,
                    "argument cvar_index is %d; control variables run "
                    "from 0 to %d",
                    cvar_index, PARAM_COUNT - 1);
    char full[80];
    snprintf(full, sizeof full, "XMPI_%s", param->name);
    give_text(full, name, name_len);
    give_text(param->help, desc, desc_len);
    give_int(verbosity, MPI_T_VERBOSITY_TUNER_BASIC);
    give_int(bind, MPI_T_BIND_NO_OBJECT);
    give_int(scope, MPI_T_SCOPE_READONLY);
    if (datatype)
        *datatype = type_of_param(param);
    if (enumtype)
        *enumtype = MPI_T_ENUM_NULL;
    return MPI_SUCCESS;
}

int xmpi_t_cvar_get_index(const char *name, int *cvar_index)
{
    if (!name || !cvar_index)
        return fail(MPI_T_ERR_INVALID, "argument %s is NULL", name ? "cvar_index" : "name");
    for (int i = 0; i < PARAM_COUNT; i++)
        if (strncmp(name, "XMPI_", 5) == 0 && strcmp(name + 5, params[i].name) == 0) {
            *cvar_index = i;
            return MPI_SUCCESS;
        }
    return fail(MPI_T_ERR_INVALID_NAME, "there is no control variable %s", name);
}

int xmpi_t_cvar_handle_alloc(int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle,
                             int *count)
{
    (void)obj_handle;
    struct param *param = param_at(cvar_index);
    if (!param)
        return fail(MPI_T_ERR_INVALID_INDEX,
                    "argument cvar_index is %d; control variables run "
                    "from 0 to %d",
                    cvar_index, PARAM_COUNT - 1);
    if (!handle || !count)
        return fail(MPI_T_ERR_INVALID, "argument %s is NULL", handle ? "count" : "handle");
    *handle = (MPI_T_cvar_handle)param;
    *count = param->type == PARAM_STRING ? (int)strlen(text_of_param(param)) + 1 : 1;
    return MPI_SUCCESS;
}

static const struct param *param_of(MPI_T_cvar_handle handle)
{
    for (int i = 0; i < PARAM_COUNT; i++)
        if ((MPI_T_cvar_handle)&params[i] == handle)
            return &params[i];
    return NULL;
}

static int fail_handle(void)
{
    return fail(MPI_T_ERR_INVALID_HANDLE, "argument handle is not one of "
                                          "MPI_T_cvar_handle_alloc");
}

int xmpi_t_cvar_handle_free(MPI_T_cvar_handle *handle)
{
    if (!handle || !param_of(*handle))
        return fail_handle();
    *handle = MPI_T_CVAR_HANDLE_NULL;
    return MPI_SUCCESS;
}

int xmpi_t_cvar_read(MPI_T_cvar_handle handle, void *buf)
{
    const struct param *param = param_of(handle);
    if (!param)
        return fail_handle();
    if (!buf)
        return fail(MPI_T_ERR_INVALID, "argument buf is NULL");
    if (param->type == PARAM_STRING)
        strcpy(buf, text_of_param(param));
    else if (param->type == PARAM_BOOL)
        *(int *)buf = param->number != 0;
    else
        *(MPI_Count *)buf = param->number;
    return MPI_SUCCESS;
}

int xmpi_t_cvar_write(MPI_T_cvar_handle handle, const void *buf)
{
    (void)buf;
    const struct param *param = param_of(handle);
    if (!param)
        return fail_handle();
    return fail(MPI_T_ERR_CVAR_SET_NEVER,
                "XMPI_%s is read from the environment when the "
                "program starts",
                param->name);
}

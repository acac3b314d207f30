/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Control variables: the knobs of runtime/param under the names they have in the environment.
 * A handle is the address of a knob, except for the one that belongs to a communicator.  Knobs that
 * are looked at again and again can be set at any time, from the next message, wait, plan or
 * communicator on; those that are read once, when the library starts, are read-only.
 *
 *     whole numbers and sizes   MPI_COUNT
 *     yes or no                 MPI_INT; 0 is no
 *     a choice of words         MPI_INT with an enumeration
 *     text                      MPI_CHAR; one that can be set has room for TEXT_ROOM bytes
 */
#include "src/tool_cvar.h"

#include "coll/choose.h"
#include "runtime/fail.h"
#include "runtime/param.h"
#include "runtime/progress.h"
#include "src/api/tool.h"
#include "src/tool.h"

#include <stdio.h>
#include <string.h>

enum { OF_COMM = PARAM_COUNT, CVARS }; /* index of the one that belongs to a communicator */
static const char of_comm_name[] = "COMM_COLL",
                  of_comm_help[] = "Algorithms for the collectives of a communicator, as in "
                                   "XMPI_COLL; the same text on all its ranks.";

/* Who may set a knob: nobody, every process as it likes, all of them to the same value. */
enum setting { NEVER, ALONE, ALIKE };

/* A knob without a row is in no particular category and cannot be set. */
static const struct knob {
    enum tool_category category;
    enum setting setting;
    void (*follow)(void);          /* called when it was set */
    const struct tool_enum *words; /* what a string may be */
    long long least;
    char *text; /* TEXT_ROOM bytes for a string that can be set */
} knobs[CVARS] = {
    [PARAM_ID_SPIN] = { CATEGORY_WAITING, ALONE, progress_tune, NULL, 0, NULL },
    [PARAM_ID_POLITE] = { CATEGORY_WAITING, NEVER, NULL, &tool_enum_polite, 0, NULL },
    [PARAM_ID_ASYNC] = { CATEGORY_WAITING, NEVER, NULL, NULL, 0, NULL },
    [PARAM_ID_LOG] = { CATEGORY_OTHER, ALONE, NULL, NULL, 0, NULL },
    [PARAM_ID_EXPLAIN] = { CATEGORY_COLL, ALONE, choose_anew, NULL, 0,
                           (char[TEXT_ROOM]){ "" } },
    [PARAM_ID_COLL] = { CATEGORY_COLL, NEVER, NULL, NULL, 0, NULL },
    [PARAM_ID_PLAN] = { CATEGORY_COLL, NEVER, NULL, NULL, 0, NULL },
    [PARAM_ID_GROUP_BUCKET] = { CATEGORY_COLL, ALIKE, NULL, NULL, 0, NULL },
    [PARAM_ID_TUNING] = { CATEGORY_COLL, NEVER, NULL, NULL, 0, NULL },
    [PARAM_ID_EAGER] = { CATEGORY_MESSAGES, ALONE, NULL, NULL, 0, NULL },
    [PARAM_ID_SHM_SINGLE_COPY] = { CATEGORY_MESSAGES, NEVER, NULL, &tool_enum_copy, 0, NULL },
    [PARAM_ID_HUGE_PAGES] = { CATEGORY_MESSAGES, NEVER, NULL, NULL, 0, NULL },
    [PARAM_ID_SHM] = { CATEGORY_MESSAGES, NEVER, NULL, NULL, 0, NULL },
    [PARAM_ID_NODE] = { CATEGORY_MESSAGES, NEVER, NULL, NULL, 0, NULL },
    [PARAM_ID_OFI_PROVIDER] = { CATEGORY_MESSAGES, NEVER, NULL, NULL, 0, NULL },
    [PARAM_ID_OFI_IFACE] = { CATEGORY_MESSAGES, NEVER, NULL, NULL, 0, NULL },
    [PARAM_ID_OFI_NICS] = { CATEGORY_MESSAGES, NEVER, NULL, NULL, 0, NULL },
    [PARAM_ID_OFI_TIMEOUT] = { CATEGORY_MESSAGES, ALONE, NULL, NULL, 1, NULL },
    [PARAM_ID_OFI_WINDOW] = { CATEGORY_MESSAGES, NEVER, NULL, NULL, 0, NULL },
    [PARAM_ID_TINY] = { CATEGORY_COLL, ALIKE, NULL, NULL, 0, NULL },
    [PARAM_ID_CUDA] = { CATEGORY_MESSAGES, NEVER, NULL, NULL, 0, NULL },
    [PARAM_ID_LIBXPMEM] = { CATEGORY_MESSAGES, NEVER, NULL, NULL, 0, NULL },
    [PARAM_ID_LIBCUDA] = { CATEGORY_MESSAGES, NEVER, NULL, NULL, 0, NULL },
    [PARAM_ID_CUDA_IPC] = { CATEGORY_MESSAGES, ALONE, NULL, NULL, 0, NULL },
    [PARAM_ID_CUDA_REDUCE] = { CATEGORY_COLL, ALONE, NULL, NULL, 0, NULL },
    [PARAM_ID_CUDA_HANDLES] = { CATEGORY_MESSAGES, ALONE, NULL, NULL, 0, NULL },
    [PARAM_ID_CUDA_BLOCK] = { CATEGORY_MESSAGES, ALONE, NULL, NULL, 0, NULL },
    [PARAM_ID_CUDA_POOL] = { CATEGORY_MESSAGES, ALONE, NULL, NULL, 0, NULL },
    [OF_COMM] = { CATEGORY_COLL, ALIKE, NULL, NULL, 0, NULL }, /* of tool_cvar_comm.c */
};

int tool_cvars(void)
{
    return CVARS;
}

enum tool_category tool_cvar_category(int index)
{
    return knobs[index].category ? knobs[index].category : CATEGORY_OTHER;
}

int xmpi_t_cvar_get_num(int *num_cvar)
{
    return tool_number(num_cvar, CVARS);
}

static MPI_Datatype knob_type(int index)
{
    if (index == OF_COMM)
        return MPI_CHAR;
    if (params[index].type == PARAM_BOOL || knobs[index].words)
        return MPI_INT;
    return params[index].type == PARAM_STRING ? MPI_CHAR : MPI_COUNT;
}

static const char *knob_name(int index)
{
    return index == OF_COMM ? of_comm_name : params[index].name;
}

static const char *knob_text(int index)
{
    return params[index].string ? params[index].string : "";
}

static int index_check(int cvar_index)
{
    if (cvar_index >= 0 && cvar_index < CVARS)
        return MPI_SUCCESS;
    return tool_fail_index("cvar_index", cvar_index, CVARS, "control variables");
}

int xmpi_t_cvar_get_info(int cvar_index, char *name, int *name_len, int *verbosity,
                         MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc,
                         int *desc_len, int *bind, int *scope)
{
    int rc = index_check(cvar_index);
    if (rc)
        return rc;
    char full[80];
    bool of_comm = cvar_index == OF_COMM;
    snprintf(full, sizeof full, "XMPI_%s", knob_name(cvar_index));
    tool_text(full, name, name_len);
    tool_text(of_comm ? of_comm_help : params[cvar_index].help, desc, desc_len);
    tool_int(verbosity, MPI_T_VERBOSITY_TUNER_BASIC);
    tool_int(bind, of_comm ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT);
    static const int scopes[] = { [NEVER] = MPI_T_SCOPE_READONLY,
                                  [ALONE] = MPI_T_SCOPE_LOCAL,
                                  [ALIKE] = MPI_T_SCOPE_ALL_EQ };
    tool_int(scope, scopes[knobs[cvar_index].setting]);
    if (datatype)
        *datatype = knob_type(cvar_index);
    if (enumtype)
        *enumtype = (MPI_T_enum)knobs[cvar_index].words;
    return MPI_SUCCESS;
}

int xmpi_t_cvar_get_index(const char *name, int *cvar_index)
{
    if (!name || !cvar_index)
        return tool_fail_null(name ? "cvar_index" : "name");
    for (int i = 0; i < CVARS; i++)
        if (strncmp(name, "XMPI_", 5) == 0 && strcmp(name + 5, knob_name(i)) == 0)
            return tool_number(cvar_index, i);
    return tool_fail_name(name, "control variable");
}

/* ---- handles ---- */

int xmpi_t_cvar_handle_alloc(int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle,
                             int *count)
{
    int rc = index_check(cvar_index);
    if (rc)
        return rc;
    if (!handle || !count)
        return tool_fail_null(handle ? "count" : "handle");
    if (cvar_index == OF_COMM) {
        *count = TEXT_ROOM;
        return tool_comm_alloc(obj_handle, handle);
    }
    *handle = (MPI_T_cvar_handle)&params[cvar_index];
    *count = 1;
    if (knob_type(cvar_index) == MPI_CHAR)
        *count = knobs[cvar_index].text ? TEXT_ROOM : (int)strlen(knob_text(cvar_index)) + 1;
    return MPI_SUCCESS;
}

static int handle_check(MPI_T_cvar_handle handle, int *index)
{
    for (*index = 0; *index < PARAM_COUNT; ++*index)
        if ((MPI_T_cvar_handle)&params[*index] == handle)
            return MPI_SUCCESS;
    if (tool_comm_has(handle)) /* *index is OF_COMM */
        return MPI_SUCCESS;
    return fail(MPI_T_ERR_INVALID_HANDLE, "argument handle is not one of "
                                          "MPI_T_cvar_handle_alloc");
}

int xmpi_t_cvar_handle_free(MPI_T_cvar_handle *handle)
{
    int index;
    int rc = handle ? handle_check(*handle, &index) : tool_fail_null("handle");
    if (!rc && index == OF_COMM)
        tool_comm_free(*handle);
    if (!rc)
        *handle = MPI_T_CVAR_HANDLE_NULL;
    return rc;
}

/* Which of the words it is; the first one stands for whatever is none of them. */
static int word_number(const struct tool_enum *words, const char *text)
{
    for (int i = 0; i < words->n; i++)
        if (strcmp(words->items[i], text) == 0)
            return i;
    return 0;
}

int xmpi_t_cvar_read(MPI_T_cvar_handle handle, void *buf)
{
    int index;
    int rc = handle_check(handle, &index);
    if (!rc && !buf)
        rc = tool_fail_null("buf");
    if (rc)
        return rc;
    if (index == OF_COMM)
        return tool_comm_read(handle, buf);
    if (knobs[index].words)
        *(int *)buf = word_number(knobs[index].words, knob_text(index));
    else if (params[index].type == PARAM_STRING)
        strcpy(buf, knob_text(index));
    else if (params[index].type == PARAM_BOOL)
        *(int *)buf = (int)params[index].number;
    else
        *(MPI_Count *)buf = params[index].number;
    return MPI_SUCCESS;
}

static int text_write(int index, const char *text)
{
    size_t length = strnlen(text, TEXT_ROOM);
    if (length == TEXT_ROOM)
        return fail(MPI_T_ERR_INVALID, "the text in buf is longer than %d bytes",
                    TEXT_ROOM - 1);
    memcpy(knobs[index].text, text, length + 1);
    params[index].string = length ? knobs[index].text : NULL;
    return MPI_SUCCESS;
}

static int number_write(int index, MPI_Count number)
{
    if (number < knobs[index].least)
        return fail(MPI_T_ERR_INVALID, "XMPI_%s cannot be %lld; the least is %lld",
                    params[index].name, (long long)number, knobs[index].least);
    params[index].number = number;
    return MPI_SUCCESS;
}

static int knob_write(int index, const void *buf)
{
    if (knobs[index].text)
        return text_write(index, buf);
    bool is_int = knob_type(index) == MPI_INT;
    return number_write(index, is_int ? *(const int *)buf : *(const MPI_Count *)buf);
}

int xmpi_t_cvar_write(MPI_T_cvar_handle handle, const void *buf)
{
    int index;
    int rc = handle_check(handle, &index);
    if (!rc && !buf)
        rc = tool_fail_null("buf");
    if (!rc && index == OF_COMM)
        return tool_comm_write(handle, buf);
    if (!rc && knobs[index].setting == NEVER)
        rc = fail(MPI_T_ERR_CVAR_SET_NEVER,
                  "XMPI_%s is read from the environment when the program starts",
                  params[index].name);
    if (rc)
        return rc;
    rc = knob_write(index, buf);
    if (!rc && knobs[index].follow)
        knobs[index].follow();
    return rc;
}

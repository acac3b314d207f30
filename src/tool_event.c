/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Events of the tools interface (MPI 5.0, 15.3.8).  There are no sources and no kinds of events,
 * so every index is out of range, no name is known and nothing is a registration.
 */
#include "src/tool.h"

#include "runtime/fail.h"
#include "src/api/tool.h"

static int no_event(int event_index)
{
    return tool_fail_index("event_index", event_index, 0, "events");
}

static int no_source(int source_index)
{
    return tool_fail_index("source_index", source_index, 0, "sources of events");
}

static int no_registration(void)
{
    return fail(MPI_T_ERR_INVALID_HANDLE, "argument event_registration is not one of "
                                          "MPI_T_event_handle_alloc");
}

static int no_instance(void)
{
    return fail(MPI_T_ERR_INVALID_HANDLE,
                "argument event_instance is no event: there are none");
}

int xmpi_t_source_get_num(int *num_sources)
{
    return tool_number(num_sources, 0);
}

int xmpi_t_source_get_info(int source_index, char *name, int *name_len, char *desc,
                           int *desc_len, MPI_T_source_order *ordering,
                           MPI_Count *ticks_per_second, MPI_Count *max_ticks, MPI_Info *info)
{
    (void)name, (void)name_len, (void)desc, (void)desc_len, (void)ordering;
    (void)ticks_per_second, (void)max_ticks, (void)info;
    return no_source(source_index);
}

int xmpi_t_source_get_timestamp(int source_index, MPI_Count *timestamp)
{
    (void)timestamp;
    return no_source(source_index);
}

int xmpi_t_event_get_num(int *num_events)
{
    return tool_number(num_events, 0);
}

int xmpi_t_event_get_info(int event_index, char *name, int *name_len, int *verbosity,
                          MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[],
                          int *num_elements, MPI_T_enum *enumtype, MPI_Info *info, char *desc,
                          int *desc_len, int *bind)
{
    (void)name, (void)name_len, (void)verbosity, (void)array_of_datatypes;
    (void)array_of_displacements, (void)num_elements, (void)enumtype, (void)info;
    (void)desc, (void)desc_len, (void)bind;
    return no_event(event_index);
}

int xmpi_t_event_get_index(const char *name, int *event_index)
{
    if (!name || !event_index)
        return tool_fail_null(name ? "event_index" : "name");
    return tool_fail_name(name, "event");
}

/* ---- registrations ---- */

int xmpi_t_event_handle_alloc(int event_index, void *obj_handle, MPI_Info info,
                              MPI_T_event_registration *event_registration)
{
    (void)obj_handle, (void)info, (void)event_registration;
    return no_event(event_index);
}

int xmpi_t_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info)
{
    (void)event_registration, (void)info;
    return no_registration();
}

int xmpi_t_event_handle_get_info(MPI_T_event_registration event_registration,
                                 MPI_Info *info_used)
{
    (void)event_registration, (void)info_used;
    return no_registration();
}

int xmpi_t_event_register_callback(MPI_T_event_registration event_registration,
                                   MPI_T_cb_safety cb_safety, MPI_Info info, void *user_data,
                                   MPI_T_event_cb_function event_cb_function)
{
    (void)event_registration, (void)cb_safety, (void)info, (void)user_data;
    (void)event_cb_function;
    return no_registration();
}

int xmpi_t_event_callback_set_info(MPI_T_event_registration event_registration,
                                   MPI_T_cb_safety cb_safety, MPI_Info info)
{
    (void)event_registration, (void)cb_safety, (void)info;
    return no_registration();
}

int xmpi_t_event_callback_get_info(MPI_T_event_registration event_registration,
                                   MPI_T_cb_safety cb_safety, MPI_Info *info_used)
{
    (void)event_registration, (void)cb_safety, (void)info_used;
    return no_registration();
}

int xmpi_t_event_handle_free(MPI_T_event_registration event_registration, void *user_data,
                             MPI_T_event_free_cb_function free_cb_function)
{
    (void)event_registration, (void)user_data, (void)free_cb_function;
    return no_registration();
}

int xmpi_t_event_set_dropped_handler(MPI_T_event_registration event_registration,
                                     MPI_T_event_dropped_cb_function dropped_cb_function)
{
    (void)event_registration, (void)dropped_cb_function;
    return no_registration();
}

/* ---- instances ---- */

int xmpi_t_event_read(MPI_T_event_instance event_instance, int element_index, void *buffer)
{
    (void)event_instance, (void)element_index, (void)buffer;
    return no_instance();
}

int xmpi_t_event_copy(MPI_T_event_instance event_instance, void *buffer)
{
    (void)event_instance, (void)buffer;
    return no_instance();
}

int xmpi_t_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count *event_timestamp)
{
    (void)event_instance, (void)event_timestamp;
    return no_instance();
}

int xmpi_t_event_get_source(MPI_T_event_instance event_instance, int *source_index)
{
    (void)event_instance, (void)source_index;
    return no_instance();
}

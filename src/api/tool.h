/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tool support: profiling control and the tools interface MPI_T (MPI 5.0, chapter 15).  MPI_T
 * functions have conventions of their own: they may be called at any time after
 * MPI_T_init_thread, never call an error handler, and take NULL for results nobody wants.
 */
#ifndef XMPI_API_TOOL_H
#define XMPI_API_TOOL_H

#include "src/api/kinds.h"

/* A hint to profiling libraries; nothing happens here. */
manual int MPI_Pcontrol(const int level, ...);

/* ---- the tools interface ---- */

/* Start the tools interface; calls are counted. */
int xmpi_t_init_thread(int required, int *provided);

/* End the tools interface when called as often as MPI_T_init_thread. */
int xmpi_t_finalize(void);

/* The number of items, the name and the length of the name of an enumeration. */
int xmpi_t_enum_get_info(MPI_T_enum enumtype, int *num, char *name, int *name_len);

/* The value and the name of an item of an enumeration. */
int xmpi_t_enum_get_item(MPI_T_enum enumtype, int indx, int *value, char *name, int *name_len);

/* ---- control variables ---- */

/* How many control variables there are. */
int xmpi_t_cvar_get_num(int *num_cvar);

/* What a control variable is. */
int xmpi_t_cvar_get_info(int cvar_index, char *name, int *name_len, int *verbosity,
                         MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc,
                         int *desc_len, int *bind, int *scope);

/* The index of a control variable. */
int xmpi_t_cvar_get_index(const char *name, int *cvar_index);

/* A handle for a control variable. */
int xmpi_t_cvar_handle_alloc(int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle,
                             int *count);

/* Give a handle back. */
int xmpi_t_cvar_handle_free(MPI_T_cvar_handle *handle);

/* Read a control variable. */
int xmpi_t_cvar_read(MPI_T_cvar_handle handle, void *buf);

/* Set a control variable. */
int xmpi_t_cvar_write(MPI_T_cvar_handle handle, const void *buf);

/* ---- performance variables ---- */

/* How many performance variables there are. */
int xmpi_t_pvar_get_num(int *num_pvar);

/* What a performance variable is. */
int xmpi_t_pvar_get_info(int pvar_index, char *name, int *name_len, int *verbosity,
                         int *var_class, MPI_Datatype *datatype, MPI_T_enum *enumtype,
                         char *desc, int *desc_len, int *bind, int *readonly, int *continuous,
                         int *atomic);

/* The index of a performance variable. */
int xmpi_t_pvar_get_index(const char *name, int var_class, int *pvar_index);

/* A session in which performance variables are used. */
int xmpi_t_pvar_session_create(MPI_T_pvar_session *session);

/* Close a session. */
int xmpi_t_pvar_session_free(MPI_T_pvar_session *session);

/* A handle for a performance variable. */
int xmpi_t_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void *obj_handle,
                             MPI_T_pvar_handle *handle, int *count);

/* Give a handle back. */
int xmpi_t_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle);

/* Start a performance variable. */
int xmpi_t_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle);

/* Stop a performance variable. */
int xmpi_t_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle);

/* Read a performance variable. */
int xmpi_t_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf);

/* Set a performance variable. */
int xmpi_t_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf);

/* Set a performance variable to its first value. */
int xmpi_t_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle);

/* Read a performance variable and set it to its first value. */
int xmpi_t_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf);

/* ---- events ---- */

/* How many sources of events there are. */
int xmpi_t_source_get_num(int *num_sources);

/* What a source of events is. */
int xmpi_t_source_get_info(int source_index, char *name, int *name_len, char *desc,
                           int *desc_len, MPI_T_source_order *ordering,
                           MPI_Count *ticks_per_second, MPI_Count *max_ticks, MPI_Info *info);

/* The clock of a source. */
int xmpi_t_source_get_timestamp(int source_index, MPI_Count *timestamp);

/* How many kinds of events there are. */
int xmpi_t_event_get_num(int *num_events);

/* What a kind of event is. */
int xmpi_t_event_get_info(int event_index, char *name, int *name_len, int *verbosity,
                          MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[],
                          int *num_elements, MPI_T_enum *enumtype, MPI_Info *info, char *desc,
                          int *desc_len, int *bind);

/* The index of a kind of event. */
int xmpi_t_event_get_index(const char *name, int *event_index);

/* Register for a kind of event. */
int xmpi_t_event_handle_alloc(int event_index, void *obj_handle, MPI_Info info,
                              MPI_T_event_registration *event_registration);

/* Set hints of a registration. */
int xmpi_t_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info);

/* The hints of a registration. */
int xmpi_t_event_handle_get_info(MPI_T_event_registration event_registration,
                                 MPI_Info *info_used);

/* Have a function called for each event. */
int xmpi_t_event_register_callback(MPI_T_event_registration event_registration,
                                   MPI_T_cb_safety cb_safety, MPI_Info info, void *user_data,
                                   MPI_T_event_cb_function event_cb_function);

/* Set hints of such a function. */
int xmpi_t_event_callback_set_info(MPI_T_event_registration event_registration,
                                   MPI_T_cb_safety cb_safety, MPI_Info info);

/* The hints of such a function. */
int xmpi_t_event_callback_get_info(MPI_T_event_registration event_registration,
                                   MPI_T_cb_safety cb_safety, MPI_Info *info_used);

/* End a registration. */
int xmpi_t_event_handle_free(MPI_T_event_registration event_registration, void *user_data,
                             MPI_T_event_free_cb_function free_cb_function);

/* Have a function called when events were lost. */
int xmpi_t_event_set_dropped_handler(MPI_T_event_registration event_registration,
                                     MPI_T_event_dropped_cb_function dropped_cb_function);

/* One element of an event. */
int xmpi_t_event_read(MPI_T_event_instance event_instance, int element_index, void *buffer);

/* All of an event. */
int xmpi_t_event_copy(MPI_T_event_instance event_instance, void *buffer);

/* When an event happened. */
int xmpi_t_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count *event_timestamp);

/* Where an event came from. */
int xmpi_t_event_get_source(MPI_T_event_instance event_instance, int *source_index);

/* ---- categories ---- */

/* How many categories there are. */
int xmpi_t_category_get_num(int *num_cat);

/* What a category is. */
int xmpi_t_category_get_info(int cat_index, char *name, int *name_len, char *desc,
                             int *desc_len, int *num_cvars, int *num_pvars,
                             int *num_categories);

/* How many kinds of events a category has. */
int xmpi_t_category_get_num_events(int cat_index, int *num_events);

/* The index of a category. */
int xmpi_t_category_get_index(const char *name, int *cat_index);

/* The control variables of a category. */
int xmpi_t_category_get_cvars(int cat_index, int len, int indices[]);

/* The performance variables of a category. */
int xmpi_t_category_get_pvars(int cat_index, int len, int indices[]);

/* The kinds of events of a category. */
int xmpi_t_category_get_events(int cat_index, int len, int indices[]);

/* The categories of a category. */
int xmpi_t_category_get_categories(int cat_index, int len, int indices[]);

/* A number that grows when categories change. */
int xmpi_t_category_changed(int *update_number);

#endif

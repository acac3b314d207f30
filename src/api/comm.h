/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups, communicators, attributes and names (MPI 5.0, chapter 7).
 */
#ifndef XMPI_API_COMM_H
#define XMPI_API_COMM_H

#include "src/api/kinds.h"

/* ---- groups ---- */

/* How many processes a group has. */
int xmpi_group_size(group_t group, int_out_t *size);

/* My rank in a group, MPI_UNDEFINED if I am no member. */
int xmpi_group_rank(group_t group, int_out_t *rank);

/* The ranks that processes of one group have in another. */
int xmpi_group_translate_ranks(group_t group1, length_t n, ints_t ranks1, group_t group2,
                               ints_out_t ranks2);

/* Are two groups the same: MPI_IDENT, MPI_SIMILAR (other order) or MPI_UNEQUAL. */
int xmpi_group_compare(group_t group1, group_t group2, int_out_t *result);

/* The group of a communicator. */
int xmpi_comm_group(comm_t comm, group_out_t *group);

/* All of the first group, then those of the second that are missing. */
int xmpi_group_union(group_t group1, group_t group2, group_out_t *newgroup);

/* Those of the first group that are also in the second. */
int xmpi_group_intersection(group_t group1, group_t group2, group_out_t *newgroup);

/* Those of the first group that are not in the second. */
int xmpi_group_difference(group_t group1, group_t group2, group_out_t *newgroup);

/* The processes with these ranks, in this order. */
int xmpi_group_incl(group_t group, length_t n, ints_t ranks, group_out_t *newgroup);

/* All but the processes with these ranks. */
int xmpi_group_excl(group_t group, length_t n, ints_t ranks, group_out_t *newgroup);

/* The processes with ranks in these ranges of (first, last, stride). */
int xmpi_group_range_incl(group_t group, length_t n, ranges_t ranges, group_out_t *newgroup);

/* All but the processes with ranks in these ranges of (first, last, stride). */
int xmpi_group_range_excl(group_t group, length_t n, ranges_t ranges, group_out_t *newgroup);

/* The group of a named set of processes. */
int xmpi_group_from_session_pset(session_t session, string_t pset_name, group_out_t *newgroup);

/* Give a group back. */
int xmpi_group_free(group_free_t *group);

/* ---- communicators ---- */

/* How many processes the (local) group has. */
int xmpi_comm_size(comm_t comm, int_out_t *size);

/* My rank in the (local) group. */
int xmpi_comm_rank(comm_t comm, int_out_t *rank);

/* Are two communicators the same: MPI_IDENT, MPI_CONGRUENT, MPI_SIMILAR or MPI_UNEQUAL. */
int xmpi_comm_compare(comm_t comm1, comm_t comm2, int_out_t *result);

/* A communicator of the same group, with the attributes that want to be copied. */
int xmpi_comm_dup(comm_t comm, comm_out_t *newcomm);

/* The same, with other hints. */
int xmpi_comm_dup_with_info(comm_t comm, info_t info, comm_out_t *newcomm);

/* Start to duplicate a communicator. */
int xmpi_comm_idup(comm_t comm, comm_out_t *newcomm, request_out_t *request);

/* Start to duplicate a communicator with other hints. */
int xmpi_comm_idup_with_info(comm_t comm, info_t info, comm_out_t *newcomm,
                             request_out_t *request);

/* A communicator of a subgroup; called by all processes of the communicator. */
int xmpi_comm_create(comm_t comm, group_t group, comm_out_t *newcomm);

/* A communicator of a subgroup; called by the members only. */
int xmpi_comm_create_group(intra_t comm, group_t group, tag_t tag, comm_out_t *newcomm);

/* A communicator of a group, without a communicator to begin with. */
int xmpi_comm_create_from_group(group_t group, string_t stringtag, info_t info,
                                errhandler_t errhandler, comm_out_t *newcomm);

/* Partition a communicator by colour; ranks follow key, then old rank. */
int xmpi_comm_split(comm_t comm, int color, int key, comm_out_t *newcomm);

/* Partition a communicator by what its processes share; ranks follow key, then old rank. */
int xmpi_comm_split_type(comm_t comm, int split_type, int key, info_t info,
                         comm_out_t *newcomm);

/* Give a communicator back; what is in flight completes. */
int xmpi_comm_free(comm_free_t *comm);

/* Set hints. */
int xmpi_comm_set_info(comm_t comm, info_t info);

/* The hints in use. */
int xmpi_comm_get_info(comm_t comm, info_out_t *info_used);

/* ---- intercommunicators ---- */

/* Is it an intercommunicator? */
int xmpi_comm_test_inter(comm_t comm, flag_t *flag);

/* How many processes the remote group has. */
int xmpi_comm_remote_size(inter_t comm, int_out_t *size);

/* The remote group. */
int xmpi_comm_remote_group(inter_t comm, group_out_t *group);

/* Join two communicators whose leaders can talk to each other. */
int xmpi_intercomm_create(intra_t local_comm, rank_t local_leader, MPI_Comm peer_comm,
                          int remote_leader, int tag, comm_out_t *newintercomm);

/* Join two groups without a communicator to begin with. */
int xmpi_intercomm_create_from_groups(group_t local_group, int local_leader,
                                      group_t remote_group, int remote_leader,
                                      string_t stringtag, info_t info, errhandler_t errhandler,
                                      comm_out_t *newintercomm);

/* One communicator of both groups; the one with `high` set comes second. */
int xmpi_intercomm_merge(inter_t intercomm, int high, comm_out_t *newintracomm);

/* ---- attributes ---- */

/* A key under which values can be attached to communicators. */
int xmpi_comm_create_keyval(MPI_Comm_copy_attr_function *comm_copy_attr_fn,
                            MPI_Comm_delete_attr_function *comm_delete_attr_fn,
                            int_out_t *comm_keyval, void *extra_state);

/* Give a key back; attached values stay. */
int xmpi_comm_free_keyval(int_out_t *comm_keyval);

/* Attach a value to a communicator. */
int xmpi_comm_set_attr(comm_t comm, int comm_keyval, void *attribute_val);

/* The value attached to a communicator. */
int xmpi_comm_get_attr(comm_t comm, int comm_keyval, pointer_out_t attribute_val, flag_t *flag);

/* Detach a value from a communicator. */
int xmpi_comm_delete_attr(comm_t comm, int comm_keyval);

/* A key under which values can be attached to datatypes. */
int xmpi_type_create_keyval(MPI_Type_copy_attr_function *type_copy_attr_fn,
                            MPI_Type_delete_attr_function *type_delete_attr_fn,
                            int_out_t *type_keyval, void *extra_state);

/* Give a key back; attached values stay. */
int xmpi_type_free_keyval(int_out_t *type_keyval);

/* Attach a value to a datatype. */
int xmpi_type_set_attr(type_t datatype, int type_keyval, void *attribute_val);

/* The value attached to a datatype. */
int xmpi_type_get_attr(type_t datatype, int type_keyval, pointer_out_t attribute_val,
                       flag_t *flag);

/* Detach a value from a datatype. */
int xmpi_type_delete_attr(type_t datatype, int type_keyval);

/* A key under which values can be attached to windows. */
int xmpi_win_create_keyval(MPI_Win_copy_attr_function *win_copy_attr_fn,
                           MPI_Win_delete_attr_function *win_delete_attr_fn,
                           int_out_t *win_keyval, void *extra_state);

/* Give a key back; attached values stay. */
int xmpi_win_free_keyval(int_out_t *win_keyval);

/* Attach a value to a window. */
later int xmpi_win_set_attr(win_t win, int win_keyval, void *attribute_val);

/* The value attached to a window. */
later int xmpi_win_get_attr(win_t win, int win_keyval, pointer_out_t attribute_val,
                            flag_t *flag);

/* Detach a value from a window. */
later int xmpi_win_delete_attr(win_t win, int win_keyval);

/* ---- names ---- */

/* Name a communicator. */
int xmpi_comm_set_name(comm_t comm, string_t comm_name);

/* The name of a communicator; MPI_COMM_NULL has one. */
int xmpi_comm_get_name(comm_or_null_t comm, text_out_t comm_name, int_out_t *resultlen);

/* Name a datatype. */
int xmpi_type_set_name(type_t datatype, string_t type_name);

/* The name of a datatype; MPI_DATATYPE_NULL has one. */
int xmpi_type_get_name(type_or_null_t datatype, text_out_t type_name, int_out_t *resultlen);

/* Name a window. */
later int xmpi_win_set_name(win_t win, string_t win_name);

/* The name of a window. */
int xmpi_win_get_name(win_or_null_t win, text_out_t win_name, int_out_t *resultlen);

#endif

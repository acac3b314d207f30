/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Starting, ending, sessions and process creation (MPI 5.0, chapter 11).
 */
#ifndef XMPI_API_PROCESS_H
#define XMPI_API_PROCESS_H

#include "src/api/kinds.h"

/* ---- the world model ---- */

/* Start MPI for a single thread. */
anytime int xmpi_init(int *argc, char ***argv);

/* Start MPI for as many threads as wanted; `provided` tells what is possible. */
anytime int xmpi_init_thread(int *argc, char ***argv, int required, int_out_t *provided);

/* End MPI: complete all communication. */
int xmpi_finalize(void);

/* Has MPI_Init been called? */
anytime int xmpi_initialized(flag_t *flag);

/* Has MPI_Finalize completed? */
anytime int xmpi_finalized(flag_t *flag);

/* The level of thread support. */
int xmpi_query_thread(int_out_t *provided);

/* Is this the thread that called MPI_Init? */
int xmpi_is_thread_main(flag_t *flag);

/* End all processes of the job with this exit code. */
int xmpi_abort(comm_t comm, int errorcode);

/* ---- sessions ---- */

/* Open a session. */
anytime int xmpi_session_init(info_t info, errhandler_t errhandler, session_out_t *session);

/* Close a session. */
int xmpi_session_finalize(session_free_t *session);

/* How many named sets of processes the calling one belongs to: mpi://WORLD, mpi://SELF and those
 * of the launcher (xmpirun --pset, xmpi://app/1, xmpi://host/NAME, ..). */
int xmpi_session_get_num_psets(session_t session, info_t info, int_out_t *npset_names);

/* The name of the n-th of these sets.  On return pset_len is the length needed, with the terminating
 * zero. */
int xmpi_session_get_nth_pset(session_t session, info_t info, int n, int_out_t *pset_len,
                              char *pset_name);

/* Hints about a session. */
int xmpi_session_get_info(session_t session, info_out_t *info_used);

/* What is known about a set: mpi_size, the number of its members. */
int xmpi_session_get_pset_info(session_t session, string_t pset_name, info_out_t *info);

/* ---- starting processes and meeting others ---- */

/* Start processes of one program. */
later int xmpi_comm_spawn(string_t command, char *argv[], int maxprocs, info_t info,
                          root_t root, intra_t comm, comm_out_t *intercomm,
                          int array_of_errcodes[]);

/* Start processes of several programs. */
later int xmpi_comm_spawn_multiple(int count, char *array_of_commands[], char **array_of_argv[],
                                   const int array_of_maxprocs[],
                                   const MPI_Info array_of_info[], root_t root, intra_t comm,
                                   comm_out_t *intercomm, int array_of_errcodes[]);

/* The intercommunicator to those that started this process, MPI_COMM_NULL if none did. */
int xmpi_comm_get_parent(comm_out_t *parent);

/* Open an address at which others can connect. */
later int xmpi_open_port(info_t info, text_out_t port_name);

/* Close an address. */
later int xmpi_close_port(string_t port_name);

/* Wait for others to connect. */
later int xmpi_comm_accept(string_t port_name, info_t info, root_t root, intra_t comm,
                           comm_out_t *newcomm);

/* Connect to others that accept. */
later int xmpi_comm_connect(string_t port_name, info_t info, root_t root, intra_t comm,
                            comm_out_t *newcomm);

/* Publish an address under a name. */
later int xmpi_publish_name(string_t service_name, info_t info, string_t port_name);

/* Withdraw a name. */
later int xmpi_unpublish_name(string_t service_name, info_t info, string_t port_name);

/* The address published under a name. */
later int xmpi_lookup_name(string_t service_name, info_t info, text_out_t port_name);

/* Wait for all communication on a communicator and give it back. */
int xmpi_comm_disconnect(comm_free_t *comm);

/* Make an intercommunicator of two processes that share a socket. */
later int xmpi_comm_join(int fd, comm_out_t *intercomm);

#endif

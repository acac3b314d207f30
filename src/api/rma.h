/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One-sided communication (MPI 5.0, chapter 12).
 */
#ifndef XMPI_API_RMA_H
#define XMPI_API_RMA_H

#include "src/api/kinds.h"

/* ---- windows ---- */

/* Open memory of the program to others. */
later int xmpi_win_create(void *base, size_arg_t size, unit_t disp_unit, info_t info,
                          intra_t comm, win_out_t *win);

/* Allocate memory and open it to others. */
later int xmpi_win_allocate(size_arg_t size, unit_t disp_unit, info_t info, intra_t comm,
                            pointer_out_t baseptr, win_out_t *win);

/* Allocate memory that all processes of the communicator can load from and store to. */
later int xmpi_win_allocate_shared(size_arg_t size, unit_t disp_unit, info_t info, intra_t comm,
                                   pointer_out_t baseptr, win_out_t *win);

/* Where another process's part of a shared window lies. */
later int xmpi_win_shared_query(win_t win, int rank, aint_out_t *size, unit_out_t *disp_unit,
                                pointer_out_t baseptr);

/* A window to which memory is attached later. */
later int xmpi_win_create_dynamic(info_t info, intra_t comm, win_out_t *win);

/* Attach memory to a dynamic window. */
later int xmpi_win_attach(win_t win, void *base, size_arg_t size);

/* Detach memory from a dynamic window. */
later int xmpi_win_detach(win_t win, const void *base);

/* Close a window. */
later int xmpi_win_free(win_free_t *win);

/* The group of a window. */
later int xmpi_win_get_group(win_t win, group_out_t *group);

/* Set hints. */
later int xmpi_win_set_info(win_t win, info_t info);

/* The hints in use. */
later int xmpi_win_get_info(win_t win, info_out_t *info_used);

/* ---- access ---- */

/* Write to the memory of another process. */
later int xmpi_put(in_t origin_addr, count_t origin_count, type_t origin_datatype,
                   target_rank_t target_rank, MPI_Aint target_disp, count_t target_count,
                   type_t target_datatype, win_t win);

/* Read from the memory of another process. */
later int xmpi_get(out_t origin_addr, count_t origin_count, type_t origin_datatype,
                   target_rank_t target_rank, MPI_Aint target_disp, count_t target_count,
                   type_t target_datatype, win_t win);

/* Combine data into the memory of another process. */
later int xmpi_accumulate(in_t origin_addr, count_t origin_count, type_t origin_datatype,
                          target_rank_t target_rank, MPI_Aint target_disp, count_t target_count,
                          type_t target_datatype, op_t op, win_t win);

/* Read from the memory of another process and combine data into it. */
later int xmpi_get_accumulate(in_t origin_addr, count_t origin_count, type_t origin_datatype,
                              out_t result_addr, count_t result_count, type_t result_datatype,
                              target_rank_t target_rank, MPI_Aint target_disp,
                              count_t target_count, type_t target_datatype, op_t op, win_t win);

/* Write to the memory of another process under a request. */
later int xmpi_rput(in_t origin_addr, count_t origin_count, type_t origin_datatype,
                    target_rank_t target_rank, MPI_Aint target_disp, count_t target_count,
                    type_t target_datatype, win_t win, request_out_t *request);

/* Read from the memory of another process under a request. */
later int xmpi_rget(out_t origin_addr, count_t origin_count, type_t origin_datatype,
                    target_rank_t target_rank, MPI_Aint target_disp, count_t target_count,
                    type_t target_datatype, win_t win, request_out_t *request);

/* Combine data into the memory of another process under a request. */
later int xmpi_raccumulate(in_t origin_addr, count_t origin_count, type_t origin_datatype,
                           target_rank_t target_rank, MPI_Aint target_disp,
                           count_t target_count, type_t target_datatype, op_t op, win_t win,
                           request_out_t *request);

/* Read from the memory of another process and combine data into it under a request. */
later int xmpi_rget_accumulate(in_t origin_addr, count_t origin_count, type_t origin_datatype,
                               out_t result_addr, count_t result_count, type_t result_datatype,
                               target_rank_t target_rank, MPI_Aint target_disp,
                               count_t target_count, type_t target_datatype, op_t op, win_t win,
                               request_out_t *request);

/* Read one element and combine another into it, atomically. */
later int xmpi_fetch_and_op(const void *origin_addr, void *result_addr, type_t datatype,
                            target_rank_t target_rank, MPI_Aint target_disp, op_t op,
                            win_t win);

/* Replace one element if it equals another, atomically. */
later int xmpi_compare_and_swap(const void *origin_addr, const void *compare_addr,
                                void *result_addr, type_t datatype, target_rank_t target_rank,
                                MPI_Aint target_disp, win_t win);

/* ---- synchronisation ---- */

/* Separate two epochs in which all processes access each other. */
later int xmpi_win_fence(int assert, win_t win);

/* Begin to access the processes of a group. */
later int xmpi_win_start(group_t group, int assert, win_t win);

/* End what MPI_Win_start began. */
later int xmpi_win_complete(win_t win);

/* Let the processes of a group access my memory. */
later int xmpi_win_post(group_t group, int assert, win_t win);

/* Wait until they have all finished. */
later int xmpi_win_wait(win_t win);

/* Have they all finished? */
later int xmpi_win_test(win_t win, flag_t *flag);

/* Begin to access one process. */
later int xmpi_win_lock(int lock_type, target_rank_t rank, int assert, win_t win);

/* Begin to access all processes. */
later int xmpi_win_lock_all(int assert, win_t win);

/* End what MPI_Win_lock began. */
later int xmpi_win_unlock(target_rank_t rank, win_t win);

/* End what MPI_Win_lock_all began. */
later int xmpi_win_unlock_all(win_t win);

/* Wait until all accesses to a process are complete there. */
later int xmpi_win_flush(target_rank_t rank, win_t win);

/* Wait until all accesses are complete at their targets. */
later int xmpi_win_flush_all(win_t win);

/* Wait until the buffers of all accesses to a process may be reused. */
later int xmpi_win_flush_local(target_rank_t rank, win_t win);

/* Wait until the buffers of all accesses may be reused. */
later int xmpi_win_flush_local_all(win_t win);

/* Make private and public copy of a window agree. */
later int xmpi_win_sync(win_t win);

#endif

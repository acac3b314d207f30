/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Post: what one launcher of a job has to say to another one, or to all others, while the job runs.
 * Launchers know their neighbours in the tree only; those pass it on (remote.c):
 *
 *     post_send(job, to, kind, text)  ->  FRAME_POST: to, from, kind, text  ->  handler of the kind
 *
 * Nothing is kept for who has gone, or has no handler: whoever expects an answer hears of lost
 * hosts by the deaths of their ranks.  Where a host has ended well, its neighbour answers in its
 * stead, if the kind has a handler for that.  Between two launchers nothing overtakes.
 */
#ifndef XMPI_LAUNCHER_POST_H
#define XMPI_LAUNCHER_POST_H

#include "launcher/pack.h"

#include <stdbool.h>

struct job;

enum post_kind {
    POST_STATUS, /* see inquiry.c */
    POST_STATUS_TEXT,
    POST_LOOK, /* see survey.c */
    POST_SEEN,
    POST_PARTED,
    POST_TRACE_PING, /* see trace_far.c */
    POST_TRACE_PONG,
    POST_TRACE_CLOCK,
    POST_TRACE_NAMES,
    POST_TRACE_WINDOW,
    POST_TRACE_MORE,
    POST_ALONE, /* nobody is at the root any more: no text */
    POST_MEET,  /* see pmix_meet.c */
    POST_MET,
    POST_MAIL,           /* see mail.c */
    POST_PMIX_EVENT,     /* see pmix_far.c */
    POST_PMIX_PROCESSES, /* see pmix_tools.c */
    POST_ASK,            /* see ask.c */
    POST_STARTED,        /* see spawned_link.c */
    POST_JOB_ENDED,      /* see pmix_far_ends.c */
    POST_RANK_LOST,
    POST_RANK_OVER,
    POST_KINDS
};

/* Launchers: the other hosts by their numbers, from 0, and */
enum { POST_ALL = -2, POST_ROOT = -1 /* xmpirun */, POST_MOST = 1 << 20 };

/* `text` is bad when it makes no sense. */
typedef void post_handler(struct job *job, int from, struct unpack *text);

void post_handle(enum post_kind kind, post_handler *handler);

/* What the last launcher on the way does with what comes for a host that has ended. */
void post_handle_late(enum post_kind kind, post_handler *handler);

/* False after a complaint: launchers take no text with so much in it. */
bool post_fits(size_t bytes);

/* To oneself: handled at once.  POST_ALL: to all others.  What does not fit is lost, after a complaint. */
void post_send(struct job *job, int to, enum post_kind kind, const struct pack *text);

/* To oneself, also where the job is on one host. */
void post_own(struct job *job, enum post_kind kind, const struct pack *text);

/* A frame for this launcher has come; it begins with `from`. */
void post_take(struct job *job, struct unpack *frame);

/* A frame is for a host that has ended. */
void post_late(struct job *job, const struct pack *frame);

/* The launcher of a node; it has ranks. */
int post_of_node(const struct job *job, int node);

#endif

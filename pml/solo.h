/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages of a thread that has one engine alone (runtime/lock.h).  Each function that returns a bool
 * says whether it has done what it is for; when it has not, nothing has happened, and the same is
 * done by who has all engines (pml.h).
 */
#ifndef XMPI_SOLO_H
#define XMPI_SOLO_H

#include "pml/pml.h"

bool solo_send(struct channel *channel, const struct buffer *data, const struct envelope *to);
bool solo_isend(struct channel *channel, const struct buffer *data, const struct envelope *to,
                struct request **request);
bool solo_irecv(struct channel *channel, const struct buffer *data, const struct envelope *from,
                struct request **request);

/* The message is received, or the thread has all engines now and the receive has failed: *error, as
 * pml_recv returns it. */
bool solo_recv(struct channel *channel, const struct buffer *data, const struct envelope *from,
               struct result *result, int *error);

/* May one who has its engine alone wait for this request?  End it, when it is done? */
bool solo_waits(const struct request *request);
bool solo_ends(const struct request *request);

/* Wait for it; one round of progress for it.  Afterwards the thread may have all engines. */
void solo_await(struct request *request);
void solo_progress(void);

/* tell.c: may messages that begin be told of by one who has an engine alone?  Tell of one. */
bool solo_is_told(void);
void solo_record(const struct channel *channel, int peer, int tag, size_t bytes);

#endif

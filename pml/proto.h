/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The conversation between two pmls, below send and receive.
 */
#ifndef XMPI_PROTO_H
#define XMPI_PROTO_H

#include "pml/peer.h"

/* Send a packet without payload, or with a grant (which may be NULL), now or as soon as there is
 * room. */
void control_send(struct peer *peer, const struct wire *header, const struct wire_grant *grant);

/* If that packet still waits for room it does not go at all. */
void control_recall(struct peer *peer, uint8_t kind, uint32_t request);

/* Something waits in one of the peer's lists: progress will come back to it. */
void peer_has_work(struct peer *peer);

/* Give waiting packets to the links; the number handed over. */
int peers_flush(void);
bool peers_have_work(void); /* are there any? */

/* Answers to a peer that nobody will send. */
void peer_forget_notes(struct peer *peer);

/* doom.c: this process is lost: end every send to it and receive from it, and what needs it for
 * another reason: receives from any source on its channels, messages of groups it belongs to.
 * `peer` NULL: we never talked to it. */
void doom_process(int world, struct peer *peer);

/* broken.c: a message that no receive waits for.  True: it is a word for pml_judge, or of a channel that
 * is given up, and nobody will take it.  `channel` NULL: it is not open. */
bool message_is_dropped(struct channel *channel, struct peer *peer, const struct wire *header,
                        const char *payload);
void broken_close(void);

/* Is anything still waiting for room, or for an answer, at a peer that can still take it?
 * Forgets what waits for peers that are gone. */
bool peers_waiting(void);

/* Complete all that waits, whether or not anybody gets it. */
void peers_forget(void);

/* cancel.c: the sender no longer wants a message to be received; nobody waits for such answers any more. */
void cancel_arrived(struct peer *peer, const struct wire *question);
void cancels_close(void);

/* Something of ours is still to go to this peer, or to be answered by it. */
bool peer_owes(const struct peer *peer);

/* A record_teller: whom we owe something. */
void flush_tell(const void *what, struct record_wait *wait);

/* orphan.c, for pml_flush.  What is here for orphans, or comes from ourselves, is theirs. */
void orphans_meet(void);
/* Wait for them, but not for long after a loss (failures_hurry), and end those that are in vain.  `network`:
 * the job has other nodes. */
void orphans_await(bool network, uint64_t *since);
/* Let others know that we send nothing more, as soon as that is so: begin, say now and then; leave, when all
 * is sent and nobody polls after that; end. */
void silence_begin(void);
void silence_say(bool network);
void silence_leave(bool network);
void silence_end(bool network);
/* The world model is over, and we do not leave: say so as soon as all is under way that was sent. */
void silence_of_world(bool network);

/* channel.c: the one that was found last, NULL: none. */
extern struct channel *channel_found __attribute__((visibility("hidden")));

/* As channel_find, for one who has an engine alone. */
struct channel *channel_look(uint64_t context);

/* solo.c, for who has all engines.  What was left for us: the number of events; nothing while there is one
 * engine. */
extern bool solo_is_on __attribute__((visibility("hidden")));
int solo_finish(void);
void solo_open(void);
void solo_close(void);
void solo_forget(const struct channel *channel); /* it closes */

/* engine.c: is there something to do in every round of progress? */
bool pml_has_work(void);

/* tell.c: what has happened in this engine is for others to see. */
void solo_tell(int engine);

/* send.c: how long a message may be that goes without asking. */
size_t send_eager(void);

/* arrived.c: somebody wants to hear of messages that are unexpected. */
bool arrived_is_told(void);

/* Messages for contexts that have no channel yet are kept for channel_open. */
void channel_keep_early(struct arrived *arrived);
/* Take the early message of this peer that the question is about; NULL: there is none. */
struct arrived *channel_take_early(const struct peer *peer, const struct wire *question);
void channels_close(void);

#endif

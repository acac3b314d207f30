/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages between processes: channels, requests, send, receive, probe.  What src and coll may
 * call, and all they may call.  Matching is our own and the same for every link, so wildcards,
 * probes, cancel, truncation and order are decided in one place.
 *
 * A channel is a context: messages sent on one are received on the same one only.  A message is
 * matched by (context, source, tag, step); order between two processes on one channel is kept
 * for equal (source, tag, step).
 */
#ifndef XMPI_PML_H
#define XMPI_PML_H

#include "runtime/layout.h"
#include "runtime/object.h"
#include "runtime/progress.h"
#include "runtime/ranks.h"

struct envelope;
struct match; /* pml/match.h */
struct peer;  /* pml/peer.h */

struct peer_known { /* it was sent to of late */
    int rank;       /* on the channel, plus 1; 0: nobody was */
    struct peer *peer;
};
enum { PEERS_KNOWN = 16 };

struct channel {
    uint64_t context;          /* unique in the job while the channel lives */
    int rank;                  /* mine, as peers see it in their `source` */
    int size;                  /* peers I can name: 0 .. size - 1 */
    int engine;                /* whose messages these are (docs/threads.md), */
    struct request_pool *pool; /* and that has requests for them (pml/request.h) */
    struct ranks *peers;       /* peer -> world rank; one reference is the channel's */
    struct match *match;       /* posted receives and unexpected messages */
    uint32_t unexpected;       /* messages ever that were here before their receive */
    bool broken;               /* it is given up (pml/broken.c) */
    bool session;              /* of a session, not of the world model */
    struct peer_known known[PEERS_KNOWN]; /* see pml/peer.h */
    struct channel *next;                 /* in the table of contexts */
};

/* A round of progress in which whatever is here is taken, also what nobody wants yet (pml/patience.c); the number
 * of events. */
int pml_take_all(void);

/* Its messages are steps of collectives, not messages of the program. */
static inline bool channel_is_collective(const struct channel *channel)
{
    return channel->context % 2 == 1;
}

/* So many engines for channels that are opened from now on, unless there are as many; one where there is
 * more than one node. */
void pml_engines(int wanted);
int pml_engine_of(uint64_t context);

/* `peers` is held, not copied.  Messages that arrived before the channel was opened wait for it. */
int channel_open(struct channel *channel, uint64_t context, int rank, struct ranks *peers);
/* Unexpected messages left over are dropped, posted receives complete as cancelled. */
void channel_close(struct channel *channel);

/* What so many messages at a time need, and talking to that rank where it is of this node: so that they allocate
 * nothing later, as persistent operations promise; as far as there is memory. */
void channel_reserve(struct channel *channel, int rank, size_t messages);

/* The channel with this context, NULL when it is not open. */
struct channel *channel_find(uint64_t context);

/* All that are open, one after the other: the first one after NULL, NULL after the last. */
struct channel *channel_next(const struct channel *channel);

/* What waits on a channel: receives for messages, messages for receives. */
size_t channel_posted(const struct channel *channel);
size_t channel_unexpected(const struct channel *channel);
/* The oldest of these messages; false: there is none. */
bool channel_oldest(const struct channel *channel, struct envelope *from);
size_t channel_unexpected_bytes(const struct channel *channel); /* of data, here or to come */

/* Give a channel up, on this side: receives fail with MPI_ERR_OTHER and this text from now on.  Then
 * channel_end, which completes requests, ends those that are posted (but those of PML_APART); messages that
 * nobody has matched are dropped, and senders who wait to be asked for theirs hear that nothing is wanted.  What is matched goes
 * on to its end.  Whoever uses the channel has to give it up as well, or would wait.  Without memory for
 * the text nothing happens. */
enum { BROKEN_CHARS = 480 };
void channel_break(struct channel *channel, const char *why);
void channel_end(struct channel *channel);
int channel_fail(const struct channel *channel); /* fail() with that text */

enum { PML_ANY_SOURCE = -1, PML_ANY_TAG = -2 }; /* values of MPI_ANY_SOURCE, MPI_ANY_TAG */

struct envelope {
    int peer;           /* destination or source on the channel */
    int tag;            /* any 32-bit value; wildcards only when receiving */
    uint32_t step;      /* 0 for point-to-point; numbers the messages of a plan */
    uint32_t signature; /* travels with the message: what the sender thinks this is; 0 = none.
                           In a receive: what is expected.  A message that says something else is
                           received with an error (MPI_ERR_OTHER), and so is one that is shorter than
                           its place; 0 on either side says nothing */
    const struct ranks
        *group; /* NULL, or who takes part in what this message belongs to: when one
                                  of them is lost the message is given up (pml/failure.h) */
};

struct result { /* how an operation ended; the internal form of MPI_Status */
    int source, tag;
    int error; /* MPI error class, 0 = fine */
    bool cancelled : 1;
    unsigned lost : 31; /* MPIX_ERR_PROC_FAILED: whose loss, world rank + 1; 0 = nobody's */
    size_t bytes;       /* received (after truncation) or sent */
};

/* ---- requests: one form for everything a program can wait for ---- */

struct request;
struct request_ops {                        /* each member may be NULL only where it says so */
    const char *name;                       /* "send", "receive", "allreduce", ... */
    int (*start)(struct request *request);  /* persistent only: begin again; may not block */
    int (*cancel)(struct request *request); /* NULL: cannot be cancelled */
    void (*release)(struct request *request); /* give the memory back; request is complete or
                                                 inactive */
    int (*query)(struct request *request);    /* generalized requests: fill request->result */
    void (*tell)(const struct request *request,
                 struct record_wait *wait); /* NULL: it cannot say what it waits for */
    void (*spin)(struct request *request);  /* NULL, or look for a moment whether it is over */
    bool in_engine; /* what it waits for, and its release, touch nothing but its engine */
};

enum { ORPHAN = 1, ORPHAN_AWAITED = 2 /* by pml_flush, too */ };

struct request {
    struct object object; /* OBJECT_REQUEST */
    int done; /* 1: complete (or inactive); result is valid.  Like all of it, read and written
                 under the engine lock where there are threads */
    bool persistent, active;
    uint8_t orphan;  /* freed by the user while in flight: release when done */
    bool collective; /* for src: neither cancelled nor freed before it is over */
    uint8_t engine;  /* of its channel, if ops->in_engine */
    const struct request_ops *ops;
    void (*on_done)(struct request *request); /* NULL, or called once when done is set, from
                                                 inside progress: may start sends and receives,
                                                 may not wait */
    void *owner;                              /* for on_done */
    struct result result;

    void *comm; /* for src: whose error handler is asked; pml and coll do not look */
};

/* Set done, call on_done, release orphans.  on_done may release the request, so nobody touches it
 * afterwards.  Threads that wait for it are woken.  For the rooms that complete requests. */
void request_complete(struct request *request);

/* Nobody will wait for this one, which is under way.  Receives of that kind are for pml_flush;
 * `session`: on a communicator of a session, not of the world model. */
void request_orphan(struct request *request, bool session);

/* A record_teller: what a request waits for. */
void request_tell(const void *request, struct record_wait *wait);

/* For progress_until_in. */
static inline int request_engine(const struct request *request)
{
    return request->ops->in_engine ? request->engine + 1 : 0;
}

/* Before a wait for it: look where it will come from, which is sooner than by all pollers. */
static inline void request_spin(struct request *request)
{
    if (request->ops->spin && !request->done)
        request->ops->spin(request);
}

/* Wait until it is complete, and leave it so. */
static inline void request_await(struct request *request)
{
    request_spin(request);
    if (!request->done)
        progress_until_in(request_engine(request), &request->done, request_tell, request);
}

/* Wait for it, copy the result, release it unless persistent (then it becomes inactive).  Returns
 * result.error. */
int request_wait(struct request *request, struct result *result);

/* ---- sending and receiving ---- */

enum send_mode { SEND_STANDARD, SEND_SYNCHRONOUS, SEND_READY };

int pml_open(void); /* after boot_open */
/* This process leaves MPI, and nobody may poll for a while: completes what is in flight from here, and
 * receives that are orphans, but for those whose messages nobody can send any more: these are cancelled. */
void pml_flush(void);
/* The world model ends, but not this use of MPI: others need not wait for its messages.  Waits for nothing. */
void pml_leave_world(void);
int pml_close(void); /* completes what is in flight from here; then the links go down */

/* Blocking.  The short path: no request object for messages that fit the link's ring.  pml_recv
 * returns result.error; `result` may be NULL.  A truncated message (MPI_ERR_TRUNCATE) leaves what
 * fits in the buffer and its length in result.bytes. */
int pml_send(struct channel *channel, const struct buffer *data, const struct envelope *to,
             enum send_mode mode);
int pml_recv(struct channel *channel, const struct buffer *data, const struct envelope *from,
             struct result *result);

/* Who would rather have the bytes of a message as they come than find them in a buffer.  pml_recv_into offers what
 * the link has, in order; what is declined, comes out of order or by another way lands in the buffer, as all that
 * comes afterwards, and so does a message with an error.  In the end the first `taken` bytes are not in the
 * buffer, all others are. */
struct sink {
    /* Called from inside progress: may not wait.  False: not these. */
    bool (*take)(struct sink *sink, const char *payload, size_t bytes);
    size_t taken; /* 0 at first */
};
/* Like pml_recv, for a buffer of one piece of the host. */
int pml_recv_into(struct channel *channel, const struct buffer *data,
                  const struct envelope *from, struct sink *sink);

/* The error of what a collective brings from a rank where more bytes belong; 0: the user lets such pass
 * (XMPI_SHORT_BLOCKS).  recv_misfit.c */
int pml_too_short(size_t bytes, int from, size_t room) __attribute__((cold));

/* Nonblocking.  The request may be done already when it is returned; on_done set after that is not
 * called any more, so look at `done` first.  The layout of `data` is held until release; the
 * struct buffer itself is copied. */
int pml_isend(struct channel *channel, const struct buffer *data, const struct envelope *to,
              enum send_mode mode, struct request **request);
int pml_irecv(struct channel *channel, const struct buffer *data, const struct envelope *from,
              struct request **request);

/* Like pml_isend, but *request is NULL where the message is with the link already. */
int pml_send_ahead(struct channel *channel, const struct buffer *data,
                   const struct envelope *to, enum send_mode mode, struct request **request);

/* The same in the most usual case, while nothing is traced, for one who has all engines: of `count` elements at `base`,
 * memory of the user's, on a channel of a communicator.  NULL, false: it is another case, and nothing has happened. */
bool pml_send_quick(struct channel *channel, const void *base, size_t count,
                    const struct layout *layout, int dest, int tag);
struct request *pml_isend_quick(struct channel *channel, const void *base, size_t count,
                                const struct layout *layout, int dest, int tag);
struct request *pml_irecv_quick(struct channel *channel, void *base, size_t count,
                                const struct layout *layout, int source, int tag);

/* Persistent: bound now, started by request->ops->start. */
int pml_send_init(struct channel *channel, const struct buffer *data, const struct envelope *to,
                  enum send_mode mode, struct request **request);
int pml_recv_init(struct channel *channel, const struct buffer *data,
                  const struct envelope *from, struct request **request);

/* Is there a matching message?  With `poll`, when there is none: one round of progress, and again. */
int pml_iprobe(struct channel *channel, const struct envelope *from, bool poll, bool *found,
               struct result *result);

/* What a wait for a message looks for, for probe_tell, a record_teller. */
struct probe {
    const struct channel *channel;
    int source, tag;
};
void probe_tell(const void *probe, struct record_wait *wait);

/* The same of many messages that count as one: all that come from a peer, or go there. */
struct parts {
    const struct channel *channel;
    bool come;
    int peer, tag;
    size_t bytes;
    int unready; /* the first that the program has to hand over before it can go; -1: none */
};
void parts_tell(const struct parts *parts, struct record_wait *wait);

/* Memory for the case that there is none: to talk to somebody, and to tell that there is none.  `drop`: it may be
 * used now; false: it has been. */
void pml_spare_fill(void);
bool pml_spare_drop(void);

struct message; /* a matched message: an OBJECT_MESSAGE, owned by who probed it */
int pml_improbe(struct channel *channel, const struct envelope *from, bool poll,
                struct message **message, struct result *result); /* *message NULL: none yet */
int pml_imrecv(struct message *message, const struct buffer *data, struct request **request);
void *pml_message_comm(const struct message *message); /* what pml_message_set_comm stored */
void pml_message_set_comm(struct message *message, void *comm);

/* Two messages' ends that do not belong together: what each side says it is. */
struct mismatch {
    uint64_t context;
    int me, peer; /* ranks on the channel */
    uint32_t my_signature, their_signature;
    uint32_t my_number, their_number; /* of the collective, as its messages are tagged */
    uint64_t my_bytes, their_bytes;   /* where signatures do not tell them; 0: not known */
};

/* Messages with these steps are words from judge to judge: short, and received by it.  They need no room
 * in the window of a peer.  Where the channel is not open they are dropped, or (PML_WORDS_LAST) wait for it. */
enum { PML_WORDS = 0xfffffff0u, PML_WORDS_LAST = 0xffffffffu };

/* With these steps, and what is numbered above, some members of a channel talk who need not know what the
 * others do: they go on when it is given up. */
enum { PML_APART = 0x7ffc0000 };

/* A collective is known by its number, the tag of its messages. */
enum { COLLECTIVE_LATEST = -1 };

/* Who knows what signatures mean.  Called inside progress. */
struct pml_judge {
    /* Says what is wrong, returns the error class; 0: nothing, though they are not the same word. */
    int (*fail)(const struct mismatch *mismatch);
    /* A word has come.  May not send, nor end anything: that is for `settle`. */
    void (*word)(struct channel *channel, const struct envelope *from, const void *payload,
                 size_t bytes);
    void (*naps)(void);  /* waits of this process sleep: once per nap */
    int (*settle)(void); /* once after pml_settle_soon; the number of events */
    /* A process of the channel has left MPI.  Will it never take part in the collective of that number (of the
     * latest, COLLECTIVE_LATEST), or is that not known? */
    bool (*misses)(const struct channel *channel, int world, int number);
};
extern const struct pml_judge *pml_judge; /* NULL: nobody */
void pml_settle_soon(void);

/* Counters for MPI_T and XMPI_LOG. */
struct pml_counters {
    uint64_t sent, received, bytes_sent, bytes_received, unexpected, unexpected_bytes;
    uint64_t bytes_read, bytes_written; /* from and to the memory of other processes */
    uint64_t bytes_mapped;      /* of these, or worked on there, where it is mapped here */
    uint64_t bytes_read_device; /* from their devices */
};
extern struct pml_counters pml_counters __attribute__((visibility("hidden")));

/* Bring together what each engine has counted by itself; before they are read. */
void pml_count(void);

#endif

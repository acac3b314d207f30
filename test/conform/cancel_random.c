/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sends that are cancelled, some before anybody receives, some too late: each is either delivered, all of
 * it, or cancelled, and then nobody finds it and a receive for it is there to be cancelled as well.
 *
 * Senders cancel at once, or after other messages, or at the end of a round, and then tell the receivers
 * how it ended.  Receives are posted before or after that.  Every message has a tag of its own.
 *
 *     cancel_random SEED ROUNDS MAXBYTES
 */
#include "random_data.h"

enum { SEEDS = 4, ROUNDS = 30, MAX_BYTES = 100000, MOST = 30 };
static int seed, rounds, max_bytes, me, n, round_now, count;
static MPI_Comm outcomes; /* where senders tell what came of it */

static struct message {
    int from, to, base;
    long units;
    bool asked; /* MPI_Cancel has been called */
    struct buffer out, in;
    MPI_Request sending, receiving;
} messages[MOST];

static void must(bool good, const struct message *m, const char *what)
{
    if (good)
        return;
    fprintf(stderr,
            "cancel_random %d %d %d, rank %d of %d, round %d: %s\n  message %d from %d to %d, "
            "%ld units of %d bytes\n",
            seed, rounds, max_bytes, me, n, round_now, what, (int)(m - messages), m->from,
            m->to, m->units, base_bytes[m->base]);
    check_failed(__FILE__, __LINE__, "the message above is delivered or cancelled");
}

static int tag_of(const struct message *m)
{
    return round_now * MOST + (int)(m - messages);
}

static uint64_t key(const struct message *m)
{
    return key_of((uint64_t)seed, (uint64_t)tag_of(m), 1, 2);
}

static void draw_message(struct message *m)
{
    int many = draw(&together, max_bytes), few = draw(&together, 100), how = draw(&together, 4);
    *m = (struct message){ .from = draw(&together, n),
                           .to = draw(&together, n),
                           .base = draw(&together, BASES) };
    m->units = (how == 0 ? 0 : how == 1 ? many : few) / base_bytes[m->base];
    m->sending = m->receiving = MPI_REQUEST_NULL;
}

static void open_buffer(const struct message *m, struct buffer *b)
{
    const struct layout *l = draw_layout(&alone, m->units);
    b->n = 1;
    b->blocks[0] = (struct block){ l, m->base, (int)(m->units / l->units), 0 };
    buffer_open(b);
    buffer_blank(b);
}

/* ---- sender ---- */

static void begin(struct message *m)
{
    static int (*const ways[])(const void *, int, MPI_Datatype, int, int,
                               MPI_Comm, MPI_Request *) = { MPI_Isend,      MPI_Issend,
                                                            MPI_Ibsend,     MPI_Send_init,
                                                            MPI_Ssend_init, MPI_Bsend_init };
    int how = draw(&alone, 6);
    const struct block *b = &m->out.blocks[0];
    open_buffer(m, &m->out);
    buffer_put(&m->out, 0, key(m), 0, m->units, true);
    must(!ways[how](m->out.start, b->elements, type_of(b), m->to, tag_of(m), MPI_COMM_WORLD,
                    &m->sending),
         m, "the send fails");
    must(how < 3 || !MPI_Start(&m->sending), m, "MPI_Start fails");
}

static void cancel(struct message *m)
{
    if (m->from != me || m->asked || m->sending == MPI_REQUEST_NULL)
        return;
    m->asked = true;
    must(!MPI_Cancel(&m->sending), m, "MPI_Cancel fails");
}

/* Was it? */
static int end_send(struct message *m)
{
    MPI_Status status;
    int cancelled = -1;
    char what[200];
    cancel(m);
    must(!MPI_Wait(&m->sending, &status), m, "the wait for the send fails");
    MPI_Test_cancelled(&status, &cancelled);
    if (m->sending != MPI_REQUEST_NULL)
        CHECK_OK(MPI_Request_free(&m->sending));
    if (!buffer_good(&m->out, what, sizeof what))
        must(false, m, what);
    buffer_close(&m->out);
    return cancelled;
}

/* ---- receiver ---- */

static void post(struct message *m)
{
    const struct block *b = &m->in.blocks[0];
    must(!MPI_Irecv(m->in.start, b->elements, type_of(b), m->from, tag_of(m), MPI_COMM_WORLD,
                    &m->receiving),
         m, "MPI_Irecv fails");
}

static void end_receive(struct message *m, int cancelled)
{
    MPI_Status status;
    int flag = 0;
    char what[200];
    bool posted = m->receiving != MPI_REQUEST_NULL;
    CHECK_OK(MPI_Iprobe(m->from, tag_of(m), MPI_COMM_WORLD, &flag, &status));
    must(!flag || (!cancelled && !posted), m, "it is found all the same");
    if (!posted && !cancelled)
        post(m);
    if (posted && cancelled)
        must(!MPI_Cancel(&m->receiving), m, "MPI_Cancel of the receive fails");
    must(!MPI_Wait(&m->receiving, &status), m, "the wait for the receive fails");
    MPI_Test_cancelled(&status, &flag);
    must(!flag == !(cancelled && posted), m, "the receive ends in another way");
    if (!cancelled)
        buffer_put(&m->in, 0, key(m), 0, m->units, false);
    if (!buffer_good(&m->in, what, sizeof what))
        must(false, m, what);
    buffer_close(&m->in);
}

/* ---- rounds ---- */

/* A step of the list, which all ranks walk through in its order. */
static void step(struct message *m)
{
    bool early = one_in(&alone, 2);
    if (m->to == me)
        open_buffer(m, &m->in);
    if (m->to == me && one_in(&alone, 2))
        post(m);
    if (m->from == me)
        begin(m);
    if (early)
        cancel(&messages[draw(&alone, count)]);
}

static void end(struct message *m)
{
    int cancelled = -1;
    if (m->from == me)
        cancelled = end_send(m);
    if (m->from == me && m->to != me)
        CHECK_OK(MPI_Send(&cancelled, 1, MPI_INT, m->to, 0, outcomes));
    if (m->from != me && m->to == me)
        CHECK_OK(MPI_Recv(&cancelled, 1, MPI_INT, m->from, 0, outcomes, MPI_STATUS_IGNORE));
    if (m->to == me)
        end_receive(m, cancelled);
}

static void play(void)
{
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* tags begin anew */
    seed_chance(seed);
    for (round_now = 0; round_now < rounds; round_now++) {
        count = 1 + draw(&together, MOST);
        for (int i = 0; i < count; i++)
            draw_message(&messages[i]);
        for (int i = 0; i < count; i++)
            step(&messages[i]);
        for (int i = 0; i < count; i++)
            end(&messages[i]);
    }
}

int main(int argc, char **argv)
{
    void *none;
    int size;
    MPI_Init(&argc, &argv);
    errors_return();
    me = world_rank();
    n = world_size();
    make_layouts();
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &outcomes));
    CHECK_OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
    rounds = ROUNDS;
    max_bytes = MAX_BYTES;
    play_seeds(argc, argv, (struct game){ &seed, &rounds, &max_bytes, SEEDS, play });
    CHECK_OK(MPI_Buffer_detach(&none, &size));
    CHECK_OK(MPI_Comm_free(&outcomes));
    free_layouts();
    return check_done();
}

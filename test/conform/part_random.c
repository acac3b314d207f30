/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random partitioned messages, several under way together, every byte looked at.
 *
 * Drawn are: sender, receiver, communicator and tag, often the same, so that the order of the calls has
 * to pair them; the numbers of partitions and the datatypes at both ends; in which order the partitions
 * are filled and made ready, each just before.  Partitions that have arrived are looked at at once.
 *
 *     part_random SEED ROUNDS MAXBYTES
 */
#include "random_data.h"

enum { SEEDS = 4, ROUNDS = 20, MAX_BYTES = 100000 };
enum { MOST = 6, MOST_PARTITIONS = 64, TURNS = 3 };
static int seed, rounds, max_bytes, me, n, round_now, turn;

enum { WORLD, DUP, REVERSED, COMMS };
static MPI_Comm comms[COMMS];

enum { OUT, IN };
static struct channel {
    int comm, tag, base, process[2], parts[2]; /* of sender and receiver */
    long units;
    int order[MOST_PARTITIONS], next; /* in which partitions get ready */
    bool arrived[MOST_PARTITIONS];
    struct buffer data[2];
} channels[MOST];
static MPI_Request requests[2 * MOST]; /* of both sides; null where this process is not */
static int nchannels;

static void must(bool good, const struct channel *h, int side, const char *what)
{
    const struct block *b = &h->data[side].blocks[0];
    if (good)
        return;
    fprintf(
        stderr,
        "part_random %d %d %d, rank %d of %d, round %d, start %d: %s\n  channel %d from %d to "
        "%d on communicator %d with tag %d, %s: %d of %d partitions, %d of %s, units of %d "
        "bytes\n",
        seed, rounds, max_bytes, me, n, round_now, turn, what, (int)(h - channels),
        h->process[OUT], h->process[IN], h->comm, h->tag, side == IN ? "in" : "out",
        h->parts[side], h->parts[!side], b->elements, b->layout->name, base_bytes[h->base]);
    check_failed(__FILE__, __LINE__, "the operation above does what it should");
}

static MPI_Request *request_of(const struct channel *h, int side)
{
    return &requests[2 * (h - channels) + side];
}

static int rank_in(int comm, int process)
{
    return comm == REVERSED ? n - 1 - process : process;
}

/* ---- drawing ---- */

static void open_side(struct channel *h, int side)
{
    const struct layout *l = draw_layout(&alone, h->units);
    struct buffer *data = &h->data[side];
    MPI_Request *r = request_of(h, side);
    *r = MPI_REQUEST_NULL;
    if (h->units / l->units % h->parts[side]) /* partitions are whole elements */
        l = &layouts[DENSE];
    data->n = 1;
    data->blocks[0] = (struct block){ l, h->base, (int)(h->units / l->units), 0 };
    if (h->process[side] != me)
        return;
    buffer_open(data);
    int count = data->blocks[0].elements / h->parts[side],
        peer = rank_in(h->comm, h->process[!side]);
    MPI_Datatype type = type_of(&data->blocks[0]);
    int rc = side == IN ? MPI_Precv_init(data->start, h->parts[IN], count, type, peer, h->tag,
                                         comms[h->comm], MPI_INFO_NULL, r)
                        : MPI_Psend_init(data->start, h->parts[OUT], count, type, peer, h->tag,
                                         comms[h->comm], MPI_INFO_NULL, r);
    must(!rc, h, side, "it cannot be made");
}

static int draw_parts(void)
{
    return 1 + draw(&together, one_in(&together, 3) ? MOST_PARTITIONS : 4);
}

static void draw_channel(struct channel *h)
{
    h->comm = draw(&together, COMMS);
    h->tag = draw(&together, 2);
    h->base = draw(&together, BASES);
    for (int side = 0; side < 2; side++) {
        h->process[side] = draw(&together, n);
        h->parts[side] = draw_parts();
    }
    int many = draw(&together, max_bytes), few = draw(&together, 200);
    int parts = h->parts[OUT] * h->parts[IN], grain = one_in(&together, 2) ? GRAIN : 1;
    h->units = (one_in(&together, 2) ? many : few) / base_bytes[h->base] / grain / parts *
               grain * parts;
    if (one_in(&together, 4))
        h->units = grain * parts;
    for (int k = 0; k < 2; k++) /* a message to oneself is made in any order, too */
        open_side(h, k ^ (h->tag & 1));
}

/* ---- work ---- */

static uint64_t key(const struct channel *h)
{
    return key_of((uint64_t)seed, (uint64_t)round_now,
                  (uint64_t)((h - channels) * TURNS + turn), 5);
}

static void mark_ready(struct channel *h)
{
    long each = h->units / h->parts[OUT];
    int p = h->order[h->next++], how = draw(&alone, 3);
    MPI_Request r = *request_of(h, OUT);
    buffer_put(&h->data[OUT], 0, key(h), p * each, (p + 1) * each, true);
    int rc = how == 0   ? MPI_Pready(p, r)
             : how == 1 ? MPI_Pready_range(p, p, r)
                        : MPI_Pready_list(1, &p, r);
    must(!rc, h, OUT, "MPI_Pready returns an error");
}

static void look_at_partition(struct channel *h)
{
    const struct buffer *data = &h->data[IN];
    int p = draw(&alone, h->parts[IN]), flag = 0;
    long each = h->units / h->parts[IN];
    must(!MPI_Parrived(*request_of(h, IN), p, &flag), h, IN, "MPI_Parrived returns an error");
    must(flag || !h->arrived[p], h, IN, "what had arrived has not");
    h->arrived[p] = flag;
    for (long i = p * each; flag && i < (p + 1) * each; i++) {
        uint64_t value = unit_of(key(h), i);
        const char *at = (const char *)data->start + place(&data->blocks[0], i);
        must(!memcmp(at, &value, (size_t)base_bytes[h->base]), h, IN,
             "a partition that has arrived is wrong");
    }
}

static void begin(struct channel *h)
{
    for (int p = 0; p < h->parts[OUT]; p++)
        h->order[p] = p;
    shuffle(&alone, h->order, h->parts[OUT]);
    memset(h->arrived, 0, sizeof h->arrived);
    h->next = h->process[OUT] == me ? 0 : h->parts[OUT];
    for (int side = 0; side < 2; side++)
        if (h->process[side] == me) {
            buffer_blank(&h->data[side]);
            must(!MPI_Start(request_of(h, side)), h, side, "MPI_Start returns an error");
        }
}

/* A few steps of what is to be done.  False: all partitions are ready. */
static bool work(void)
{
    bool more = false;
    for (int k = 0; k < nchannels; k++) {
        struct channel *h = &channels[k];
        while (h->next < h->parts[OUT] && one_in(&alone, 2))
            mark_ready(h);
        if (h->process[IN] == me && one_in(&alone, 2))
            look_at_partition(h);
        more |= h->next < h->parts[OUT];
    }
    return more;
}

static void verify(struct channel *h, const MPI_Status *status)
{
    char what[200];
    int units = -1;
    if (h->process[IN] == me) {
        MPI_Get_elements(status, type_of(&h->data[IN].blocks[0]), &units);
        must(units == h->units && status->MPI_TAG == h->tag &&
                 status->MPI_SOURCE == rank_in(h->comm, h->process[OUT]),
             h, IN, "the status is wrong");
        buffer_put(&h->data[IN], 0, key(h), 0, h->units, false);
    }
    for (int side = 0; side < 2; side++)
        if (h->process[side] == me && !buffer_good(&h->data[side], what, sizeof what))
            must(false, h, side, what);
}

static void play_round(void)
{
    MPI_Status statuses[2 * MOST];
    nchannels = 1 + draw(&together, MOST);
    for (int k = 0; k < nchannels; k++)
        draw_channel(&channels[k]);
    for (turn = 0; turn < TURNS; turn++) {
        for (int k = 0; k < nchannels; k++)
            begin(&channels[k]);
        while (work())
            continue;
        CHECK_OK(MPI_Waitall(2 * nchannels, requests, statuses));
        for (int k = 0; k < nchannels; k++)
            verify(&channels[k], &statuses[2 * k + IN]);
    }
    for (int k = 0; k < 2 * nchannels; k++)
        if (requests[k] != MPI_REQUEST_NULL) {
            CHECK_OK(MPI_Request_free(&requests[k]));
            buffer_close(&channels[k / 2].data[k % 2]);
        }
}

static void play(void)
{
    seed_chance(seed);
    for (round_now = 0; round_now < rounds; round_now++)
        play_round();
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    me = world_rank();
    n = world_size();
    make_layouts();
    comms[WORLD] = MPI_COMM_WORLD;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[DUP]));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &comms[REVERSED]));
    rounds = ROUNDS;
    max_bytes = MAX_BYTES;
    play_seeds(argc, argv, (struct game){ &seed, &rounds, &max_bytes, SEEDS, play });
    free_layouts();
    CHECK_OK(MPI_Comm_free(&comms[DUP]));
    CHECK_OK(MPI_Comm_free(&comms[REVERSED]));
    return check_done();
}

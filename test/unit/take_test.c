/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Blocking receives that take the next packet without a request: nothing that is posted, here already,
 * or of another kind may be passed over.  Both ranks draw the same script.
 */
#include "mpi.h"
#include "pml/request.h"
#include "runtime/clock.h"

#include "test/unit/job.h"
#include "test/unit/unit.h"

#include <string.h>

enum { MOST = 20000, LINES = 800, SHORT = 600 };
enum { MOST_BYSTANDERS = 40 };
enum { TAG_EVEN = 1, TAG_ODD = 2, TAG_NOBODYS = 100 };

static uint64_t draws;
static uint32_t draw(uint32_t below)
{
    draws = draws * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(draws >> 33) % below;
}

enum how {
    IN_ORDER,  /* blocking, exact */
    ANY_TAG,   /* blocking, with a wildcard */
    POSTED,    /* nonblocking, before a blocking receive with the same tag */
    TURNED,    /* the second message first: this one is here before its receive */
    TOO_SMALL, /* the buffer ends before the message */
    HOWS
};

struct line { /* two messages */
    enum how how;
    enum send_mode mode;
    bool late, same; /* the receiver, or else the sender, takes its time; one tag for both */
    size_t bytes[2];
};

static struct line line_draw(void)
{
    static const uint32_t most[] = { 1, 29, 30, 80, 520, SHORT, MOST };
    struct line line = { .how = (enum how)draw(HOWS),
                         .mode = draw(8) == 0 ? SEND_SYNCHRONOUS : SEND_STANDARD,
                         .late = draw(2),
                         .same = draw(2) };
    for (int i = 0; i < 2; i++)
        line.bytes[i] = draw(most[draw(7)]);
    if (line.how == TURNED) { /* what nobody receives must be short */
        line.mode = SEND_STANDARD;
        line.bytes[0] %= SHORT;
        line.same = false;
    }
    return line;
}

static int tag_of(const struct line *line, int i)
{
    return i == 0 || line->same ? TAG_EVEN : TAG_ODD;
}

static char byte_of(int number, size_t at)
{
    return (char)(number * 37 + (int)at * 3 + 1);
}

static void dawdle(bool yes)
{
    for (int i = 0; yes && i < 300; i++)
        cpu_pause();
}

static void send_one(struct channel *c, const struct line *line, int number, int i)
{
    static char out[MOST];
    for (size_t at = 0; at < line->bytes[i]; at++)
        out[at] = byte_of(2 * number + i, at);
    struct buffer data = job_bytes(line->bytes[i] > 0 ? out : NULL, line->bytes[i]);
    struct envelope to = { .peer = 1, .tag = tag_of(line, i) };
    ck_assert_int_eq(pml_send(c, &data, &to, line->mode), 0);
}

/* What landed is right, and nothing behind it was touched. */
static void check_landed(const struct line *line, int number, int i, const char *in,
                         size_t room, const struct result *r)
{
    size_t landed = room < line->bytes[i] ? room : line->bytes[i];
    ck_assert_int_eq(r->source, 0);
    ck_assert_int_eq(r->tag, tag_of(line, i));
    ck_assert_uint_eq(r->bytes, landed);
    for (size_t at = 0; at < landed; at++)
        ck_assert_int_eq(in[at], byte_of(2 * number + i, at));
    ck_assert_int_eq(in[landed], 'x');
}

static void recv_one(struct channel *c, const struct line *line, int number, int i)
{
    static char in[MOST + 1];
    bool small = line->how == TOO_SMALL && line->bytes[i] > 0;
    size_t room = small ? line->bytes[i] / 2 : line->bytes[i] + (size_t)(number % 2);
    memset(in, 'x', line->bytes[i] + 1);
    struct buffer data = job_bytes(room > 0 ? in : NULL, room);
    struct envelope from = { .peer = 0,
                             .tag = line->how == ANY_TAG ? PML_ANY_TAG : tag_of(line, i) };
    struct result r;
    ck_assert_int_eq(pml_recv(c, &data, &from, &r), small ? MPI_ERR_TRUNCATE : 0);
    check_landed(line, number, i, in, room, &r);
}

/* The first message belongs to the receive that is posted first, whatever the second one asks for. */
static void recv_posted(struct channel *c, const struct line *line, int number)
{
    static char in[MOST + 1];
    memset(in, 'x', line->bytes[0] + 1);
    struct buffer data = job_bytes(line->bytes[0] > 0 ? in : NULL, line->bytes[0]);
    struct envelope from = { .peer = number % 3 ? 0 : PML_ANY_SOURCE,
                             .tag = number % 5 ? TAG_EVEN : PML_ANY_TAG };
    struct request *request;
    struct result r;
    ck_assert_int_eq(pml_irecv(c, &data, &from, &request), 0);
    recv_one(c, line, number, 1);
    ck_assert_int_eq(request_wait(request, &r), 0);
    check_landed(line, number, 0, in, line->bytes[0], &r);
}

static void receive(struct channel *c, const struct line *line, int number)
{
    if (line->how == POSTED) {
        recv_posted(c, line, number);
        return;
    }
    int first = line->how == TURNED;
    recv_one(c, line, number, first);
    recv_one(c, line, number, !first);
}

/* Now and then something comes back, so that neither is far ahead. */
static void answer(struct channel *c, int rank)
{
    int word = 0;
    struct buffer data = job_bytes(&word, sizeof word);
    struct envelope other = { .peer = !rank, .tag = 3 };
    ck_assert_int_eq(rank == 0 ? pml_recv(c, &data, &other, NULL)
                               : pml_send(c, &data, &other, SEND_STANDARD),
                     0);
}

/* Receives that wait all the time for what nobody sends, so that the matcher has to be asked who may pass
 * them. */
static int nbystanders, lines = LINES;
static struct request *bystanders[MOST_BYSTANDERS];

static void bystanders_post(struct channel *c)
{
    for (int i = 0; i < nbystanders; i++) {
        struct buffer data = job_bytes(NULL, 0);
        struct envelope from = { .peer = i % 3 ? 0 : PML_ANY_SOURCE, .tag = TAG_NOBODYS + i };
        ck_assert_int_eq(pml_irecv(c, &data, &from, &bystanders[i]), 0);
    }
}

static void bystanders_go(void)
{
    for (int i = 0; i < nbystanders; i++) {
        struct result r;
        ck_assert_int_eq(bystanders[i]->ops->cancel(bystanders[i]), 0);
        ck_assert_int_eq(request_wait(bystanders[i], &r), 0);
        ck_assert(r.cancelled);
    }
}

static void script(int rank, int n)
{
    struct channel *c = job_world(rank, n);
    draws = 7;
    if (rank == 1)
        bystanders_post(c);
    for (int number = 0; number < lines; number++) {
        struct line line = line_draw();
        dawdle(line.late == (rank == 1));
        if (rank == 1) {
            receive(c, &line, number);
        } else {
            send_one(c, &line, number, 0);
            send_one(c, &line, number, 1);
        }
        if (draw(4) == 0)
            answer(c, rank);
    }
    if (rank == 1)
        bystanders_go();
    ck_assert_uint_eq(channel_posted(c) + channel_unexpected(c), 0);
    channel_close(c);
}
START_TEST(next_messages)
{
    ck_assert(job_run(2, script));
}
END_TEST

/* A few stand in the matcher's row; many are in its table. */
START_TEST(next_messages_among_others)
{
    lines = LINES / 4;
    nbystanders = 2;
    ck_assert(job_run(2, script));
    nbystanders = MOST_BYSTANDERS;
    ck_assert(job_run(2, script));
}
END_TEST

static int turns_of_1000(bool others)
{
    int turns = 0;
    for (int i = 0; i < 1000; i++)
        turns += progress_looks(others) == 0;
    return turns;
}

/* Who always finds what it looks for lets pollers have their turn, soon when there are other requests. */
START_TEST(others_get_their_turn)
{
    ck_assert_int_ge(turns_of_1000(false), 10);
    ck_assert_int_le(turns_of_1000(false), 100);
    ck_assert_int_ge(turns_of_1000(true), 200);
    uint32_t before = request_pools[0].out;
    struct request *request = request_new(NULL, &request_pools[0]);
    ck_assert_uint_eq(request_pools[0].out, before + 1);
    request_free(request);
    ck_assert_uint_eq(request_pools[0].out, before);
}
END_TEST

UNIT_MAIN("take", next_messages, next_messages_among_others, others_get_their_turn)

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random series of dup, idup, split, create_group, create_from_group and free, many communicators
 * in flight at once, by one thread and by several: no message ever reaches another communicator
 * than its own.
 *
 * All ranks draw the same series, but where several are duplicated at once, each rank starts them
 * and waits for them in an order of its own.  A communicator has a mark that only its members
 * compute alike (its parent's mark, the operation's number, the colour); all members compare
 * marks, and send them around with the same tag everywhere.
 */
#include "test/conform/check.h"

#include <pthread.h>
#include <stdbool.h>

enum { MOST = 12, STEPS = 120, THREADS = 3 };

struct slot {
    MPI_Comm comm; /* MPI_COMM_NULL: free */
    MPI_Request request;
    unsigned mark;
    int depth;
};

struct play {
    struct slot slots[MOST];
    unsigned state; /* of the series */
};

static unsigned draw(struct play *p)
{
    p->state = p->state * 1664525u + 1013904223u;
    return p->state >> 8;
}

static unsigned mix(unsigned mark, unsigned step, unsigned color)
{
    return (mark ^ step * 2654435761u) * 31u + color + 1;
}

/* The mark goes round the ring while those of all other communicators do. */
static void check_ring(const struct slot *slots, int count)
{
    MPI_Request requests[4 * MOST];
    unsigned got[2 * MOST];
    int pending = 0;
    for (int i = 0; i < count; i++) {
        int rank, size;
        got[i] = slots[i].mark;
        if (slots[i].comm == MPI_COMM_NULL || slots[i].request != MPI_REQUEST_NULL)
            continue;
        CHECK_OK(MPI_Comm_rank(slots[i].comm, &rank));
        CHECK_OK(MPI_Comm_size(slots[i].comm, &size));
        got[i] = 0;
        CHECK_OK(MPI_Irecv(&got[i], 1, MPI_UNSIGNED, (rank + size - 1) % size, 0, slots[i].comm,
                           &requests[pending++]));
        CHECK_OK(MPI_Isend(&slots[i].mark, 1, MPI_UNSIGNED, (rank + 1) % size, 0, slots[i].comm,
                           &requests[pending++]));
    }
    CHECK_OK(MPI_Waitall(pending, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < count; i++)
        CHECK(got[i] == slots[i].mark);
}

static void check_agreed(const struct slot *slot)
{
    unsigned both[2] = { slot->mark, ~slot->mark };
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_UNSIGNED, MPI_MAX, slot->comm));
    CHECK(both[0] == slot->mark && both[1] == ~slot->mark);
}

#if MPI_VERSION >= 4
/* Without a parent: the mark as the string tag keeps apart what threads make at the same time. */
static void make_from_group(MPI_Group group, struct slot *to)
{
    char tag[40];
    snprintf(tag, sizeof tag, "crossing %u", to->mark);
    CHECK_OK(
        MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &to->comm));
}
#endif

/* The front half or, backwards, the other one; kind 5 is for groups without a parent. */
static void make_half(const struct slot *from, struct slot *to, unsigned kind, unsigned step)
{
    MPI_Group all, group;
    int rank, size;
    CHECK_OK(MPI_Comm_rank(from->comm, &rank));
    CHECK_OK(MPI_Comm_size(from->comm, &size));
    int half[1][3] = { { 0, size / 2, 1 } }, other[1][3] = { { size - 1, size / 2 + 1, -1 } };
    bool first = rank <= size / 2;
    to->mark = mix(from->mark, step, first);
    CHECK_OK(MPI_Comm_group(from->comm, &all));
    CHECK_OK(MPI_Group_range_incl(all, 1, first ? half : other, &group));
#if MPI_VERSION >= 4
    if (kind == 5)
        make_from_group(group, to);
#endif
    if (to->comm == MPI_COMM_NULL)
        CHECK_OK(MPI_Comm_create_group(from->comm, group, (int)(step % 3), &to->comm));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Group_free(&all));
}

/* Which slots are in use, and which are in flight, is alike on all members of a slot, because
 * everybody plays the same series; who is not a member of a part plays alone there. */
static void make(struct play *p, const struct slot *from, struct slot *to, unsigned step)
{
    unsigned kind = draw(p) % 6, seed = draw(p);
    int rank, size;
    CHECK_OK(MPI_Comm_rank(from->comm, &rank));
    CHECK_OK(MPI_Comm_size(from->comm, &size));
    unsigned color = (unsigned)(rank + (int)(seed % 7)) * (1 + seed % 3) % (1 + seed % 4);
    *to = (struct slot){ MPI_COMM_NULL, MPI_REQUEST_NULL, mix(from->mark, step, 0), 0 };
    to->depth = from->depth + 1;
    if (kind == 0)
        CHECK_OK(MPI_Comm_dup(from->comm, &to->comm));
    if (kind == 1 || kind == 2)
        CHECK_OK(MPI_Comm_idup(from->comm, &to->comm, &to->request));
    if (kind == 3) {
        to->mark = mix(from->mark, step, color);
        CHECK_OK(MPI_Comm_split(from->comm, (int)color, rank * (int)(seed % 5), &to->comm));
    }
    if (kind >= 4)
        make_half(from, to, kind, step);
}

static void finish(struct slot *slot)
{
    CHECK_OK(MPI_Wait(&slot->request, MPI_STATUS_IGNORE));
    check_agreed(slot);
}

/* All at once: every communicator is duplicated, each rank begins with another one. */
static void duplicate_all(struct play *p, unsigned step)
{
    struct slot both[2 * MOST];
    memcpy(both, p->slots, sizeof p->slots);
    for (int i = 0; i < MOST; i++) {
        int at = (i * 5 + world_rank() * 7) % MOST; /* MOST and 5 have no common factor */
        struct slot *to = &both[MOST + at];
        *to = (struct slot){ MPI_COMM_NULL, MPI_REQUEST_NULL, mix(both[at].mark, step, 9), 0 };
        if (both[at].comm != MPI_COMM_NULL && both[at].request == MPI_REQUEST_NULL)
            CHECK_OK(MPI_Comm_idup(both[at].comm, &to->comm, &to->request));
    }
    for (int i = 0; i < MOST; i++)
        CHECK_OK(
            MPI_Wait(&both[MOST + (i * 7 + world_rank()) % MOST].request, MPI_STATUS_IGNORE));
    check_ring(both, 2 * MOST);
    for (int i = MOST; i < 2 * MOST; i++)
        if (both[i].comm != MPI_COMM_NULL)
            CHECK_OK(MPI_Comm_free(&both[i].comm));
}

/* Slot 0 stays; the others come and go. */
static void play(struct play *p, int steps)
{
    for (int i = 1; i < MOST; i++)
        p->slots[i] = (struct slot){ MPI_COMM_NULL, MPI_REQUEST_NULL, 0, 0 };
    for (unsigned step = 1; step <= (unsigned)steps; step++) {
        struct slot *from = &p->slots[draw(p) % MOST],
                    *to = &p->slots[1 + draw(p) % (MOST - 1)];
        if (to->comm != MPI_COMM_NULL) {
            finish(to);
            CHECK_OK(MPI_Comm_free(&to->comm));
        }
        if (from->comm == MPI_COMM_NULL || from == to || from->depth > 3)
            from = &p->slots[0];
        if (from->request != MPI_REQUEST_NULL)
            finish(from);
        make(p, from, to, step);
        if (step % 10 == 0)
            check_ring(p->slots, MOST);
        if (step % 15 == 0)
            duplicate_all(p, step);
    }
    for (int i = MOST - 1; i > 0; i--)
        if (p->slots[i].comm != MPI_COMM_NULL) {
            finish(&p->slots[i]);
            CHECK_OK(MPI_Comm_free(&p->slots[i].comm));
        }
}

static void *play_thread(void *data)
{
    play(data, STEPS / 2);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct play plays[THREADS];
    pthread_t threads[THREADS];
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    errors_return();
    for (unsigned seed = 1; seed <= 4; seed++) {
        plays[0].state = seed;
        plays[0].slots[0] = (struct slot){ MPI_COMM_WORLD, MPI_REQUEST_NULL, 77 * seed, 0 };
        play(&plays[0], STEPS);
    }
    for (int i = 0; provided == MPI_THREAD_MULTIPLE && i < THREADS; i++) {
        plays[i].state = 100u + (unsigned)i;
        plays[i].slots[0] =
            (struct slot){ MPI_COMM_NULL, MPI_REQUEST_NULL, 5u + (unsigned)i, 0 };
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &plays[i].slots[0].comm));
    }
    for (int i = 0; provided == MPI_THREAD_MULTIPLE && i < THREADS; i++)
        CHECK(!pthread_create(&threads[i], NULL, play_thread,
                              &plays[(i + world_rank()) % THREADS]));
    for (int i = 0; provided == MPI_THREAD_MULTIPLE && i < THREADS; i++) {
        CHECK(!pthread_join(threads[i], NULL));
    }
    for (int i = 0; provided == MPI_THREAD_MULTIPLE && i < THREADS; i++)
        CHECK_OK(MPI_Comm_free(&plays[i].slots[0].comm));
    return check_done();
}

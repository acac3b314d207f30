/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How fast is the pml, without MPI on top?  Two forked ranks on two CPUs: half round trips per
 * size, and the rate of a window of messages.  Before each row the time a cache line takes one
 * way is measured, because virtual CPUs move: about 25 ns near, 200 far.
 *
 *     pml_pingpong [seconds per row] [largest size]
 */
#define _GNU_SOURCE
#include "runtime/clock.h"

#include "test/unit/job.h"

#include <sched.h>
#include <string.h>

enum { BATCHES = 400, WINDOW = 64 };

static double budget = 0.05;
static size_t largest = 4 << 20;
static _Atomic uint64_t *line; /* shared between the two ranks */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double line_ns(int rank)
{
    enum { ROUNDS = 2000 };
    static uint64_t count;
    uint64_t start = clock_ns();
    for (int i = 0; i < ROUNDS; i++, count += 2) {
        if (rank == 0)
            atomic_store_explicit(line, count + 1, memory_order_release);
        while (atomic_load_explicit(line, memory_order_acquire) < count + 1 + (rank == 0))
            cpu_pause();
        if (rank == 1)
            atomic_store_explicit(line, count + 2, memory_order_release);
    }
    return (double)(clock_ns() - start) / ROUNDS / 2;
}

struct side {
    struct channel *channel;
    int rank;
    char *memory;
    int from; /* whom receives name: the peer or PML_ANY_SOURCE */
};

static void one(const struct side *s, size_t bytes, int rounds)
{
    struct buffer data = job_bytes(s->memory, bytes);
    struct envelope to = { .peer = !s->rank, .tag = 1 }, from = { .peer = s->from, .tag = 1 };
    for (int i = 0; i < rounds; i++) {
        if (s->rank == 0)
            pml_send(s->channel, &data, &to, SEND_STANDARD);
        pml_recv(s->channel, &data, &from, NULL);
        if (s->rank == 1)
            pml_send(s->channel, &data, &to, SEND_STANDARD);
    }
}

/* Rank 0 sends a window, rank 1 receives it and answers once. */
static void window(const struct side *s, size_t bytes, int rounds)
{
    struct buffer data = job_bytes(s->memory, bytes), none = job_bytes(NULL, 0);
    struct envelope peer = { .peer = !s->rank, .tag = 1 };
    struct request *r[WINDOW];
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < WINDOW; k++)
            if (s->rank == 0)
                pml_isend(s->channel, &data, &peer, SEND_STANDARD, &r[k]);
            else
                pml_irecv(s->channel, &data, &peer, &r[k]);
        for (int k = 0; k < WINDOW; k++)
            request_wait(r[k], NULL);
        if (s->rank == 0)
            pml_recv(s->channel, &none, &peer, NULL);
        else
            pml_send(s->channel, &none, &peer, SEND_STANDARD);
    }
}

/* The median over batches, in ns per round. */
static double measure(const struct side *s, size_t bytes,
                      void (*run)(const struct side *, size_t, int))
{
    run(s, bytes, 2);
    uint64_t start = clock_ns();
    run(s, bytes, 4);
    double each = (double)(clock_ns() - start) / 4;
    uint64_t told = (uint64_t)(budget * 1e9 / BATCHES / each) + 1; /* rank 0 decides */
    struct buffer data = job_bytes(&told, sizeof told);
    struct envelope peer = { .peer = !s->rank, .tag = 2 };
    if (s->rank == 0)
        pml_send(s->channel, &data, &peer, SEND_STANDARD);
    else
        pml_recv(s->channel, &data, &peer, NULL);
    static double batch[BATCHES];
    for (int i = 0; i < BATCHES; i++) {
        start = clock_ns();
        run(s, bytes, (int)told);
        batch[i] = (double)(clock_ns() - start) / (double)told;
    }
    qsort(batch, BATCHES, sizeof batch[0], by_value);
    return batch[BATCHES / 2];
}

static void bench(int rank, int n)
{
    cpu_set_t cpu;
    CPU_ZERO(&cpu);
    CPU_SET((unsigned)rank, &cpu);
    sched_setaffinity(0, sizeof cpu, &cpu);
    struct side s = { job_world(rank, n), rank, calloc(1, largest), !rank };
    static const size_t sizes[] = { 0,     8,     28,     29,      64,      256,
                                    512,   976,   1024,   2048,    4096,    8192,
                                    16384, 65536, 262144, 1048576, 4194304, 16777216 };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && sizes[i] <= largest; i++) {
        double line_before = line_ns(rank);
        s.from = !rank;
        double ping = measure(&s, sizes[i], one) / 2;
        s.from = PML_ANY_SOURCE;
        double any = sizes[i] <= 64 ? measure(&s, sizes[i], one) / 2 : 0;
        s.from = !rank;
        double line_middle = line_ns(rank);
        double stream = measure(&s, sizes[i], window) / WINDOW;
        double line_after = line_ns(rank);
        if (rank == 0)
            printf(
                "%9zu B  ping-pong %9.1f ns  any %6.1f ns  stream %9.1f ns %8.2f M/s %8.0f MB/s"
                "  line %.0f %.0f %.0f ns\n",
                sizes[i], ping, any, stream, 1e3 / stream, (double)sizes[i] / stream * 1e3,
                line_before, line_middle, line_after);
    }
    channel_close(s.channel);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        budget = atof(argv[1]);
    if (argc > 2)
        largest = (size_t)atoll(argv[2]);
    line = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return job_run(2, bench) ? EXIT_SUCCESS : EXIT_FAILURE;
}

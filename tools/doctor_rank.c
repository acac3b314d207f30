/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The small job of xmpi doctor: one rank on each host, or two on one.  Pairs of ranks take turns,
 * so that no pair disturbs another:
 *
 *     rank i  ---- 8 bytes, 50 times there and back ---->  rank j      the least is the latency
 *     rank i  ---- 1 MiB, 4 times there and back ------->  rank j      compared by both
 *     rank 0  ---- what time is it? -------------------->  rank j      clocks, by the quickest answer
 *
 * Up to 16 ranks all pairs, of more each with its neighbour and with rank 0.  Rank 0 prints findings.
 */
#include "tools/doctor.h"

#include "mpi.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BYTES = 1 << 20, SHORT_TURNS = 50, LONG_TURNS = 4, ALL_PAIRS = 16, HOST_CHARS = 64 };

struct pair { /* measured by its first rank */
    int i, j;
    double us, mbs;  /* one way, 8 bytes; 1 MiB */
    double clock_ms; /* of j, ahead of i's */
    int wrong;       /* messages whose contents were not what was sent */
};

static struct {
    int rank, size;
    unsigned char *data, *back;
    char (*hosts)[HOST_CHARS]; /* at rank 0 */
} talk;

/* ---- one pair ---- */

static double turn(int peer, bool first, int bytes)
{
    double begin = MPI_Wtime();
    if (first)
        MPI_Send(talk.data, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    MPI_Recv(talk.back, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!first)
        MPI_Send(talk.back, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    return MPI_Wtime() - begin;
}

/* The least time of one way, in us. */
static double turns(int peer, bool first, int bytes, int n)
{
    double least = 1e9;
    for (int i = 0; i < n; i++) {
        double seconds = turn(peer, first, bytes);
        if (seconds < least)
            least = seconds;
    }
    return least * 1e6 / 2;
}

/* 1 MiB that differs from turn to turn; the second rank sends back what it got. */
static double long_turns(int peer, bool first, int *wrong)
{
    double least = 1e9;
    for (int i = 0; i < LONG_TURNS; i++) {
        for (int k = 0; first && k < BYTES; k++)
            talk.data[k] = (unsigned char)(k * 7 + k / 251 + i);
        double us = turns(peer, first, BYTES, 1);
        *wrong += first && memcmp(talk.data, talk.back, BYTES) != 0;
        if (us < least)
            least = us;
    }
    return least;
}

static double time_of_day(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* How far the peer's clock is ahead, in ms: by the answer that came back soonest. */
static double compare_clocks(int peer, bool first)
{
    double best = 1e9, ahead = 0, theirs;
    for (int i = 0; i < SHORT_TURNS; i++) {
        double begin = time_of_day();
        if (!first) {
            MPI_Recv(&theirs, 1, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            theirs = time_of_day();
            MPI_Send(&theirs, 1, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD);
            continue;
        }
        MPI_Send(&begin, 1, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD);
        MPI_Recv(&theirs, 1, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double end = time_of_day();
        if (end - begin < best) {
            best = end - begin;
            ahead = theirs - (begin + end) / 2;
        }
    }
    return ahead * 1e3;
}

static void measure(struct pair *pair)
{
    bool first = talk.rank == pair->i;
    int peer = first ? pair->j : pair->i;
    turn(peer, first, BYTES); /* the first message sets up the connection */
    pair->us = turns(peer, first, 8, SHORT_TURNS);
    pair->mbs = BYTES / long_turns(peer, first, &pair->wrong);
    pair->clock_ms = compare_clocks(peer, first);
}

/* ---- all pairs ---- */

static bool is_measured(int i, int j)
{
    return talk.size <= ALL_PAIRS || i == 0 || j == i + 1;
}

/* Rank 0 gets all of them; their number. */
static int measure_all(struct pair *pairs)
{
    int n = 0;
    for (int i = 0; i < talk.size; i++)
        for (int j = i + 1; j < talk.size; j++) {
            struct pair pair = { .i = i, .j = j };
            if (!is_measured(i, j))
                continue;
            MPI_Barrier(MPI_COMM_WORLD);
            if (talk.rank == i || talk.rank == j)
                measure(&pair);
            if (talk.rank == i && i > 0)
                MPI_Send(&pair, sizeof pair, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
            if (talk.rank == 0 && i > 0)
                MPI_Recv(&pair, sizeof pair, MPI_BYTE, i, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            pairs[n++] = pair;
        }
    return n;
}

/* ---- what it means ---- */

static const char *host(int rank)
{
    return talk.hosts[rank];
}

static int by_latency(const void *a, const void *b)
{
    double x = ((const struct pair *)a)->us, y = ((const struct pair *)b)->us;
    return x < y ? -1 : x > y;
}

static void judge_speed(struct pair *pairs, int n, struct findings *to)
{
    enum { FAR = 3 }; /* times the median */
    qsort(pairs, (size_t)n, sizeof *pairs, by_latency);
    const struct pair *median = &pairs[n / 2], *last = &pairs[n - 1], *slow = pairs;
    for (int i = 0; i < n; i++)
        if (pairs[i].mbs < slow->mbs)
            slow = &pairs[i];
    finding_add(to, FINDING_GOOD, "messages", "",
                "%d ranks exchanged messages: 8 bytes take %.1f us, 1 MiB goes with %.0f MB/s "
                "or more",
                talk.size, median->us, slow->mbs);
    if (n > 2 && last->us > FAR * median->us)
        finding_add(
            to, FINDING_NOTE, "a slow pair",
            "look at the interfaces that both use (xmpi info on each), cables, switches",
            "8 bytes between %s and %s take %.1f us, most take %.1f", host(last->i),
            host(last->j), last->us, median->us);
}

static void judge_contents(const struct pair *pairs, int n, struct findings *to)
{
    for (int i = 0; i < n; i++)
        if (pairs[i].wrong)
            finding_add(to, FINDING_BAD, "contents",
                        "try another provider or interface (XMPI_OFI_PROVIDER, XMPI_OFI_IFACE)",
                        "%d of %d messages between %s and %s came back changed", pairs[i].wrong,
                        LONG_TURNS, host(pairs[i].i), host(pairs[i].j));
}

static double apart(const struct pair *pair)
{
    return pair->clock_ms < 0 ? -pair->clock_ms : pair->clock_ms;
}

static void judge_clocks(const struct pair *pairs, int n, struct findings *to)
{
    enum { FAR_MS = 20 };
    const struct pair *worst = pairs;
    for (int i = 0; i < n; i++)
        if (apart(&pairs[i]) > apart(worst))
            worst = &pairs[i];
    if (apart(worst) > FAR_MS)
        finding_add(to, FINDING_NOTE, "time of day", "synchronise the clocks (chrony, ntpd)",
                    "%s is %.0f ms %s %s: times in logs and traces do not fit together",
                    host(worst->j), apart(worst), worst->clock_ms < 0 ? "behind" : "ahead of",
                    host(worst->i));
    else
        finding_add(to, FINDING_GOOD, "time of day", "", "the hosts agree within %d ms",
                    FAR_MS);
}

static void judge(struct pair *pairs, int n)
{
    struct findings findings = { 0 };
    bool several = false;
    for (int i = 1; i < talk.size; i++)
        several |= strcmp(host(i), host(0)) != 0;
    judge_contents(pairs, n, &findings);
    judge_speed(pairs, n, &findings);
    if (several)
        judge_clocks(pairs, n, &findings);
    findings_write_lines(&findings, stdout);
    findings_free(&findings);
}

int doctor_rank_main(int argc, char **argv)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    int length;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &talk.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &talk.size);
    MPI_Get_processor_name(name, &length);
    name[HOST_CHARS - 1] = '\0';
    size_t all = (size_t)talk.size;
    size_t most = talk.size <= ALL_PAIRS ? all * all : 2 * all;
    struct pair *pairs = calloc(most, sizeof *pairs);
    talk.data = calloc(BYTES, 1);
    talk.back = calloc(BYTES, 1);
    talk.hosts = calloc(all, sizeof *talk.hosts);
    if (!pairs || !talk.data || !talk.back || !talk.hosts)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Gather(name, HOST_CHARS, MPI_CHAR, talk.hosts, HOST_CHARS, MPI_CHAR, 0, MPI_COMM_WORLD);
    int n = measure_all(pairs);
    if (talk.rank == 0 && n > 0)
        judge(pairs, n);
    free(pairs);
    free(talk.data);
    free(talk.back);
    free(talk.hosts);
    MPI_Finalize();
    return 0;
}

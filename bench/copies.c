/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the copies alone take that collectives of much data on two ranks consist of: two bare processes
 * that know where the other's buffers are, two flags, and nothing else.  Two ways of each, by the kernel
 * (process_vm_readv and _writev) and through shared memory in pieces, where both copy at once:
 *
 *     exchange   allgather, alltoall: my block to the other, and my own block to its place
 *     collect    gather: the other's block to rank 0, and its own block to its place
 *     halves     the same, of which rank 0 reads three eighths while the other writes the rest
 *     fold       allreduce: half a vector from the other, added to mine, the result to the other
 *
 *     gcc -O3 -march=native -o copies bench/copies.c
 *     copies [CPU CPU]     bytes, microseconds: median and least of 31; and now and then how long a line
 *                          takes one way, in ns, since virtual CPUs move
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 8 << 20, PIECE = 16 << 10, PIECES = 4, TURNS = 31 };

static struct shared {
    struct {
        _Atomic uint64_t value;
        char pad[120];
    } flag[2], filled[2], emptied[2];
    float *in[2], *out[2];
    pid_t pid[2];
    char ring[2][PIECES][PIECE] __attribute__((aligned(4096)));
} * shared;

static int me;
static float *in, *out;
static uint64_t meetings, sent, taken;

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void until(_Atomic uint64_t *flag, uint64_t value)
{
    while (atomic_load_explicit(flag, memory_order_acquire) < value)
        relax();
}

static void meet(void)
{
    atomic_store_explicit(&shared->flag[me].value, ++meetings, memory_order_release);
    until(&shared->flag[1 - me].value, meetings);
}

/* ---- by the kernel ---- */

static void kernel(float *mine, float *theirs, size_t n, int write)
{
    struct iovec local = { mine, n }, remote = { theirs, n };
    pid_t pid = shared->pid[1 - me];
    ssize_t done = write ? process_vm_writev(pid, &local, 1, &remote, 1, 0)
                         : process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (done != (ssize_t)n)
        abort();
}

static void add(float *to, const float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n / sizeof *to; i++)
        to[i] = a[i] + b[i];
}

static void kernel_exchange(size_t n)
{
    float *there = (float *)((char *)shared->out[1 - me] + (me ? n : 0));
    kernel(in, there, n, 1);
    memcpy((char *)out + (me ? n : 0), in, n);
}

static void kernel_collect(size_t n)
{
    if (me == 1)
        kernel(in, (float *)((char *)shared->out[0] + n), n, 1);
    else
        memcpy(out, in, n);
}

static void kernel_halves(size_t n)
{
    size_t read = n / 8 * 3 / 4096 * 4096;
    float *there = (float *)((char *)shared->out[0] + n + read);
    if (me == 1) {
        kernel((float *)((char *)in + read), there, n - read, 1);
        return;
    }
    memcpy(out, in, n);
    kernel((float *)((char *)out + n), shared->in[1], read, 0);
}

static void kernel_fold(size_t n)
{
    size_t half = n / 2, from = me ? half : 0, piece = half < 512 << 10 ? half : 512 << 10;
    static float theirs[128 << 10];
    for (size_t at = from; at < from + half; at += piece) {
        size_t i = at / sizeof *in;
        kernel(theirs, shared->in[1 - me] + i, piece, 0);
        add(out + i, in + i, theirs, piece);
        kernel(out + i, shared->out[1 - me] + i, piece, 1);
    }
}

/* ---- through shared memory ---- */

static int fill(const char *from, size_t n)
{
    if (sent - atomic_load_explicit(&shared->emptied[1 - me].value, memory_order_acquire) >=
        PIECES)
        return 0;
    memcpy(shared->ring[me][sent % PIECES], from, n);
    atomic_store_explicit(&shared->filled[me].value, ++sent, memory_order_release);
    return 1;
}

static int drain(char *to, const float *plus, size_t n)
{
    if (atomic_load_explicit(&shared->filled[1 - me].value, memory_order_acquire) <= taken)
        return 0;
    const char *from = shared->ring[1 - me][taken % PIECES];
    if (plus)
        add((float *)to, plus, (const float *)from, n);
    else
        memcpy(to, from, n);
    atomic_store_explicit(&shared->emptied[me].value, ++taken, memory_order_release);
    return 1;
}

/* `give` bytes to the other while `take` come from it. */
static void stream(const float *from, size_t give, float *to, const float *plus, size_t take)
{
    size_t given = 0, got = 0;
    while (given < give || got < take) {
        size_t g = give - given < PIECE ? give - given : PIECE;
        size_t t = take - got < PIECE ? take - got : PIECE;
        if (g && fill((const char *)from + given, g))
            given += g;
        if (t && drain((char *)to + got, plus ? plus + got / sizeof *plus : NULL, t))
            got += t;
    }
}

static void shared_exchange(size_t n)
{
    memcpy((char *)out + (me ? n : 0), in, n);
    stream(in, n, (float *)((char *)out + (me ? 0 : n)), NULL, n);
}

static void shared_collect(size_t n)
{
    if (me == 0)
        memcpy(out, in, n);
    stream(in, me ? n : 0, (float *)((char *)out + n), NULL, me ? 0 : n);
}

static void shared_fold(size_t n)
{
    size_t half = n / 2, mine = (me ? half : 0) / sizeof *in,
           theirs = (me ? 0 : half) / sizeof *in;
    stream(in + theirs, half, out + mine, in + mine, half);
    stream(out + mine, half, out + theirs, NULL, half);
}

/* ---- measuring ---- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void row(const char *name, void (*perform)(size_t), size_t n)
{
    double took[TURNS];
    int calls = n < 1 << 20 ? 200 : 4;
    for (int turn = -2; turn < TURNS; turn++) {
        meet();
        double began = now();
        for (int i = 0; i < calls; i++) {
            meet();
            perform(n);
        }
        meet();
        if (turn >= 0)
            took[turn] = (now() - began) / calls;
    }
    qsort(took, TURNS, sizeof *took, by_size);
    if (me == 0)
        printf("%-18s %8zu %9.2f %9.2f\n", name, n, took[TURNS / 2], took[0]);
}

static void line(void)
{
    enum { TRIPS = 100000 };
    double began = now();
    for (int i = 0; i < TRIPS; i++)
        meet();
    if (me == 0)
        printf("%-18s %8d %9.1f\n", "line", 0, (now() - began) / TRIPS * 1e3);
}

static void measure(void)
{
    static const size_t sizes[] = { 32 << 10, 1 << 20, 8 << 20 };
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i];
        line();
        row("exchange, kernel", kernel_exchange, n);
        row("exchange, shared", shared_exchange, n);
        row("collect, kernel", kernel_collect, n);
        row("collect, shared", shared_collect, n);
        row("halves, kernel", kernel_halves, n);
        row("fold, kernel", kernel_fold, n);
        row("fold, shared", shared_fold, n);
    }
    line();
}

static float *buffer(size_t bytes)
{
    float *buffer = aligned_alloc(4096, bytes);
    if (!buffer)
        abort();
    memset(buffer, 0, bytes);
    return buffer;
}

static void begin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    shared->in[me] = in = buffer(MOST);
    shared->out[me] = out = buffer(2 * (size_t)MOST);
    shared->pid[me] = getpid();
    meet();
}

int main(int argc, char **argv)
{
    int cpus[2] = { argc > 2 ? atoi(argv[1]) : 0, argc > 2 ? atoi(argv[2]) : 1 };
    shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    pid_t other = fork();
    if (other < 0) {
        perror("copies: fork");
        return 1;
    }
    me = other == 0;
    begin(cpus[me]);
    measure();
    if (me == 0)
        wait(NULL);
    return 0;
}

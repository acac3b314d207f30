/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rank 0's end of the store (store.h): a thread that serves one connection per rank.  It sleeps in
 * poll while nobody wants anything.  The port is open until all ranks have come, or the time is over;
 * whoever sends something else than a rank is cut off, and a rank that does not fit the job is told
 * why.
 *
 * All is in one table, by rank; connections that have not said which rank they are wait in `guests`.
 */
#define _GNU_SOURCE 1 /* accept4 */
#include "runtime/store.h"

#include "runtime/clock.h"
#include "runtime/fail.h"
#include "runtime/log.h"
#include "runtime/scarce.h"

#include "mpi.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_STRANGERS = 64, SEND_SECONDS = 10, TURN_MS = 200 };

struct guest { /* a connection; of a rank once it has said hello */
    int fd;    /* -1: none, or gone */
    bool came, ready;
    size_t have; /* bytes of word and payload */
    struct store_word word;
    char payload[STORE_PAYLOAD_MOST];
};

struct member { /* what is known of a rank */
    char host[STORE_HOST_CHARS];
    char card[BOOT_CONTACT_BYTES];
    uint32_t card_bytes;
};

static struct {
    pthread_t thread;
    bool running;
    int listener, size, seconds;
    struct guest *ranks, *guests; /* guests lie behind the ranks */
    int nguests; /* all ranks may have connected before the first says who it is */
    struct member *members;
    int32_t *nodes;
    struct pollfd *polled;
    int *polled_of;  /* of each its place in the table */
    int came, ready; /* ranks */
    bool full;       /* of open files, and told so */
    uint64_t rest;   /* until then, clock_ns, nobody is let in: there were no files */
} server;

/* ---- answers ---- */

static void leave(struct guest *guest)
{
    if (guest->fd >= 0)
        close(guest->fd);
    guest->fd = -1;
}

static void send_all(struct guest *guest, const void *bytes, size_t n)
{
    for (size_t done = 0; guest->fd >= 0 && done < n;) {
        ssize_t step = send(guest->fd, (const char *)bytes + done, n - done, MSG_NOSIGNAL);
        if (step > 0)
            done += (size_t)step;
        else if (errno != EINTR)
            leave(guest);
    }
}

static void answer(struct guest *guest, struct store_word word, const void *payload)
{
    word.magic = STORE_MAGIC;
    word.version = STORE_VERSION;
    send_all(guest, &word, sizeof word);
    if (word.bytes)
        send_all(guest, payload, word.bytes);
}

static void refuse(struct guest *guest, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void refuse(struct guest *guest, const char *format, ...)
{
    char text[STORE_TEXT_CHARS];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    answer(guest, (struct store_word){ .kind = STORE_NO, .bytes = (uint32_t)strlen(text) },
           text);
    leave(guest);
}

/* ---- gathering ---- */

static int node_of_host(int rank, int nodes)
{
    for (int before = rank - 1; before >= 0; before--) /* neighbours are the likeliest */
        if (strcmp(server.members[before].host, server.members[rank].host) == 0)
            return server.nodes[before];
    return nodes;
}

static void all_have_come(void)
{
    int nodes = 0;
    for (int rank = 0; rank < server.size; rank++) {
        server.nodes[rank] = node_of_host(rank, nodes);
        nodes += server.nodes[rank] == nodes;
    }
    struct store_word word = { .kind = STORE_TABLE,
                               .a = nodes,
                               .b = getpid(),
                               .bytes = (uint32_t)((size_t)server.size * sizeof(int32_t)) };
    for (int rank = 0; rank < server.size; rank++)
        answer(&server.ranks[rank], word, server.nodes);
    for (int i = 0; i < server.nguests; i++)
        leave(&server.guests[i]);
    close(server.listener);
    server.listener = -1;
}

static void said_hello(struct guest *guest)
{
    int rank = guest->word.rank, size = guest->word.a;
    if (size != server.size) {
        refuse(guest, "rank %d says WORLD_SIZE=%d, rank 0 says %d", rank, size, server.size);
    } else if (rank < 0 || rank >= server.size) {
        refuse(guest, "RANK=%d is not below WORLD_SIZE=%d", rank, server.size);
    } else if (server.ranks[rank].came) {
        refuse(guest,
               "there are two processes with RANK=%d; each needs a number of its own, and each "
               "job a MASTER_PORT of its own",
               rank);
    } else {
        server.ranks[rank] = *guest;
        server.ranks[rank].came = true;
        server.ranks[rank].have = 0;
        guest->fd = -1;
        snprintf(server.members[rank].host, STORE_HOST_CHARS, "%.*s", (int)guest->word.bytes,
                 guest->payload);
        if (++server.came == server.size)
            all_have_come();
    }
}

/* ---- what ranks say ---- */

static void pass_on(int from, struct store_word word)
{
    for (int rank = 0; rank < server.size; rank++)
        if (rank != from && server.nodes[rank] == server.nodes[from])
            answer(&server.ranks[rank], word, NULL);
}

static void is_ready(struct guest *guest)
{
    server.ready += !guest->ready;
    guest->ready = true;
    for (int rank = 0; server.ready == server.size && rank < server.size; rank++)
        answer(&server.ranks[rank], (struct store_word){ .kind = STORE_GO }, NULL);
}

static void keep_card(int rank, const struct guest *guest)
{
    memcpy(server.members[rank].card, guest->payload, guest->word.bytes);
    server.members[rank].card_bytes = guest->word.bytes;
}

static void tell_card(struct guest *guest, int whose)
{
    const struct member *member = &server.members[whose];
    answer(guest,
           (struct store_word){ .kind = STORE_CARD, .a = whose, .bytes = member->card_bytes },
           member->card);
}

static void rank_spoke(int rank, struct guest *guest)
{
    const struct store_word *word = &guest->word;
    guest->have = 0;
    if (word->kind == STORE_SEGMENT && server.came == server.size)
        pass_on(rank, (struct store_word){ .kind = STORE_SEGMENT, .a = word->a, .b = word->b });
    else if (word->kind == STORE_READY)
        is_ready(guest);
    else if (word->kind == STORE_CARD)
        keep_card(rank, guest);
    else if (word->kind == STORE_ASK && word->a >= 0 && word->a < server.size)
        tell_card(guest, word->a);
    else
        leave(guest); /* BYE, or nonsense */
}

/* A word and its payload are complete. */
static void spoke(int index)
{
    struct guest *guest = &server.ranks[index];
    if (index < server.size)
        rank_spoke(index, guest);
    else if (guest->word.kind == STORE_HELLO)
        said_hello(guest);
    else
        leave(guest);
}

static bool word_is_good(const struct store_word *word)
{
    return word->magic == STORE_MAGIC && word->version == STORE_VERSION &&
           word->bytes <= STORE_PAYLOAD_MOST;
}

/* Whoever waits for it would wait for ever. */
static void has_gone(int index)
{
    leave(&server.ranks[index]);
    bool is_missed = index < server.size && server.ready < server.size;
    for (int rank = 0; is_missed && rank < server.size; rank++)
        refuse(&server.ranks[rank], "rank %d has ended before all ranks were in MPI_Init",
               index);
}

static void take(int index)
{
    struct guest *guest = &server.ranks[index];
    size_t head = sizeof guest->word, want = head;
    if (guest->have >= head)
        want += guest->word.bytes;
    char *to = guest->have < head ? (char *)&guest->word + guest->have
                                  : guest->payload + (guest->have - head);
    ssize_t n = recv(guest->fd, to, want - guest->have, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0 || (guest->have + (size_t)n == head && !word_is_good(&guest->word))) {
        has_gone(index);
        return;
    }
    guest->have += (size_t)n;
    if (guest->have >= head && guest->have == head + guest->word.bytes)
        spoke(index);
}

/* ---- the thread ---- */

static void rest(void)
{
    if (!server.full)
        say("rank 0 cannot answer the other ranks: %s (ulimit -n)", strerror(errno));
    server.full = true;
    server.rest = clock_ns() + SCARCE_REST_MS * 1000000ull;
}

static void welcome(void)
{
    int fd = accept4(server.listener, NULL, NULL, SOCK_CLOEXEC), on = 1, i = 0;
    struct timeval limit = { .tv_sec = SEND_SECONDS };
    if (fd < 0 && is_scarce(errno))
        rest();
    while (i < server.nguests && server.guests[i].fd >= 0)
        i++;
    if (fd >= 0 && i == server.nguests)
        close(fd);
    if (fd < 0 || i == server.nguests)
        return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    server.guests[i] = (struct guest){ .fd = fd };
}

/* Who has come is told who has not. */
static void give_up(void)
{
    char missing[200] = "";
    size_t used = 0;
    for (int rank = 0; rank < server.size && used < sizeof missing - 16; rank++)
        if (!server.ranks[rank].came)
            used += (size_t)snprintf(missing + used, sizeof missing - used, " %d", rank);
    for (int i = 0; i < server.size + server.nguests; i++)
        refuse(&server.ranks[i], "of %d ranks these have not come within %d s:%s%s",
               server.size, server.seconds, missing, used >= sizeof missing - 16 ? " ..." : "");
    close(server.listener);
    server.listener = -1;
}

/* Those who are here, and no free places: poll refuses more entries than a process may have files.  The last one is
 * the listener's. */
static int list_polled(void)
{
    int n = 0;
    for (int i = 0; i < server.size + server.nguests; i++)
        if (server.ranks[i].fd >= 0) {
            server.polled[n] = (struct pollfd){ .fd = server.ranks[i].fd, .events = POLLIN };
            server.polled_of[n++] = i;
        }
    bool rests = clock_ns() < server.rest;
    server.polled[n] = (struct pollfd){ .fd = rests ? -1 : server.listener, .events = POLLIN };
    return n;
}

static void *serve(void *nothing)
{
    int n;
    uint64_t end = clock_ns() + (uint64_t)server.seconds * 1000000000u;
    while ((n = list_polled()) > 0 || server.listener >= 0) {
        int found = poll(server.polled, (nfds_t)n + 1, server.listener >= 0 ? TURN_MS : -1);
        for (int i = 0; i < n && found > 0; i++)
            if (server.polled[i].revents &&
                server.ranks[server.polled_of[i]].fd == server.polled[i].fd)
                take(server.polled_of[i]);
        if (found > 0 && server.polled[n].revents && server.listener >= 0)
            welcome();
        if (server.listener >= 0 && clock_ns() > end)
            give_up();
    }
    return nothing;
}

/* ---- opening and closing ---- */

static int listen_on(int port)
{
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, off = 0;
    bool six = fd >= 0;
    if (!six)
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    struct sockaddr_in6 any6 = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port) };
    struct sockaddr_in any4 = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (six)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    int bound = six ? bind(fd, (struct sockaddr *)&any6, sizeof any6)
                    : bind(fd, (struct sockaddr *)&any4, sizeof any4);
    if (bound == 0 && listen(fd, 1024) == 0)
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static void tables_free(void)
{
    free(server.ranks);
    free(server.members);
    free(server.nodes);
    free(server.polled);
    free(server.polled_of);
}

static int tables_make(int size)
{
    size_t n = (size_t)size, guests = n + MOST_STRANGERS, all = n + guests;
    server.ranks = calloc(all, sizeof *server.ranks);
    server.members = calloc(n, sizeof *server.members);
    server.nodes = calloc(n, sizeof *server.nodes);
    server.polled = calloc(all + 1, sizeof *server.polled);
    server.polled_of = calloc(all + 1, sizeof *server.polled_of);
    if (!server.ranks || !server.members || !server.nodes || !server.polled ||
        !server.polled_of) {
        tables_free();
        return fail(MPI_ERR_OTHER, "out of memory for a store of %d ranks", size);
    }
    server.guests = server.ranks + n;
    server.nguests = (int)guests;
    for (size_t i = 0; i < all; i++)
        server.ranks[i].fd = -1;
    return MPI_SUCCESS;
}

static int thread_start(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&server.thread, NULL, serve, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

int store_server_start(int port, int size, int seconds)
{
    int error = tables_make(size);
    if (error)
        return error;
    server.size = size;
    server.seconds = seconds;
    server.came = server.ready = 0;
    server.listener = listen_on(port);
    if (server.listener < 0) {
        tables_free();
        return fail(MPI_ERR_OTHER,
                    "rank 0 cannot listen on port %d for the other ranks: %s; XMPI_STORE_PORT "
                    "chooses another one, on all ranks",
                    port, strerror(errno));
    }
    error = thread_start();
    if (error) {
        close(server.listener);
        tables_free();
        return fail(MPI_ERR_OTHER, "rank 0 cannot start a thread for the other ranks: %s",
                    strerror(error));
    }
    server.running = true;
    return MPI_SUCCESS;
}

void store_server_stop(void)
{
    if (!server.running)
        return;
    pthread_join(server.thread, NULL);
    server.running = false;
    tables_free();
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A rank's end of the store (store.h): one connection, one question at a time.
 */
#define _GNU_SOURCE 1
#include "runtime/store.h"

#include "runtime/clock.h"
#include "runtime/fail.h"

#include "mpi.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { NAP_US = 50000 };

static int store = -1;
static char place[300]; /* "address, port n", for complaints */

/* A connected socket, or -1 with errno. */
static int connect_once(const struct addrinfo *list)
{
    int error = ECONNREFUSED;
    for (; list; list = list->ai_next) {
        int fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
        if (fd >= 0 && connect(fd, list->ai_addr, list->ai_addrlen) == 0) {
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            return fd;
        }
        error = errno;
        if (fd >= 0)
            close(fd);
    }
    errno = error;
    return -1;
}

int store_connect(const char *address, int port, int seconds)
{
    struct addrinfo *list = NULL, how = { .ai_socktype = SOCK_STREAM };
    char digits[16];
    uint64_t end = clock_ns() + (uint64_t)seconds * 1000000000u;
    snprintf(digits, sizeof digits, "%d", port);
    snprintf(place, sizeof place, "%s, port %d", address, port);
    int error;
    while ((error = getaddrinfo(address, digits, &how, &list)) == EAI_AGAIN && clock_ns() < end)
        usleep(NAP_US);
    if (error)
        return fail(MPI_ERR_OTHER, "MASTER_ADDR=%s: %s", address, gai_strerror(error));
    while ((store = connect_once(list)) < 0 && clock_ns() < end)
        usleep(NAP_US);
    error = errno;
    freeaddrinfo(list);
    return store >= 0
               ? MPI_SUCCESS
               : fail(MPI_ERR_OTHER,
                      "rank 0 cannot be reached at %s within %d s: %s; it is where "
                      "MASTER_ADDR and MASTER_PORT say; XMPI_STORE_PORT changes the port, "
                      "and without RANK in its environment a program runs alone",
                      place, seconds, strerror(error));
}

static int broken(void)
{
    return fail(
        MPI_ERR_OTHER,
        "the connection to rank 0 at %s has broken: it has ended, or did not understand us",
        place);
}

static int write_all(const void *bytes, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t step = send(store, (const char *)bytes + done, n - done, MSG_NOSIGNAL);
        if (step < 0 && errno == EINTR)
            continue;
        if (step <= 0)
            return broken();
        done += (size_t)step;
    }
    return MPI_SUCCESS;
}

static int read_all(void *bytes, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t step = recv(store, (char *)bytes + done, n - done, 0);
        if (step < 0 && errno == EINTR)
            continue;
        if (step <= 0)
            return broken();
        done += (size_t)step;
    }
    return MPI_SUCCESS;
}

static int read_refusal(const struct store_word *word)
{
    char text[STORE_TEXT_CHARS] = "";
    if (word->bytes >= sizeof text || read_all(text, word->bytes))
        return broken();
    return fail(MPI_ERR_OTHER, "%s", text);
}

static int read_answer(enum store_kind kind, struct store_word *got, void *to, size_t room)
{
    int error = read_all(got, sizeof *got);
    if (error)
        return error;
    bool is_store = got->magic == STORE_MAGIC && got->version == STORE_VERSION;
    if (is_store && got->kind == STORE_NO)
        return read_refusal(got);
    if (!is_store || got->kind != (uint32_t)kind || got->bytes > room)
        return fail(MPI_ERR_OTHER, "what answers at %s is no store of this version of xmpi",
                    place);
    return read_all(to, got->bytes);
}

int store_call(const struct store_word *word, const void *payload, enum store_kind answer,
               struct store_word *got, void *to, size_t room)
{
    int error = MPI_SUCCESS;
    if (word) {
        struct store_word full = *word;
        full.magic = STORE_MAGIC;
        full.version = STORE_VERSION;
        error = write_all(&full, sizeof full);
        if (!error && word->bytes)
            error = write_all(payload, word->bytes);
    }
    return error || !answer ? error : read_answer(answer, got, to, room);
}

void store_disconnect(void)
{
    if (store >= 0)
        close(store);
    store = -1;
}

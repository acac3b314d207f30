/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See dial.h.  An address may be nobody's, or a stranger's in a network of the same numbers: what
 * counts is the opening of a launcher within PATIENCE_MS.
 */
#define _GNU_SOURCE 1
#include "launcher/dial.h"

#include "launcher/gather.h"
#include "launcher/out.h"
#include "runtime/clock.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE_MS = 3000, AGAIN_US = 100000 };

static char why_not[200];

static void refused(struct wire *wire, const char *why)
{
    (void)wire;
    snprintf(why_not, sizeof why_not, "%s", why);
}

static const struct wire_user trial = { .lost = refused };

/* "host:port", "[v6]:port" taken apart in place. */
static bool split(char *address, char **host, char **port)
{
    char *colon = strrchr(address, ':');
    if (!colon)
        return false;
    *colon = 0;
    *port = colon + 1;
    *host = address;
    size_t n = strlen(address);
    if (n > 2 && address[0] == '[' && address[n - 1] == ']') {
        address[n - 1] = 0;
        *host = address + 1;
    }
    return true;
}

/* A connected socket, or -1 and why_not. */
static int connect_to(char *address)
{
    char *host, *port;
    struct addrinfo *found,
        how = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM };
    if (!split(address, &host, &port) || getaddrinfo(host, port, &how, &found) != 0) {
        snprintf(why_not, sizeof why_not, "not an address");
        return -1;
    }
    int error = 0, fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    socklen_t bytes = sizeof error;
    if (fd < 0 || (connect(fd, found->ai_addr, found->ai_addrlen) != 0 && errno != EINPROGRESS))
        error = errno;
    freeaddrinfo(found);
    if (!error && poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, PATIENCE_MS) != 1)
        error = ETIMEDOUT;
    if (!error)
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes);
    if (!error)
        return fd;
    snprintf(why_not, sizeof why_not, "%s", strerror(error));
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool answers(struct wire *wire, int fd, int number, const uint8_t *secret)
{
    uint64_t end = clock_ns() + PATIENCE_MS * 1000000ull;
    *wire = (struct wire){ .user = &trial };
    if (wire_open(wire, fd, false, number, secret) != 0) {
        snprintf(why_not, sizeof why_not, "%s", strerror(errno));
        return false;
    }
    while (wire->watch.fd >= 0 && !wire->keyed && clock_ns() < end)
        loop_turn(100);
    if (wire->keyed && wire->watch.fd >= 0)
        return true;
    if (wire->watch.fd >= 0)
        snprintf(why_not, sizeof why_not, "no answer");
    wire_close(wire);
    return false;
}

/* One address after the other; false: *failures says how each has failed. */
static bool dial_all(struct wire *wire, const char *addresses, int number,
                     const uint8_t *secret, char *failures, size_t room)
{
    char *save, *copy = strdup(addresses);
    size_t used = 0;
    bool reached = false;
    *failures = 0;
    for (char *at = copy ? strtok_r(copy, ",", &save) : NULL; at && !reached;
         at = strtok_r(NULL, ",", &save)) {
        char shown[100];
        snprintf(shown, sizeof shown, "%s", at);
        int fd = connect_to(at);
        reached = fd >= 0 && answers(wire, fd, number, secret);
        if (!reached && used < room)
            used += (size_t)snprintf(failures + used, room - used, "%s%s: %s", used ? "; " : "",
                                     shown, why_not);
    }
    free(copy);
    return reached;
}

int dial(struct wire *wire, const struct wire_user *user, const char *addresses, int number,
         const uint8_t *secret)
{
    char failures[1024];
    wire_set_silence(PATIENCE_MS); /* until xmpirun says how long its user's patience is */
    if (dial_all(wire, addresses, number, secret, failures, sizeof failures)) {
        wire->user = user;
        return 0;
    }
    complain("xmpid cannot reach xmpirun at %s", failures);
    return 1;
}

int dial_patiently(struct wire *wire, const struct wire_user *user, const char *addresses,
                   int number, const uint8_t *secret, int seconds)
{
    uint64_t begin = clock_ns(), end = begin + (uint64_t)seconds * 1000000000u;
    char failures[1024];
    bool said = false;
    wire_set_silence(PATIENCE_MS); /* until node 0 says otherwise */
    while (!dial_all(wire, addresses, number, secret, failures, sizeof failures)) {
        uint64_t now = clock_ns();
        if (now >= end) {
            complain("node 0 was not to be reached within %d s at %s; it was not started, has "
                     "ended already, or listens elsewhere (--master-addr, --master-port)",
                     seconds, failures);
            return 1;
        }
        if (!said && now - begin > GATHER_HINT_SECONDS * 1000000000ull) {
            complain(
                "waiting for node 0, which has not been started yet or has ended already, for "
                "%d s at most (XMPI_START_TIMEOUT); at %s",
                seconds, failures);
            said = true;
        }
        usleep(AGAIN_US);
    }
    wire->user = user;
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See doorstep.h.  All hosts that may call, and MOST_STRANGERS, may stand here at a time, each with
 * at most one short frame: who cannot make a right frame is sent away and mentioned once, and so is
 * who has said nothing when all places are taken and another one calls.
 */
#define _GNU_SOURCE 1 /* accept4 */
#include "launcher/doorstep.h"

#include "launcher/out.h"
#include "launcher/tree.h"
#include "runtime/clock.h"
#include "runtime/scarce.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_STRANGERS = 256, MOST_CALLERS = FANOUT_MOST + MOST_STRANGERS };

static struct {
    struct watch watch;
    const uint8_t *secret;
    bool (*adopt)(struct wire *wire, int number);
    struct wire *callers[MOST_CALLERS];
    int most;      /* of them at a time */
    int next;      /* who goes when there is no place; about the one who stands here longest */
    bool told;     /* of a stranger */
    bool full;     /* of open files, and told so */
    uint64_t rest; /* until then, clock_ns, nobody is let in: there are no files; 0: no rest */
    int family, port;
} step;

static void forget(struct wire *wire)
{
    for (int i = 0; i < step.most; i++)
        if (step.callers[i] == wire)
            step.callers[i] = NULL;
}

static void first_frame(struct wire *wire, int kind, struct unpack *payload)
{
    forget(wire);
    if (step.adopt(wire, wire->number))
        wire->user->frame(wire, kind, payload);
    else
        wire_close(wire); /* a second one for the same host */
}

/* The memory stays: wires of strangers are few, and their handler is still at work. */
static void stranger_left(struct wire *wire, const char *why)
{
    forget(wire);
    if (!step.told)
        complain("refused a connection to the launcher's port: %s", why);
    step.told = true;
}

static const struct wire_user stranger = { .frame = first_frame, .lost = stranger_left };

static int place_for_caller(void)
{
    for (int slot = 0; slot < step.most; slot++)
        if (!step.callers[slot])
            return slot;
    int slot = step.next;
    struct wire *silent = step.callers[slot];
    step.next = (slot + 1) % step.most;
    wire_close(silent);
    stranger_left(silent, "it has said nothing, and others have called");
    return slot;
}

static void rest(void)
{
    if (!step.full)
        complain("cannot answer a host that calls: %s (ulimit -n)", strerror(errno));
    step.full = true;
    step.rest = clock_ns() + SCARCE_REST_MS * 1000000ull;
    loop_set(&step.watch, 0);
}

void doorstep_wake(void)
{
    if (!step.rest || clock_ns() < step.rest)
        return;
    step.rest = 0;
    loop_set(&step.watch, EPOLLIN);
}

static void called(struct watch *watch, uint32_t events)
{
    (void)events;
    int fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        if (is_scarce(errno))
            rest();
        return;
    }
    struct wire *wire = calloc(1, sizeof *wire);
    if (!wire)
        abort();
    int slot = place_for_caller();
    wire->user = &stranger;
    if (wire_open(wire, fd, true, 0, step.secret) == 0)
        step.callers[slot] = wire;
}

static int listening_socket(int family, int port)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), off = 0, on = 1;
    struct sockaddr_storage any = { .ss_family = (sa_family_t)family };
    socklen_t bytes =
        family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    if (family == AF_INET6)
        ((struct sockaddr_in6 *)&any)->sin6_port = htons((uint16_t)port);
    else
        ((struct sockaddr_in *)&any)->sin_port = htons((uint16_t)port);
    if (fd >= 0 && family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (fd >= 0 && port) /* the program may want the port while our connections live */
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&any, bytes) == 0 && listen(fd, 128) == 0) {
        getsockname(fd, (struct sockaddr *)&any, &bytes);
        step.family = family;
        step.port = ntohs(family == AF_INET6 ? ((struct sockaddr_in6 *)&any)->sin6_port
                                             : ((struct sockaddr_in *)&any)->sin_port);
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

int doorstep_open(const uint8_t *secret, int port, int hosts,
                  bool (*adopt)(struct wire *wire, int number))
{
    int fd = listening_socket(AF_INET6, port);
    if (fd < 0)
        fd = listening_socket(AF_INET, port);
    step.secret = secret;
    step.adopt = adopt;
    step.most = (hosts < FANOUT_MOST ? hosts : FANOUT_MOST) + MOST_STRANGERS;
    step.watch = (struct watch){ .fd = fd, .ready = called };
    if (fd >= 0 && loop_add(&step.watch, EPOLLIN))
        return 0;
    complain("cannot listen for other hosts%s: %s%s", port ? " on --master-port" : "",
             strerror(errno), files_remedy(errno));
    return 1;
}

void doorstep_shut(void)
{
    loop_drop(&step.watch);
    if (step.watch.fd >= 0)
        close(step.watch.fd);
    step.watch.fd = -1;
    for (int i = 0; i < step.most; i++) {
        wire_close(step.callers[i]);
        free(step.callers[i]);
        step.callers[i] = NULL;
    }
}

/* ---- where we are ---- */

static void add_address(FILE *to, const struct sockaddr *address)
{
    char text[INET6_ADDRSTRLEN];
    const char *comma = ftell(to) ? "," : "";
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
        inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
        fprintf(to, "%s%s:%d", comma, text, step.port);
    } else if (address->sa_family == AF_INET6 && step.family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
        if (IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr))
            return; /* it means nothing on another host */
        inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
        fprintf(to, "%s[%s]:%d", comma, text, step.port);
    }
}

static void add_addresses(FILE *to, const struct ifaddrs *list, bool loopback)
{
    for (; list; list = list->ifa_next)
        if (list->ifa_addr && list->ifa_flags & IFF_UP &&
            !(list->ifa_flags & IFF_LOOPBACK) == !loopback)
            add_address(to, list->ifa_addr);
}

const char *doorstep_addresses(void)
{
    static char *text;
    size_t bytes;
    struct ifaddrs *list = NULL;
    if (text)
        return text;
    FILE *to = open_memstream(&text, &bytes);
    if (!to)
        abort();
    if (getifaddrs(&list) == 0) {
        add_addresses(to, list, false);
        add_addresses(to, list, true);
        freeifaddrs(list);
    }
    if (fclose(to) != 0)
        abort();
    return text;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See pulse.h.  One timer for all pulses of this process.
 */
#define _GNU_SOURCE 1
#include "launcher/pulse.h"

#include "launcher/loop.h"
#include "runtime/clock.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

struct pulse {
    int fd;
    void *owner;
    void (*beat)(void *owner, bool silent);
    int silent_ms; /* nothing has come for so long although it should have */
    struct pulse *next;
};

static struct {
    struct watch timer;
    struct pulse *first;
    struct pulse *next; /* after the one whose beat is under way */
    uint64_t looked_ns;
    int limit_ms; /* 0: none */
    bool limited; /* somebody has said so */
    bool open;
} pulses = { .limit_ms = 1000 };

int pulse_limit(void)
{
    const char *wish = getenv("XMPI_HOST_TIMEOUT");
    if (pulses.limited || !wish || !*wish)
        return pulses.limit_ms;
    char *end;
    double seconds = strtod(wish, &end);
    if (*end || !(seconds >= 0 && seconds <= 1e6))
        return -1;
    int ms = (int)(seconds * 1000);
    return ms + (ms < seconds * 1000); /* upwards: little is not never */
}

void pulse_set_limit(int ms)
{
    pulses.limit_ms = ms;
    pulses.limited = true;
}

/* A late look counts for two at most: for the rest of the time we may have been stopped.  What was
 * acknowledged before counts as it should: its age is the time since then. */
int pulse_judge(int before_ms, int elapsed_ms, const struct pulse_seen *seen)
{
    int ran = elapsed_ms < 2 * PULSE_MS ? elapsed_ms : 2 * PULSE_MS;
    int silent = before_ms + ran;
    if (!seen->asked)
        return 0;
    return silent < seen->age_ms ? silent : seen->age_ms;
}

/* A window of 0 is asked about by probes of the kernel, which come more and more rarely. */
static bool look(int fd, struct pulse_seen *seen)
{
    struct tcp_info info;
    socklen_t bytes = sizeof info;
    memset(&info, 0, sizeof info);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0)
        return false;
    uint32_t age = info.tcpi_last_ack_recv < info.tcpi_last_data_recv
                       ? info.tcpi_last_ack_recv
                       : info.tcpi_last_data_recv;
    seen->asked = info.tcpi_unacked || info.tcpi_probes;
    seen->age_ms = age < 1u << 30 ? (int)age : 1 << 30;
    return true;
}

static void beat(struct pulse *pulse, int elapsed_ms)
{
    struct pulse_seen seen;
    pulse->silent_ms =
        look(pulse->fd, &seen) ? pulse_judge(pulse->silent_ms, elapsed_ms, &seen) : 0;
    pulse->beat(pulse->owner, pulses.limit_ms && pulse->silent_ms >= pulses.limit_ms);
}

static void beat_all(struct watch *watch, uint32_t events)
{
    uint64_t times, now = clock_ns(), elapsed = (now - pulses.looked_ns) / 1000000u;
    (void)events;
    if (read(watch->fd, &times, sizeof times) != (ssize_t)sizeof times)
        return;
    pulses.looked_ns = now;
    for (struct pulse *at = pulses.first; at; at = pulses.next) {
        pulses.next = at->next;
        beat(at, elapsed < 1u << 30 ? (int)elapsed : 1 << 30);
    }
}

static void open_timer(void)
{
    struct timespec period = { .tv_nsec = PULSE_MS * 1000000 };
    struct itimerspec spec = { period, period };
    pulses.open = true;
    pulses.looked_ns = clock_ns();
    pulses.timer =
        (struct watch){ .fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
                        .ready = beat_all };
    if (pulses.timer.fd >= 0 && timerfd_settime(pulses.timer.fd, 0, &spec, NULL) == 0)
        loop_add(&pulses.timer, EPOLLIN);
}

struct pulse *pulse_begin(int fd, void *owner, void (*then)(void *owner, bool silent))
{
    int on = 1;
    struct pulse *pulse = malloc(sizeof *pulse);
    if (!pulse)
        abort();
    /* What is lost is sent again at a steady pace, so that a short gap does not grow. */
    setsockopt(fd, IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, &on, sizeof on);
    if (!pulses.open)
        open_timer();
    *pulse = (struct pulse){ .fd = fd, .owner = owner, .beat = then, .next = pulses.first };
    pulses.first = pulse;
    return pulse;
}

void pulse_end(struct pulse *pulse)
{
    struct pulse **at = &pulses.first;
    if (!pulse)
        return;
    while (*at != pulse)
        at = &(*at)->next;
    *at = pulse->next;
    if (pulses.next == pulse)
        pulses.next = pulse->next;
    free(pulse);
}

/* ---- our own side ---- */

static bool is_same(const struct sockaddr *a, const struct sockaddr *b)
{
    const struct sockaddr_in6 *a6 = (const struct sockaddr_in6 *)a;
    const struct sockaddr_in6 *b6 = (const struct sockaddr_in6 *)b;
    const struct in_addr *a4 = &((const struct sockaddr_in *)a)->sin_addr;
    const struct in_addr *b4 = &((const struct sockaddr_in *)b)->sin_addr;
    if (!a || !b)
        return false;
    if (b->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&b6->sin6_addr) &&
        a->sa_family == AF_INET)
        return memcmp(a4, &b6->sin6_addr.s6_addr[12], sizeof *a4) == 0;
    if (a->sa_family != b->sa_family)
        return false;
    if (a->sa_family == AF_INET6)
        return memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof a6->sin6_addr) == 0;
    return a->sa_family == AF_INET && a4->s_addr == b4->s_addr;
}

/* The interface with the address of our end when it does not run; "" otherwise. */
static void broken_interface(int fd, char name[IF_NAMESIZE])
{
    struct sockaddr_storage own;
    struct ifaddrs *list = NULL;
    socklen_t bytes = sizeof own;
    *name = 0;
    if (getsockname(fd, (struct sockaddr *)&own, &bytes) != 0 || getifaddrs(&list) != 0)
        return;
    for (struct ifaddrs *at = list; at; at = at->ifa_next)
        if (is_same(at->ifa_addr, (struct sockaddr *)&own) &&
            (at->ifa_flags & (IFF_UP | IFF_RUNNING)) != (IFF_UP | IFF_RUNNING))
            snprintf(name, IF_NAMESIZE, "%s", at->ifa_name);
    freeifaddrs(list);
}

void pulse_explain(const struct pulse *pulse, char *text, size_t room)
{
    char name[IF_NAMESIZE];
    int n = snprintf(text, room, "its kernel has not answered for %.1f s (XMPI_HOST_TIMEOUT)",
                     pulse->silent_ms / 1000.0);
    broken_interface(pulse->fd, name);
    if (*name && n > 0 && (size_t)n < room)
        snprintf(text + n, room - (size_t)n, ": the interface %s here is down", name);
}

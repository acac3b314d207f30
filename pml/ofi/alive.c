/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections of the provider whose other end is gone without a word to us: it was reset, by a firewall or over
 * a cable that was pulled.  Who waits for an answer over one (the data of a read, or to be let in) sends nothing
 * more, so TCP does not notice; and a provider that has a connection, or is making one, refuses another one from
 * that peer.  Providers ask for no sign of life, so where a peer stands still we tell the kernel to, for all their
 * connections.  A kernel that knows nothing of one says so, which the provider sees as any broken connection; that
 * of a process that computes answers for it.
 */
#include "pml/ofi/trunk.h"

#include "pml/ofi/select.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

bool alive_ask(int s, int seconds)
{
    int on = 1, most = 127;
    return setsockopt(s, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds) == 0 &&
           setsockopt(s, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof seconds) == 0 &&
           setsockopt(s, IPPROTO_TCP, TCP_KEEPCNT, &most, sizeof most) == 0 &&
           setsockopt(s, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on) == 0;
}

/* The same address and port? */
static bool address_is(const struct sockaddr_storage *found, const unsigned char *address)
{
    struct sockaddr_storage wanted = { 0 };
    memcpy(&wanted, address, NIC_ADDRESS_BYTES);
    if (found->ss_family != wanted.ss_family)
        return false;
    const struct sockaddr_in *a = (const void *)found, *b = (const void *)&wanted;
    const struct sockaddr_in6 *c = (const void *)found, *d = (const void *)&wanted;
    if (found->ss_family == AF_INET)
        return a->sin_port == b->sin_port && a->sin_addr.s_addr == b->sin_addr.s_addr;
    return found->ss_family == AF_INET6 && c->sin6_port == d->sin6_port &&
           memcmp(&c->sin6_addr, &d->sin6_addr, sizeof c->sin6_addr) == 0;
}

/* Did we connect to a peer, or somebody to us? */
static bool is_provider_s(int s)
{
    struct sockaddr_storage here = { 0 }, there = { 0 };
    socklen_t n = sizeof here, m = sizeof there;
    if (getpeername(s, (struct sockaddr *)&there, &m) != 0 ||
        getsockname(s, (struct sockaddr *)&here, &n) != 0)
        return false;
    for (int i = 0; i < nnics; i++)
        if (address_is(&here, nics[i].address))
            return true;
    for (const struct trunk *trunk = trunks; trunk; trunk = trunk->next)
        for (int i = 0; trunk->state == TRUNK_OPEN && i < trunk->card.nnics; i++)
            if (address_is(&there, trunk->card.address[i]))
                return true;
    return false;
}

static bool is_asked(int s)
{
    int on = 0;
    socklen_t bytes = sizeof on;
    return getsockopt(s, SOL_SOCKET, SO_KEEPALIVE, &on, &bytes) != 0 || on;
}

/* Another thread of the program may close the descriptor, and its number be another file's then; a copy stays what
 * it is. */
static void descriptor_look(int fd, int seconds)
{
    int s = !is_asked(fd) && is_provider_s(fd) ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (s < 0)
        return;
    if (is_provider_s(s))
        alive_ask(s, seconds);
    close(s);
}

void connections_ask(int seconds)
{
    DIR *all = provider_is_of_tcp(nics[0].info->fabric_attr->prov_name)
                   ? opendir("/proc/self/fd")
                   : NULL;
    if (!all)
        return;
    for (const struct dirent *one; (one = readdir(all)) != NULL;)
        if (one->d_name[0] != '.')
            descriptor_look(atoi(one->d_name), seconds);
    closedir(all);
}

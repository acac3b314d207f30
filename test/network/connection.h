/* SPDX-License-Identifier: BSD-3-Clause
 *
 * TCP connections of this process, and how to have the kernel reset one.
 */
#ifndef XMPI_TEST_CONNECTION_H
#define XMPI_TEST_CONNECTION_H

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

/* The connection behind a descriptor; 0: it is none.  The cookie says that it is this one: without it the
 * kernel takes a connection that is over for the socket that listens at its port. */
static inline int connection_of(int fd, struct inet_diag_sockid *id)
{
    struct sockaddr_in here, there;
    socklen_t n = sizeof here, m = sizeof there, k = sizeof(uint64_t);
    uint64_t cookie;
    if (getsockname(fd, (struct sockaddr *)&here, &n) != 0 || here.sin_family != AF_INET ||
        getpeername(fd, (struct sockaddr *)&there, &m) != 0 ||
        getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &k) != 0)
        return 0;
    *id = (struct inet_diag_sockid){ .idiag_sport = here.sin_port,
                                     .idiag_dport = there.sin_port,
                                     .idiag_src = { here.sin_addr.s_addr },
                                     .idiag_dst = { there.sin_addr.s_addr },
                                     .idiag_cookie = { (uint32_t)cookie,
                                                       (uint32_t)(cookie >> 32) } };
    return 1;
}

/* As if a router had said so, to both ends.  Needs privileges: 0 where we have none. */
static inline int reset(const struct inet_diag_sockid *id)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 what;
    } order = { .head = { .nlmsg_len = sizeof order,
                          .nlmsg_type = SOCK_DESTROY,
                          .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
                .what = { .sdiag_family = AF_INET,
                          .sdiag_protocol = IPPROTO_TCP,
                          .idiag_states = ~0u,
                          .id = *id } };
    struct {
        struct nlmsghdr head;
        struct nlmsgerr error;
        char rest[256];
    } answer = { .error.error = -1 };
    int kernel = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (send(kernel, &order, sizeof order, 0) == sizeof order)
        recv(kernel, &answer, sizeof answer, 0);
    close(kernel);
    return answer.head.nlmsg_type == NLMSG_ERROR && answer.error.error == 0;
}

#endif

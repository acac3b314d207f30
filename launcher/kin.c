/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See kin.h.
 */
#include "launcher/kin.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEAD = offsetof(struct kin_message, text) };

union control { /* room for one descriptor, aligned */
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static void attach(struct msghdr *to, union control *control, int fd)
{
    memset(control, 0, sizeof *control);
    to->msg_control = control->bytes;
    to->msg_controllen = sizeof control->bytes;
    control->head = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
                                      .cmsg_type = SCM_RIGHTS,
                                      .cmsg_len = CMSG_LEN(sizeof fd) };
    memcpy(CMSG_DATA(&control->head), &fd, sizeof fd);
}

int kin_send(int socket, const struct kin_message *message, int fd, bool now)
{
    union control control;
    struct iovec piece = { (void *)message, HEAD + message->bytes };
    struct msghdr all = { .msg_iov = &piece, .msg_iovlen = 1 };
    if (fd >= 0)
        attach(&all, &control, fd);
    ssize_t n;
    do
        n = sendmsg(socket, &all, MSG_NOSIGNAL | (now ? MSG_DONTWAIT : 0));
    while (n < 0 && errno == EINTR);
    return n < 0 ? -1 : 0;
}

int kin_say(int socket, enum kin_kind kind, int number, int code, const char *text)
{
    struct kin_message message = { .kind = (int)kind, .number = number, .code = code };
    message.bytes = text ? strnlen(text, KIN_TEXT) : 0;
    if (text)
        memcpy(message.text, text, message.bytes);
    return kin_send(socket, &message, -1, true);
}

int kin_receive(int socket, struct kin_message *message, int *fd, bool now)
{
    union control control;
    struct iovec piece = { message, HEAD + KIN_TEXT };
    struct msghdr all = { .msg_iov = &piece,
                          .msg_iovlen = 1,
                          .msg_control = control.bytes,
                          .msg_controllen = sizeof control.bytes };
    ssize_t n;
    do
        n = recvmsg(socket, &all, MSG_CMSG_CLOEXEC | (now ? MSG_DONTWAIT : 0));
    while (n < 0 &&
           (errno == EINTR || errno == ECONNRESET)); /* last words come after a reset */
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return 0;
    if (n < (ssize_t)HEAD)
        return -1;
    message->bytes = (size_t)n - HEAD;
    message->text[message->bytes] = 0;
    *fd = -1;
    const struct cmsghdr *came = CMSG_FIRSTHDR(&all);
    if (came && came->cmsg_type == SCM_RIGHTS)
        memcpy(fd, CMSG_DATA(came), sizeof *fd);
    return 1;
}

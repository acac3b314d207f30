/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Connections whose one end is gone without a word to the other, as when a firewall has reset it: rank 1 has
 * asked for pieces of a long message and waits for them, and hears of no reset.   silent seconds
 */
#define _GNU_SOURCE
#include "test/conform/check.h"
#include "test/network/connection.h"

#include <linux/filter.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FDS = 64, BYTES = 2 << 20, ROUNDS = 3, PAUSE_US = 300000 };

static int reset_all(void)
{
    struct inet_diag_sockid id;
    int n = 0;
    for (int fd = 3; fd < FDS; fd++)
        n += connection_of(fd, &id) && reset(&id);
    return n;
}

/* Let nobody say that a connection is reset, or let them again. */
static void be_deaf_to_resets(int yes)
{
    struct sock_filter lines[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13), /* flags of TCP */
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, TH_RST, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, ~0u),
    };
    struct sock_fprog filter = { sizeof lines / sizeof lines[0], lines };
    struct inet_diag_sockid id;
    for (int fd = 3; fd < FDS; fd++)
        if (connection_of(fd, &id))
            setsockopt(fd, SOL_SOCKET, yes ? SO_ATTACH_FILTER : SO_DETACH_FILTER, &filter,
                       sizeof filter);
}

static void *hears_again(void *nothing)
{
    usleep(2 * PAUSE_US);
    be_deaf_to_resets(0);
    return nothing;
}

static void message_send(int round, unsigned char *data)
{
    MPI_Request request;
    memset(data, round + 1, BYTES);
    MPI_Isend(data, BYTES, MPI_BYTE, 1, round, MPI_COMM_WORLD, &request);
    usleep(PAUSE_US); /* until rank 1 has asked for it, and nobody has answered */
    if (round > 0 && reset_all() == 0)
        printf("skip: no right to reset connections\n");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void message_receive(int round, unsigned char *data)
{
    pthread_t thread;
    memset(data, 0, BYTES);
    be_deaf_to_resets(1);
    CHECK(pthread_create(&thread, NULL, hears_again, NULL) == 0);
    MPI_Recv(data, BYTES, MPI_BYTE, 0, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
    for (int i = 0; i < BYTES; i++)
        CHECK(data[i] == round + 1);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank = world_rank();
    double most = argc > 1 ? atof(argv[1]) : 10;
    unsigned char *data = malloc(BYTES);
    for (int round = 0; round < ROUNDS; round++) {
        double begin = MPI_Wtime();
        if (rank == 0)
            message_send(round, data);
        else if (rank == 1)
            message_receive(round, data);
        CHECK(MPI_Wtime() - begin < most);
    }
    free(data);
    return check_done();
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What streams of the pretended driver hold, for fake_queue.c and fake_graph.c.
 */
#ifndef FAKE_QUEUE_H
#define FAKE_QUEUE_H

#include "fake_inside.h"
#include "fake_ptx.h"

#include <pthread.h>

enum what { COPY, KERNEL, PTX, HOST_FUNCTION, RECORD, WAIT_MARK, WAIT_VALUE, WRITE_VALUE };

struct command {
    struct command *next;
    enum what what;
    struct cuda_copy_2d rows;
    struct ptx_launch launch;
    void (*function)(void *);
    void *argument;
    struct fake_mark *mark;
    uint32_t *word;
    uint32_t number; /* of the mark's record, or the value of the word */
};

/* What is put into a captured stream.  One stream at a time is captured. */
struct graph {
    struct command *first, **last;
    cuda_stream stream;
    pthread_t owner;
    int mode;
    bool spoilt;
};
extern struct graph *fake_captured; /* NULL: none */
extern pthread_mutex_t fake_queue_lock;

bool fake_is_queue(cuda_stream stream);
cuda_result fake_queue_add(cuda_stream stream, const struct command *command);

/* Under the lock: the command becomes the graph's. */
cuda_result fake_captured_add(struct command *command);

#endif

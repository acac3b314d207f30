/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two threads whose calls meet until their engines part: threads_part() before what is tested.
 */
#ifndef XMPI_TEST_PARTING_H
#define XMPI_TEST_PARTING_H

#include "runtime/lock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

static atomic_bool parted;

static void *meet_others(void *engine)
{
    while (!parted) {
        if (engine_take_solo((int)(intptr_t)engine))
            parted = true;
        nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL); /* with the lock */
        engine_leave();
    }
    return NULL;
}

static void threads_part(void)
{
    pthread_t threads[2];
    parted = false;
    threads_of_program(THREADS_MANY);
    engines_open(ENGINES);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, meet_others, (void *)(intptr_t)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Notices: things that a tool may want to hear of while they happen, from rooms that know nothing
 * of tools.  Where nobody listens a notice costs one load and a predicted branch.
 *
 *     if (notice_is_wanted(NOTICE_SLEEP))
 *         notice_give(NOTICE_SLEEP, (int64_t[]){ waited_ns });
 *
 * Whoever gives one may be in the middle of something: the listener looks and returns; it does
 * not come back into the library.
 */
#ifndef XMPI_NOTICE_H
#define XMPI_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

enum notice {
    NOTICE_UNEXPECTED, /* a message without a receive: source, tag, bytes */
    NOTICE_PLAN,       /* an algorithm was chosen: its index, bytes, ranks */
    NOTICE_SLEEP,      /* a wait goes to sleep: nanoseconds since it stopped spinning */
    NOTICES
};
_Static_assert(NOTICES <= 32, "which are wanted is a word of bits");

typedef void notice_listener(enum notice what, const int64_t *values);

extern uint32_t notices_wanted; /* one bit each; change it by notices_listen */

/* Hear of the notices whose bits are set.  Under the engine lock. */
void notices_listen(uint32_t wanted, notice_listener *listener);

static inline bool notice_is_wanted(enum notice what)
{
    uint32_t wanted = __atomic_load_n(&notices_wanted, __ATOMIC_RELAXED);
    return __builtin_expect(wanted >> what & 1, 0);
}

void notice_give(enum notice what, const int64_t *values) __attribute__((cold));

#endif

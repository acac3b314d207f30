/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One listener for all notices.  It is asked for under the engine lock, so that a thread that
 * stops listening can be sure that nothing is told any more when it returns.
 */
#include "runtime/notice.h"

#include "runtime/lock.h"

#include <stddef.h>

uint32_t notices_wanted;
static notice_listener *told;

void notices_listen(uint32_t wanted, notice_listener *listener)
{
    told = listener;
    __atomic_store_n(&notices_wanted, wanted, __ATOMIC_RELAXED);
}

void notice_give(enum notice what, const int64_t *values)
{
    bool guarded = engine_guard();
    if (notices_wanted >> what & 1)
        told(what, values);
    engine_unguard(guarded);
}

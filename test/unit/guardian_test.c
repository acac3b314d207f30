/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Launch agents where there is no memory for a list of them.
 */
#include "launcher/agent.h"
#include "launcher/guard.h"

#include "test/unit/unit.h"

#include <sys/resource.h>

START_TEST(without_a_list_no_agent_is_in_it)
{
    static struct agent agents[2];
    setrlimit(RLIMIT_AS, &(struct rlimit){ 0, 0 });
    ck_assert_int_ne(agents_end_with_us(agents, 2), 0);
    ck_assert_ptr_null(guard_agent_group(1));
    agent_close(&agents[1]);
}
END_TEST

UNIT_MAIN("guardian", without_a_list_no_agent_is_in_it)

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A plan that stays bound to a call, to be performed again with other buffers and lists in their places: collectives
 * that come again and again (repeat.h), of which asking, choosing and binding are half of the time otherwise.
 */
#ifndef XMPI_REPLAY_H
#define XMPI_REPLAY_H

struct call;
struct choice;
struct replay;
struct team;
struct telling;

/* Bind the plan of this choice to the call, which stays where it is.  NULL: its rooms are not just the buffers and
 * lists of the call, or how long blocks are has to be found out each time; or memory is out. */
struct replay *replay_new(struct team *team, const struct call *call,
                          const struct choice *choice);
void replay_free(struct replay *replay);

/* Perform it, blocking, with the buffers and lists that the call names now. */
int replay_run(struct replay *replay, struct team *team, const struct telling *telling);

#endif

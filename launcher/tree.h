/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tree of launchers: who starts whom.  Pure functions of the number of hosts.
 *
 *     11 hosts, 3 each:      xmpirun
 *                     0        4        8
 *                   1 2 3    5 6 7    9   10       each is followed by those below it
 *
 * The hosts below somebody are a row of numbers.  It is cut into at most `fanout` parts of the same
 * length; the first host of a part is started, and starts the rest of it.
 */
#ifndef XMPI_LAUNCHER_TREE_H
#define XMPI_LAUNCHER_TREE_H

enum { FANOUT = 32, FANOUT_MOST = 1024 };

/* How many hosts are started directly where n are below. */
int tree_parts(int n, int fanout);

/* Where part i of them begins; part tree_parts(n, fanout) would begin at n. */
int tree_part(int n, int fanout, int i);

/* Levels below: 0 for no hosts, 1 when all are started directly. */
int tree_height(int n, int fanout);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which hosts the job may use.
 */
#ifndef XMPI_LAUNCHER_HOSTS_H
#define XMPI_LAUNCHER_HOSTS_H

#include "launcher/cli.h"

/* The hosts of -host and -hostfile, or else of the batch system, or else this machine: in order,
 * each once, slots added up.  *hosts is malloced.  0, or an exit status after a complaint. */
int hosts_find(const struct options *options, struct host **hosts, int *nhosts);

/* Does the name mean this machine? */
bool host_is_local(const char *name);

/* ---- for those who read lists of hosts ---- */

struct host_list {
    struct host *hosts;
    int n, room;
    int *table; /* by name: number + 1 */
};

/* What a list says of a name; 0: nothing. */
struct host_words {
    int slots, max_slots;
};

/* Add "n[1-4]:2,b": all names of a text.  `words` holds for each; a number after a name's colon
 * stands for slots that the words do not say.  `where` is what complaints begin with ("file:3"). */
int hosts_add(struct host_list *list, const char *text, struct host_words words,
              const char *where);

/* The host with this name in the list; NULL: none. */
struct host *hosts_named(const struct host_list *list, const char *name);

void hosts_free(struct host_list *list);

/* Read a host file, see hostfile.c.  `each`: slots of a name without a number; 0: not said. */
int hostfile_read(struct host_list *list, const char *path, int each);

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpi doctor: what keeps jobs on these hosts from running, or from running fast.
 */
#ifndef XMPI_TOOLS_DOCTOR_H
#define XMPI_TOOLS_DOCTOR_H

#include "tools/finding.h"

/* argv[0] is "doctor".  Returns the exit code. */
int doctor_main(int argc, char **argv);

struct visit {         /* how the hosts are reached */
    const char *hosts; /* "a,b"; NULL: this one */
    const char *agent; /* NULL: xmpirun's own choice */
    char *self, *launcher;
};

/* The findings of each host, one after the other as listed; hosts that cannot be reached are
 * findings themselves.  False: not all could be. */
bool doctor_visit(const struct visit *visit, struct findings *findings);

/* A small job over all hosts, which sends messages and compares them. */
void doctor_talk(const struct visit *visit, struct findings *findings);

/* The job's program: argv[0] is "doctor-rank". */
int doctor_rank_main(int argc, char **argv);

#endif

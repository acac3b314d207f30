/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A launch agent: a command of the user's, ssh as a rule, that starts xmpid on another host.
 */
#ifndef XMPI_LAUNCHER_AGENT_H
#define XMPI_LAUNCHER_AGENT_H

#include "launcher/loop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define AGENT_DEFAULT "ssh -x -o BatchMode=yes {host} {cmd}"

struct agent {
    pid_t pid;  /* 0: not started, or reaped */
    int input;  /* its stdin, open as long as it is to live */
    int status; /* as from waitpid, once ended */
    bool ended;
    uint64_t ended_ns;   /* clock_ns */
    struct watch output; /* its stdout and stderr; fd -1: not started, or at the end */
    char said[600];      /* the end of what it has said */
    size_t nsaid;
};

/* The template that applies where the command line has none: XMPI_LAUNCH_AGENT, the batch system's,
 * or AGENT_DEFAULT. */
const char *agent_usual(void);

/* The command line for /bin/sh: {host} and {cmd} of the template filled in; malloced.  NULL after a
 * complaint: a host name that a shell would not take as a word, or no {cmd}. */
char *agent_command(const char *template, const char *host, const char *cmd);

/* Raise the limit of open files for so many agents, and the connections to what they start. */
void agents_need_files(int n);

/* Run it and give it this line on its stdin.  0, or an exit status after a complaint. */
int agent_start(struct agent *agent, const char *command, const char *line);

/* Its last words in one line, "" for none. */
const char *agent_words(struct agent *agent);

bool agent_ended_well(const struct agent *agent);

/* "exited with code 255", "was killed by signal 9 (Killed)" */
void agent_ending(const struct agent *agent, char *text, size_t room);

/* Before they are started: from now on a signal that ends us before the job begins ends these, too, with all they
 * have started here: the kernel would end the agents alone.  0, or an exit status after a complaint. */
int agents_end_with_us(struct agent *list, int n);

/* It has been reaped. */
void agent_died(struct agent *agent, int wait_status);

void agent_close(struct agent *agent); /* and end it, if it has not ended */
void agents_over(void); /* all are closed, and nobody needs to see to them any more */

#endif

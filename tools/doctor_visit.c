/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Visiting hosts: xmpirun starts `xmpi doctor --lines` on each, several at a time, and what comes
 * back is read into findings.  What xmpirun and its agent say instead, when they fail, is the
 * finding.  xmpirun itself waits at most a minute for a host, so nothing here waits for ever.
 */
#define _GNU_SOURCE 1 /* strdup, strsep */
#include "tools/doctor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AT_A_TIME = 32, MOST_ARGUMENTS = 16 };

struct errand {
    char *host;
    pid_t child; /* 0: not started */
    FILE *said;  /* stdout and stderr */
};

/* ---- one xmpirun ---- */

/* Start xmpirun with these arguments after what all visits have; false: not possible. */
static bool errand_start(struct errand *errand, const struct visit *visit,
                         char *const *arguments)
{
    char *argv[MOST_ARGUMENTS] = { visit->launcher, (char *)"--timeout", (char *)"100" };
    int n = 3;
    if (visit->agent) {
        argv[n++] = (char *)"--launch-agent";
        argv[n++] = (char *)visit->agent;
    }
    for (; *arguments; arguments++)
        argv[n++] = *arguments;
    errand->said = tmpfile();
    errand->child = errand->said ? fork() : -1;
    if (errand->child == 0) {
        dup2(fileno(errand->said), STDOUT_FILENO);
        dup2(fileno(errand->said), STDERR_FILENO);
        execv(argv[0], argv);
        perror(argv[0]);
        _exit(127);
    }
    return errand->child > 0;
}

/* Its exit status as from waitpid; 0 is good. */
static int errand_wait(struct errand *errand)
{
    int status = 1;
    while (waitpid(errand->child, &status, 0) < 0)
        if (errno != EINTR)
            return 1;
    return status;
}

/* Read what it said: findings, and the rest into `words`. */
static int errand_read(struct errand *errand, struct findings *findings, char *words,
                       size_t room)
{
    char line[sizeof(struct finding)];
    size_t used = 0;
    int n = 0;
    *words = '\0';
    rewind(errand->said);
    while (fgets(line, sizeof line, errand->said)) {
        if (finding_read(findings, line, errand->host))
            n++;
        else if (used + strlen(line) < room)
            used += (size_t)snprintf(words + used, room - used, "%s", line);
    }
    fclose(errand->said);
    return n;
}

/* ---- each host ---- */

static bool judge_visit(struct errand *errand, struct findings *findings)
{
    char words[FINDING_TEXT] = "";
    int status = errand->child > 0 ? errand_wait(errand) : 1;
    int n = errand->said ? errand_read(errand, findings, words, sizeof words) : 0;
    if (n > 0 && status == 0)
        return true;
    finding_add(findings, FINDING_BAD, "host",
                "make the launch agent start a command there without a password; xmpi must lie "
                "at the same place",
                "%s cannot be used: %s", errand->host, *words ? words : "no answer");
    return false;
}

static bool visit_some(struct errand *errands, int n, const struct visit *visit,
                       struct findings *findings)
{
    bool all = true;
    for (int i = 0; i < n; i++) {
        char *arguments[] = { (char *)"-H", errands[i].host,  (char *)"-np",     (char *)"1",
                              visit->self,  (char *)"doctor", (char *)"--lines", NULL };
        errand_start(&errands[i], visit, arguments);
    }
    for (int i = 0; i < n; i++)
        all &= judge_visit(&errands[i], findings);
    return all;
}

/* "a:4,b" names the hosts a and b; what follows a colon are slots, unless it is an address. */
static void forget_slots(char *host)
{
    char *colon = strrchr(host, ':');
    if (colon && strchr(host, ':') == colon)
        *colon = '\0';
}

bool doctor_visit(const struct visit *visit, struct findings *findings)
{
    struct errand errands[AT_A_TIME];
    char *list = strdup(visit->hosts), *rest = list;
    bool all = list != NULL;
    for (int n = 0; rest;) {
        char *host = strsep(&rest, ",");
        forget_slots(host);
        if (*host)
            errands[n++] = (struct errand){ .host = host };
        if (n && (n == AT_A_TIME || !rest)) {
            all &= visit_some(errands, n, visit, findings);
            n = 0;
        }
    }
    free(list);
    return all;
}

/* ---- all hosts together ---- */

void doctor_talk(const struct visit *visit, struct findings *findings)
{
    char words[FINDING_TEXT] = "";
    bool several = visit->hosts && strchr(visit->hosts, ',');
    char *here[] = { (char *)"-np", (char *)"2", visit->self, (char *)"doctor-rank", NULL };
    char *there[] = { (char *)"-H",
                      (char *)visit->hosts,
                      (char *)"-ppn",
                      several ? (char *)"1" : (char *)"2",
                      visit->self,
                      (char *)"doctor-rank",
                      NULL };
    struct errand errand = { 0 };
    errand_start(&errand, visit, visit->hosts ? there : here);
    int status = errand.child > 0 ? errand_wait(&errand) : 1;
    int n = errand.said ? errand_read(&errand, findings, words, sizeof words) : 0;
    if (n == 0 || status != 0)
        finding_add(findings, FINDING_BAD, "messages",
                    visit->hosts ? "open the ports between the hosts (any port; see "
                                   "XMPI_OFI_IFACE for the interface)"
                                 : "",
                    "a job of ranks that talk to each other failed: %s",
                    *words ? words : "it said nothing");
}

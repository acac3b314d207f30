/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpi doctor: the command.
 *
 *     machine_look -> machine_judge -> findings          this host, or each of -H through xmpirun
 *     doctor_talk: xmpirun ... xmpi doctor-rank -------^   a job that sends messages and compares them
 *
 * Other hosts are asked the way jobs are started, so what fails there is what would fail jobs, and
 * the words are xmpirun's.  Nothing is changed anywhere.
 */
#include "tools/doctor.h"

#include "tools/beside.h"
#include "tools/machine_facts.h"

#include <stdlib.h>
#include <string.h>

struct doctor_options {
    const char *hosts, *agent;
    bool json, lines, help;
};

static void usage(FILE *to)
{
    fputs("usage: xmpi doctor [-H HOST,...] [--launch-agent COMMAND] [--json]\n\n"
          "Examines what jobs depend on: shared memory, rights and limits, CPUs and their "
          "quota,\n"
          "the clock, libraries, networks, GPUs; then starts ranks that exchange messages and\n"
          "compares what arrives.  Each finding that is not good comes with what to do about "
          "it.\n\n"
          "  -H HOST,...             these hosts, each reached as xmpirun would, and the "
          "network\n"
          "                          between them; without it this host\n"
          "  --launch-agent COMMAND  as in xmpirun\n"
          "  --json                  one JSON object instead of text\n\n"
          "The exit code is 1 when something is bad: jobs on these hosts would fail.\n",
          to);
}

/* 0, or 2 after a message. */
static int options_read(int argc, char **argv, struct doctor_options *o)
{
    for (int i = 1; i < argc; i++) {
        const char **value = NULL;
        if (!strcmp(argv[i], "-H") || !strcmp(argv[i], "--host"))
            value = &o->hosts;
        else if (!strcmp(argv[i], "--launch-agent"))
            value = &o->agent;
        else if (!strcmp(argv[i], "--json"))
            o->json = true;
        else if (!strcmp(argv[i], "--lines")) /* for the doctor of another host */
            o->lines = true;
        else if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
            o->help = true;
        else
            return fprintf(stderr, "xmpi doctor: %s is not an option\n", argv[i]), 2;
        if (value && (i + 1 == argc || !*argv[i + 1]))
            return fprintf(stderr, "xmpi doctor: %s wants a value\n", argv[i]), 2;
        if (value)
            *value = argv[++i];
    }
    return 0;
}

static void examine(bool hosts, struct findings *findings)
{
    struct machine_facts facts = machine_look("");
    machine_judge(&facts, hosts, findings);
}

/* False: the doctor himself is not well. */
static bool examine_all(const struct doctor_options *o, struct findings *findings)
{
    char self[BESIDE_CHARS], launcher[BESIDE_CHARS];
    if (!beside_find("doctor", self, launcher))
        return false;
    struct visit visit = {
        .hosts = o->hosts, .agent = o->agent, .self = self, .launcher = launcher
    };
    bool reached = true;
    if (o->hosts)
        reached = doctor_visit(&visit, findings);
    else
        examine(false, findings);
    if (reached)
        doctor_talk(&visit, findings);
    return true;
}

int doctor_main(int argc, char **argv)
{
    struct doctor_options o = { 0 };
    struct findings findings = { 0 };
    int code = options_read(argc, argv, &o);
    if (code || o.help) {
        usage(code ? stderr : stdout);
        return code;
    }
    if (o.lines) {
        examine(true, &findings);
        findings_write_lines(&findings, stdout);
    } else if (examine_all(&o, &findings)) {
        findings_write(&findings, stdout, o.json);
        code = findings_count(&findings, FINDING_BAD) > 0;
    } else {
        code = 1;
    }
    findings_free(&findings);
    return code;
}

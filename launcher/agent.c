/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See agent.h.  The command is run by /bin/sh as one job of its own: agents and what they start on
 * this machine die with their process group, and with us: the guardian sees to that where we are killed.
 */
#define _GNU_SOURCE 1 /* pipe2, asprintf */
#include "launcher/agent.h"

#include "launcher/batch.h"
#include "launcher/calls.h"
#include "launcher/guard.h"
#include "launcher/out.h"
#include "launcher/proc.h"
#include "runtime/clock.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- the command ---- */

const char *agent_usual(void)
{
    const char *template = getenv("XMPI_LAUNCH_AGENT");
    if (template && *template)
        return template;
    template = batch_agent();
    return template ? template : AGENT_DEFAULT;
}

static bool is_word(const char *host)
{
    if (*host == '-' || !*host)
        return false;
    for (; *host; host++)
        if (!isalnum((unsigned char)*host) && !strchr("._:@%-", *host))
            return false;
    return true;
}

static const char *value_of(const char *place, const char *host, const char *cmd, size_t *bytes)
{
    static const char host_mark[] = "{host}", cmd_mark[] = "{cmd}";
    bool is_host = strncmp(place, host_mark, strlen(host_mark)) == 0;
    bool is_cmd = strncmp(place, cmd_mark, strlen(cmd_mark)) == 0;
    *bytes = is_host ? strlen(host_mark) : is_cmd ? strlen(cmd_mark) : 0;
    return is_host ? host : is_cmd ? cmd : NULL;
}

char *agent_command(const char *template, const char *host, const char *cmd)
{
    if (!is_word(host)) {
        complain("host \"%s\" is not a name that can be given to a launch agent", host);
        return NULL;
    }
    if (!strstr(template, "{cmd}")) {
        complain("launch agent `%s` has no {cmd} in it; as in `" AGENT_DEFAULT "`", template);
        return NULL;
    }
    char *text = NULL;
    size_t room, bytes;
    FILE *to = open_memstream(&text, &room);
    if (!to)
        abort();
    for (const char *p = template; *p;) {
        const char *value = value_of(p, host, cmd, &bytes);
        if (value)
            fputs(value, to);
        else
            fputc(*p, to);
        p += value ? bytes : 1;
    }
    if (fclose(to) != 0)
        abort();
    return text;
}

/* ---- its life ---- */

static struct {
    struct agent *list;
    int n;
    pid_t pid; /* of who has started them */
} ours;

/* A child that has not executed yet has our memory. */
static void end_with_us(int number)
{
    for (int i = 0; i < ours.n && getpid() == ours.pid; i++)
        if (ours.list[i].pid > 0)
            kill(-ours.list[i].pid, SIGKILL);
    if (getpid() == ours.pid && guard_pid() > 0) /* it would say that we were killed */
        kill(guard_pid(), SIGKILL);
    kill(getpid(), number); /* comes when we return, and ends us */
}

int agents_end_with_us(struct agent *list, int n)
{
    struct sigaction before, after = { .sa_handler = end_with_us, .sa_flags = SA_RESETHAND };
    ours.list = list;
    ours.n = n;
    ours.pid = getpid();
    for (int i = 0; i < CALLS; i++)
        if (sigaction(calls[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(calls[i], &after, NULL);
    return guard_agents(n); /* SIGKILL has no handler */
}

/* Its process group, as the guardian knows it; NULL: it knows none. */
static pid_t *group_of(const struct agent *agent)
{
    return ours.n ? guard_agent_group((int)(agent - ours.list)) : NULL;
}

/* Keep the end of what it says. */
static void remember(struct agent *agent, const char *text, size_t n)
{
    size_t room = sizeof agent->said - 1;
    if (n > room) {
        text += n - room;
        n = room;
    }
    size_t keep = agent->nsaid + n > room ? room - n : agent->nsaid;
    memmove(agent->said, agent->said + agent->nsaid - keep, keep);
    memcpy(agent->said + keep, text, n);
    agent->nsaid = keep + n;
    agent->said[agent->nsaid] = 0;
}

static void output_ready(struct watch *watch, uint32_t events)
{
    (void)events;
    struct agent *agent = watch->owner;
    char piece[4096];
    ssize_t n = read(watch->fd, piece, sizeof piece);
    if (n > 0) {
        remember(agent, piece, (size_t)n);
        return;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    loop_drop(watch);
    close(watch->fd);
    watch->fd = -1;
}

void agents_need_files(int n)
{
    proc_need_files(4 * n + 64); /* of each: two pipes, and its wire */
}

static int start(struct agent *agent, const char *command, int in, int out)
{
    char *argv[] = { "/bin/sh", "-c", (char *)command, NULL };
    struct proc proc = { .path = "/bin/sh",
                         .argv = argv,
                         .envp = environ,
                         .umask = -1,
                         .fds = { in, out, out },
                         .group = group_of(agent) };
    if (proc_start(&proc) != 0) {
        complain("cannot start the launch agent `%s`: %s", command, strerror(proc.error));
        return 1;
    }
    agent->pid = proc.pid;
    return 0;
}

int agent_start(struct agent *agent, const char *command, const char *line)
{
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0)
        goto failed;
    if (pipe2(out, O_CLOEXEC) != 0) {
        close(in[0]);
        close(in[1]);
        goto failed;
    }
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    agent->input = in[1];
    agent->output = (struct watch){ .fd = out[0], .ready = output_ready, .owner = agent };
    loop_add(&agent->output, EPOLLIN);
    ssize_t n = write(in[1], line, strlen(line)); /* a line fits into a pipe */
    int status = start(agent, command, in[0], out[1]);
    close(in[0]);
    close(out[1]);
    return n < 0 ? 1 : status;

failed:
    complain("cannot open a pipe for a launch agent: %s%s", strerror(errno),
             files_remedy(errno));
    return 1;
}

const char *agent_words(struct agent *agent)
{
    if (agent->output.fd >= 0 && agent->pid == 0)
        output_ready(&agent->output, EPOLLIN);
    while (agent->nsaid && isspace((unsigned char)agent->said[agent->nsaid - 1]))
        agent->said[--agent->nsaid] = 0;
    for (size_t i = 0; i < agent->nsaid; i++)
        if (iscntrl((unsigned char)agent->said[i]))
            agent->said[i] = ' ';
    return agent->said;
}

void agent_died(struct agent *agent, int status)
{
    pid_t *group = group_of(agent);
    if (group && kill(-agent->pid, 0) != 0)
        *group = 0; /* nobody is left in it; the number may be somebody else's soon */
    agent->pid = 0;
    agent->ended = true;
    agent->ended_ns = clock_ns();
    agent->status = status;
}

bool agent_ended_well(const struct agent *agent)
{
    return agent->ended && WIFEXITED(agent->status) && WEXITSTATUS(agent->status) == 0;
}

void agent_ending(const struct agent *agent, char *text, size_t room)
{
    if (WIFSIGNALED(agent->status))
        snprintf(text, room, "was killed by signal %d (%s)", WTERMSIG(agent->status),
                 strsignal(WTERMSIG(agent->status)));
    else
        snprintf(text, room, "exited with code %d", WEXITSTATUS(agent->status));
}

void agent_close(struct agent *agent)
{
    if (agent->input > 0)
        close(agent->input);
    agent->input = 0;
    if (agent->pid > 0) {
        kill(-agent->pid, SIGTERM);
        kill(-agent->pid, SIGKILL);
        waitpid(agent->pid, NULL, 0);
    }
    agent->pid = 0;
    if (group_of(agent))
        *group_of(agent) = 0;
    if (agent->output.owner && agent->output.fd >= 0) {
        loop_drop(&agent->output);
        close(agent->output.fd);
        agent->output.fd = -1;
    }
}

void agents_over(void)
{
    guard_close();
}

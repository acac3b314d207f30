/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See master.h.  The address is that of rank 0's host as we and the first of the other hosts see each
 * other: what is at the ends of the connection between us.  The port is one that nobody uses on this
 * machine, below those that systems give out by themselves.  One system call or two; a job whose
 * user has set both costs none.
 */
#include "launcher/master.h"

#include "launcher/environment.h"
#include "launcher/remote.h"
#include "runtime/bootseg.h"
#include "runtime/clock.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PORT_FIRST = 20000, PORTS = 12000, TRIES = 20 };

static bool is_automatic(const struct options *options)
{
    return options->master_port && strcmp(options->master_port, "auto") == 0;
}

/* ---- the address ---- */

static const char *end_of_wire(const struct wire *wire, bool far)
{
    static char text[NI_MAXHOST];
    struct sockaddr_storage address;
    socklen_t bytes = sizeof address;
    int failed = far ? getpeername(wire->watch.fd, (struct sockaddr *)&address, &bytes)
                     : getsockname(wire->watch.fd, (struct sockaddr *)&address, &bytes);
    if (failed || getnameinfo((struct sockaddr *)&address, bytes, text, sizeof text, NULL, 0,
                              NI_NUMERICHOST) != 0)
        return NULL;
    return strncmp(text, "::ffff:", 7) == 0 ? text + 7 : text;
}

static const struct wire *wire_to(const char *host)
{
    for (int i = 0; i < remotes.n; i++)
        if (remotes.list[i].wire && (!host || strcmp(remotes.list[i].name, host) == 0))
            return remotes.list[i].wire;
    return NULL;
}

/* Where rank 0 runs; the user's name for it, where it is two connections away. */
static const char *address_of(const struct plan *plan)
{
    if (!plan_is_spread(plan))
        return "127.0.0.1";
    const struct host *host = &plan->hosts[plan->ranks[0].host];
    const struct wire *wire = wire_to(host->is_local ? NULL : host->name);
    const char *text = wire ? end_of_wire(wire, !host->is_local) : NULL;
    return text ? text : host->name;
}

/* ---- the port ---- */

static bool port_is_free(int port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    bool good = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
    if (fd >= 0)
        close(fd);
    return good;
}

static int some_port(void)
{
    uint64_t seed = clock_ns() ^ (uint64_t)getpid() << 20;
    int port = 0;
    for (int i = 0; i < TRIES; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        port = PORT_FIRST + (int)((seed >> 33) % PORTS);
        if (port_is_free(port))
            break;
    }
    return port;
}

void master_decide(const struct options *options, const struct plan *plan)
{
    /* Inside a rank of another job the variables are that job's. */
    bool ours = is_automatic(options) || getenv(BOOT_JOB_ENV);
    char port[16];
    if (!options->master_port || is_automatic(options)) {
        if (ours || !getenv("MASTER_PORT")) {
            snprintf(port, sizeof port, "%d", some_port());
            setenv("MASTER_PORT", port, 1);
        }
    }
    if (!options->master_addr && (ours || !getenv("MASTER_ADDR")))
        setenv("MASTER_ADDR", address_of(plan), 1);
}

void master_variables(const struct options *options, struct strings *list)
{
    const char *port = is_automatic(options) ? getenv("MASTER_PORT") : options->master_port;
    const char *address = options->master_addr;
    if (!address && is_automatic(options))
        address = getenv("MASTER_ADDR");
    if (address)
        strings_add(list, environment_text("MASTER_ADDR", address));
    if (port)
        strings_add(list, environment_text("MASTER_PORT", port));
}

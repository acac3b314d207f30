/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpid --root ADDRESS:PORT,... --host N: started by xmpirun's launch agent on each further host of a
 * job.  The secret comes on stdin, as 32 hexadecimal digits and a newline.
 */
#include "config.h"
#include "launcher/out.h"
#include "launcher/uplink.h"
#include "launcher/siphash.h"
#include "runtime/standard.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECRET_SECONDS = 60 };

static const char use[] = "xmpid is started by xmpirun on other hosts, not by hand: xmpid "
                          "--root ADDRESS:PORT,... --host N";

static int usage(void)
{
    complain("%s", use);
    return 2;
}

/* --help and --version, for who wonders what it is.  False: neither was asked for. */
static bool tell(const char *option, int *code)
{
    bool help = !strcmp(option, "--help") || !strcmp(option, "-h");
    if (!help && strcmp(option, "--version") != 0 && strcmp(option, "-V") != 0)
        return false;
    standard_open();
    if (help)
        puts(use);
    else
        printf("xmpid (xmpi) %s\n", PACKAGE_VERSION);
    *code = standard_close("xmpid", 0);
    return true;
}

static int digit(char c)
{
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* One byte at a time: what follows the line is not ours to take. */
static bool read_secret(uint8_t *secret)
{
    char line[2 * KEY_BYTES + 1];
    for (size_t i = 0; i < sizeof line; i++)
        if (poll(&(struct pollfd){ .fd = 0, .events = POLLIN }, 1, SECRET_SECONDS * 1000) !=
                1 ||
            read(0, &line[i], 1) != 1)
            return false;
    for (int i = 0; i < KEY_BYTES; i++) {
        int high = digit(line[2 * i]), low = digit(line[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        secret[i] = (uint8_t)(high << 4 | low);
    }
    return line[2 * KEY_BYTES] == '\n';
}

int main(int argc, char **argv)
{
    const char *root = NULL, *host = NULL;
    uint8_t secret[KEY_BYTES];
    int code;
    if (argc == 2 && tell(argv[1], &code))
        return code;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--root") == 0)
            root = argv[i + 1];
        if (strcmp(argv[i], "--host") == 0)
            host = argv[i + 1];
    }
    if (argc != 5 || !root || !host)
        return usage();
    if (!read_secret(secret)) {
        complain("xmpid got no secret on its stdin; does the launch agent pass its stdin on?");
        return 1;
    }
    struct call call = { .addresses = root, .number = atoi(host), .secret = secret };
    return uplink_run(&call);
}

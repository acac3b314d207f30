/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Host files.  Both customs are read, and ranges in either:
 *
 *     name:2                       hydra
 *     name slots=2 max_slots=4     Open MPI; also cpu=2, count=2 and np=2
 *     n[01-16]:8                   sixteen hosts
 *     name user=joe                joe@name; also username= and user_name=
 *
 * # starts a comment.  What else hydra knows (binding=, ifname=) is not for us and is said to be so;
 * a word that nobody knows is an error, with file and line.  Max_slots is how many ranks a
 * host takes at most, even when ranks exceed slots everywhere.
 */
#define _GNU_SOURCE 1 /* asprintf */
#include "launcher/hosts.h"
#include "launcher/out.h"
#include "launcher/ranges.h"
#include "runtime/printable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t\r\n";

static const struct {
    const char *name;
    bool is_most;
} keys[] = {
    { "slots=", false }, { "cpu=", false },      { "cpus=", false },     { "count=", false },
    { "np=", false },    { "max_slots=", true }, { "max-slots=", true },
};
static const char *const user_keys[] = { "user=", "username=", "user_name=", "user-name=" };
static const char expected[] =
    ": expected slots=N, max_slots=N or user=NAME after the name of a host";
static const char *const foreign[] = { "binding=", "ifname=" };

static bool begins(const char *word, const char *name)
{
    return strncmp(word, name, strlen(name)) == 0;
}

static int read_number(const char *word, const char *where, int *number)
{
    char *end;
    const char *value = strchr(word, '=') + 1;
    long n = strtol(value, &end, 10);
    if (*end || end == value || n < 1 || n > RANGES_MOST) {
        complain("%s%s: expected a number from 1 to %d", where, word, RANGES_MOST);
        return EXIT_USAGE;
    }
    *number = (int)n;
    return 0;
}

/* False after a message: a terminal would not show the word, so nobody has written it. */
static bool is_shown(const char *word, const char *where, const char *expected)
{
    size_t room = 4 * strlen(word) + 5;
    char *shown = malloc(room);
    if (!shown)
        abort();
    bool same = strcmp(printable(shown, room, word), word) == 0;
    if (!same)
        complain("%s%s%s", where, shown, expected);
    free(shown);
    return same;
}

static int read_word(const char *word, const char *where, struct host_words *words,
                     const char **user)
{
    if (!is_shown(word, where, expected))
        return EXIT_USAGE;
    for (size_t i = 0; i < sizeof user_keys / sizeof user_keys[0]; i++)
        if (begins(word, user_keys[i]) && word[strlen(user_keys[i])]) {
            *user = word + strlen(user_keys[i]);
            return 0;
        }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (begins(word, keys[i].name))
            return read_number(word, where,
                               keys[i].is_most ? &words->max_slots : &words->slots);
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        if (begins(word, foreign[i])) {
            notice("%s%s is ignored", where, word);
            return 0;
        }
    complain("%s%s%s", where, word, expected);
    return EXIT_USAGE;
}

static int add_host(struct host_list *list, const char *name, const char *user,
                    struct host_words words, const char *where)
{
    char *whole = NULL;
    if (user && asprintf(&whole, "%s@%s", user, name) < 0)
        abort();
    int status = hosts_add(list, user ? whole : name, words, where);
    free(whole);
    return status;
}

/* A line without its comment. */
static int read_host(struct host_list *list, char *line, int each, const char *where)
{
    char *save, *name = strtok_r(line, blanks, &save);
    const char *user = NULL;
    struct host_words words = { 0 };
    int status = 0;
    if (!name)
        return 0;
    if (!is_shown(name, where, " is no name of a host"))
        return EXIT_USAGE;
    for (char *word; !status && (word = strtok_r(NULL, blanks, &save));)
        status = read_word(word, where, &words, &user);
    if (!status && words.max_slots && words.max_slots < words.slots) {
        complain("%smax_slots=%d is less than slots=%d", where, words.max_slots, words.slots);
        status = EXIT_USAGE;
    }
    if (!status && user && strchr(name, '@')) {
        complain("%s%s and user=%s: which user?", where, name, user);
        status = EXIT_USAGE;
    }
    if (!words.slots && !strchr(name, ':'))
        words.slots = each;
    return status ? status : add_host(list, name, user, words, where);
}

static int read_line(struct host_list *list, char *line, size_t bytes, int each,
                     const char *where)
{
    if (strlen(line) < bytes) {
        complain("%sit has a zero byte, so it is no text", where);
        return EXIT_USAGE;
    }
    line[strcspn(line, "#\n")] = 0;
    return read_host(list, line, each, where);
}

int hostfile_read(struct host_list *list, const char *path, int each)
{
    FILE *file = fopen(path, "re");
    if (!file) {
        complain("cannot read the host file %s: %s", path, strerror(errno));
        return EXIT_USAGE;
    }
    char *line = NULL, where[300];
    size_t room = 0;
    int status = 0;
    ssize_t n;
    for (int number = 1; !status && (n = getline(&line, &room, file)) >= 0; number++) {
        size_t mark = number == 1 ? text_mark(line) : 0;
        snprintf(where, sizeof where, "%s:%d: ", path, number);
        status = read_line(list, line + mark, (size_t)n - mark, each, where);
    }
    if (!status && ferror(file)) {
        complain("cannot read the host file %s: %s", path, strerror(errno));
        status = EXIT_USAGE;
    }
    free(line);
    fclose(file);
    if (!status && !list->n) {
        complain("the host file %s names no host", path);
        status = EXIT_USAGE;
    }
    return status;
}

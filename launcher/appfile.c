/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files of programs (-configfile, --app): each line is one section of the command line, as
 * between two colons.  # starts a comment, quotes and backslash work as in a shell, a line that
 * ends in a backslash goes on.
 */
#define _GNU_SOURCE 1
#include "launcher/cli.h"

#include "launcher/out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Copy the next word of *text to `word` and advance; false at the end of the line.  *open: a quote that is not
 * closed, or 0. */
static bool next_word(const char **text, char *word, char *open)
{
    const char *p = *text + strspn(*text, " \t\r\n");
    if (!*p || *p == '#')
        return false;
    char quote = 0;
    for (; *p && (quote || !strchr(" \t\r\n", *p)); p++) {
        if (quote ? *p == quote : *p == '"' || *p == '\'')
            quote = quote ? 0 : *p;
        else if (*p == '\\' && quote != '\'' && p[1])
            *word++ = *++p;
        else
            *word++ = *p;
    }
    *word = 0;
    *text = p;
    *open = quote;
    return true;
}

/* A section that ends in this line of the file. */
static int add_section(const char *line, const char *path, int number, struct strings *words)
{
    char open = 0;
    char *word = malloc(strlen(line) + 1);
    if (!word)
        abort();
    bool first = true;
    while (next_word(&line, word, &open)) {
        if (first && words->n)
            strings_add(words, strdup(":"));
        first = false;
        strings_add(words, strdup(word));
    }
    free(word);
    if (open)
        complain("%s:%d: there is no second %c: a section that goes on needs a backslash at "
                 "the end of its line",
                 path, number, open);
    return open ? EXIT_USAGE : 0;
}

/* Does the line end in a backslash?  Then remove it. */
static bool goes_on(char *line)
{
    size_t bytes = strcspn(line, "\n");
    if (!bytes || line[bytes - 1] != '\\')
        return false;
    strcpy(line + bytes - 1, " ");
    return true;
}

int appfile_read(const char *path, struct strings *words)
{
    FILE *file = fopen(path, "re");
    if (!file) {
        complain("cannot read %s: %s", path, strerror(errno));
        return EXIT_USAGE;
    }
    char *line = NULL, *whole = NULL;
    size_t room = 0;
    int status = 0, number = 0;
    while (!status && getline(&line, &room, file) >= 0) {
        number++;
        bool more = goes_on(line);
        char *longer;
        if (asprintf(&longer, "%s%s", whole ? whole : "", line) < 0)
            abort();
        free(whole);
        whole = longer;
        if (more)
            continue;
        status = add_section(whole, path, number, words);
        free(whole);
        whole = NULL;
    }
    if (ferror(file)) {
        complain("cannot read %s: %s", path, strerror(errno));
        status = EXIT_USAGE;
    }
    if (whole && !status)
        status = add_section(whole, path, number, words);
    free(whole);
    free(line);
    fclose(file);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * "there is no collective allredce (did you mean allreduce?); there are: barrier bcast ..."
 */
#include "tools/names.h"

#include "coll/own.h"
#include "coll/rules.h"
#include "runtime/typo.h"

#include <stdio.h>
#include <string.h>

struct search {
    const char *typed;  /* the word that is compared, */
    const char *before; /* and what stands before each name */
    int least;          /* what is as far from it is not meant */
    char nearest[80], list[2000];
};

static struct search search_for(const char *typed, const char *before)
{
    return (
        struct search){ .typed = typed, .before = before, .least = 2 + (int)strlen(typed) / 3 };
}

static void search_name(struct search *s, const char *name)
{
    size_t used = strlen(s->list);
    int distance = typo_distance(s->typed, strlen(s->typed), name);
    snprintf(s->list + used, sizeof s->list - used, " %s%s", s->before, name);
    if (distance >= s->least)
        return;
    s->least = distance;
    snprintf(s->nearest, sizeof s->nearest, " (did you mean %s%s?)", s->before, name);
}

static const char *search_text(const struct search *s, const char *kind)
{
    static char text[2500];
    snprintf(text, sizeof text, "there is no %s %s%s%s; there are:%s", kind, s->before,
             s->typed, s->nearest, s->list);
    return text;
}

const char *names_no_collective(const char *typed)
{
    struct search s = search_for(typed, "");
    for (int what = 0; what < COLL_KINDS; what++)
        search_name(&s, collective_name((enum collective)what));
    return search_text(&s, "collective");
}

const char *names_no_algorithm(enum collective what, const char *typed)
{
    char before[64];
    snprintf(before, sizeof before, "%s:", collective_name(what));
    struct search s = search_for(typed, before);
    const struct algorithm *own;
    for (const struct algorithm *a = algorithms; a->name; a++)
        if (a->what == what)
            search_name(&s, a->name);
    for (int i = 0; (own = own_each(i)); i++)
        if (own->what == what)
            search_name(&s, own->name);
    return search_text(&s, "algorithm");
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See wish.h.
 */
#include "launcher/wish.h"

#include "launcher/pack.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void wish_pack(const struct wish *wish, struct pack *pack)
{
    pack_number(pack, wish->number);
    pack_number(pack, wish->beside);
    pack_number(pack, wish->pty);
    pack_number(pack, wish->own_hosts);
    pack_texts(pack, wish->busy.text);
    pack_number(pack, wish->serves);
    pack_text(pack, wish->family);
    pack_text(pack, wish->parent);
    pack_number(pack, wish->parent_rank);
    pack_texts(pack, wish->options.text);
    pack_number(pack, wish->napps);
    for (int i = 0; i < wish->napps; i++) {
        const struct app *app = &wish->apps[i];
        pack_number(pack, app->np);
        pack_text(pack, app->wdir);
        pack_texts(pack, app->argv);
        pack_texts(pack, app->env.set.text);
        pack_texts(pack, app->env.unset.text);
    }
}

static struct strings take_strings(struct unpack *from)
{
    struct strings list = { 0 };
    list.text = unpack_texts(from, &list.n);
    return list;
}

static void take_app(struct unpack *from, struct app *app)
{
    *app = (struct app){ .np = unpack_int(from, 1, INT_MAX), .umask = -1 };
    const char *wdir = unpack_text(from);
    app->wdir = *wdir ? wdir : NULL;
    app->argv = take_strings(from).text;
    app->env.set = take_strings(from);
    app->env.unset = take_strings(from);
}

bool wish_take(struct unpack *from, struct wish *wish)
{
    wish->number = unpack_int(from, 2, INT_MAX);
    wish->beside = unpack_int(from, 0, INT_MAX);
    wish->pty = unpack_int(from, 0, 1);
    wish->own_hosts = unpack_int(from, 0, 1);
    wish->busy = take_strings(from);
    wish->serves = unpack_int(from, 0, 1);
    wish->family = unpack_text(from);
    wish->parent = unpack_text(from);
    wish->parent_rank = unpack_int(from, 0, INT_MAX);
    wish->options = take_strings(from);
    wish->napps = unpack_int(from, 1, INT_MAX);
    from->bad |= wish->napps > from->end - from->at; /* each has a byte or more */
    if (from->bad)
        wish->napps = 0;
    wish->apps = calloc((size_t)wish->napps + 1, sizeof *wish->apps);
    if (!wish->apps)
        abort();
    for (int i = 0; i < wish->napps && !from->bad; i++)
        take_app(from, &wish->apps[i]);
    return !from->bad;
}

int wish_taken(const struct wish *wish, const char *host)
{
    int taken = host ? 0 : wish->beside;
    for (int i = 0; host && i < wish->busy.n; i++) {
        char *name;
        long ranks = strtol(wish->busy.text[i], &name, 10);
        if (*name == ' ' && strcmp(name + 1, host) == 0)
            taken += (int)ranks;
    }
    return taken;
}

void wish_name(const struct wish *wish, char *name, size_t room)
{
    snprintf(name, room, "%s.%d", wish->family, wish->number);
}

void wish_free(struct wish *wish)
{
    for (int i = 0; i < wish->napps; i++) {
        free(wish->apps[i].argv);
        free(wish->apps[i].env.set.text);
        free(wish->apps[i].env.unset.text);
    }
    free(wish->apps);
    free(wish->options.text);
    for (int i = 0; i < wish->busy.n; i++)
        free(wish->busy.text[i]);
    free(wish->busy.text);
    *wish = (struct wish){ 0 };
}
